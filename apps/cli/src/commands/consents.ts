import type { ConsentBody, ImportedBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, shortTime, table } from '../output.ts';
import { answer, command, pageText } from './api-command.ts';
import { answerNamed } from './person-names.ts';
import { exportFile, importFile, importWords, tellOnTerminal } from './csv-files.ts';

type Word = ConsentBody['words'][number];

const targetWords = ({ target, name, notification_id: id }: Word): string => {
  if (target === 'all') return 'everything';
  return `${target} ${clean(name ?? id ?? '')}`;
};

const wordRow = (word: Word): readonly string[] => [
  shortTime(word.at),
  word.opted_out ? 'stopped' : 'allowed',
  targetWords(word),
  word.channel ?? 'all channels',
  word.by === null ? word.way : `${word.way}, by ${clean(word.by)}`,
];
const WORD_HEAD = ['since', '', 'what', 'on', 'how'];

/** Lists all choices of a person, and the notifications they get regardless. */
function personText({ person, words, exempt }: ConsentBody): string {
  const said =
    words.length === 0
      ? `${clean(person)} has made no choices and gets everything`
      : `${clean(person)}\n${table(words.map(wordRow), WORD_HEAD)}`;
  const stopped = words.some((word) => word.opted_out);
  return stopped && exempt.length > 0 ? `${said}\nstill sent, because transactional: ${exempt.join(', ')}` : said;
}

/** Lists the opt-outs that `--allow --all` leaves in place, because the person stopped these targets by name. */
export function leftText(words: readonly Word[]): string {
  const left = [...new Set(words.filter((word) => word.opted_out && word.target !== 'all').map(targetWords))];
  if (left.length === 0) return '';
  return `\nstill stopped by name: ${left.join(', ')}; allow each with --allow --category or --notification`;
}

export function consentCommands(program: Command): void {
  const consents = program.command('consents').description('opt-outs of people: list, show, set, import, export');
  listCommand(consents);
  showCommand(consents);
  setCommand(consents);
  fileCommands(consents);
}

function listCommand(consents: Command): void {
  command(consents, 'list', 'list people with opt-outs, newest first')
    .option('--limit <n>', 'maximum number of people', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (options: CommonOptions & { limit: string; cursor?: string }) => {
      let isWide = false;
      await answerNamed(
        options,
        async (client) => {
          isWide = await client.isWide();
          const { limit, cursor } = options;
          return client.get<Page<ConsentBody>>(`/v1/workspaces/${seg(client.reach)}/consents`, { limit, cursor });
        },
        ({ items, next }) =>
          pageText(
            {
              items: items.flatMap((one) =>
                one.words.map((word) => [...(isWide ? [one.workspace] : []), one.person, ...wordRow(word)]),
              ),
              next,
            },
            'no choices yet',
            (row) => row,
            [...(isWide ? ['workspace'] : []), 'person', ...WORD_HEAD],
          ),
      );
    });
}

function showCommand(consents: Command): void {
  command(consents, 'show <person>', 'show the choices of one person, named by id or address').action(
    async (person: string, options: CommonOptions) => {
      await answerNamed(
        options,
        async (client) =>
          client.get<ConsentBody>(`/v1/workspaces/${seg(await client.workspace())}/consents/person`, { person }),
        personText,
      );
    },
  );
}

type SetOptions = CommonOptions & {
  readonly all?: boolean;
  readonly category?: string;
  readonly notification?: string;
  readonly channel?: string;
  readonly stop?: boolean;
  readonly allow?: boolean;
};

function targetOf({ all, category, notification }: SetOptions): { readonly target: string; readonly name?: string } {
  const chosen = [
    ...(all === true ? [{ target: 'all' }] : []),
    ...(category === undefined ? [] : [{ target: 'category', name: category }]),
    ...(notification === undefined ? [] : [{ target: 'notification', name: notification }]),
  ];
  const [target] = chosen;
  if (target && chosen.length === 1) return target;
  throw new UsageError('name what the choice is about: --all, --category NAME or --notification NAME');
}

function setCommand(consents: Command): void {
  command(consents, 'set <person>', 'record an opt-out or opt-in of a person, named by id or address')
    .option('--stop', 'the person opts out')
    .option('--allow', 'the person opts in again')
    .option('--all', 'all notifications that people can opt out of')
    .option('--category <name>', 'all notifications of this category')
    .option('--notification <name>', 'one notification')
    .option('--channel <channel>', 'email, sms or push (default: all three)')
    .action(async (person: string, options: SetOptions) => {
      if ((options.stop === true) === (options.allow === true)) throw new UsageError('pass --stop or --allow');
      const body = {
        person,
        ...targetOf(options),
        opted_out: options.stop === true,
        ...(options.channel !== undefined && { channel: options.channel }),
      };
      await answer(
        options,
        async (client) => client.post<ConsentBody>(`/v1/workspaces/${seg(await client.workspace())}/consents`, body),
        (now) => personText(now) + (options.allow === true && options.all === true ? leftText(now.words) : ''),
      );
    });
}

function fileCommands(consents: Command): void {
  command(consents, 'import <file>', 'import opt-outs from a CSV file (- for standard input)')
    .option('--channel <channel>', 'channel of rows without one (default: all three)')
    .option('--category <name>', 'category of rows without a target (default: all notifications)')
    .action(async (file: string, options: CommonOptions & { channel?: string; category?: string }) => {
      await answer(
        options,
        async (client) => {
          const path = `/v1/workspaces/${seg(await client.workspace())}/consents/import`;
          const { channel, category } = options;
          const told = tellOnTerminal(file, options.json);
          const send = (csv: string, firstLine: number): Promise<ImportedBody> =>
            client.postCsv(path, csv, { channel, category, first_line: firstLine });
          return importFile(file, send, told).finally(() => told.done());
        },
        importWords,
      );
    });
  command(consents, 'export <file>', 'write all choices to a new CSV file (- for standard output)').action(
    async (file: string, options: CommonOptions) => {
      await answer(
        options,
        async (client) => {
          const path = `/v1/workspaces/${seg(client.reach)}/consents/export`;
          return exportFile(file, () => client.download(path), options.json);
        },
        () => (file === '-' ? undefined : `wrote ${file}`),
      );
    },
  );
}
