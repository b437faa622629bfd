import type { ImportedBody, SuppressedBody, SuppressionBody, UnsuppressedBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, shortTime } from '../output.ts';
import { answer, command, pageText } from './api-command.ts';
import { answerNamed } from './person-names.ts';
import { exportFile, importFile, importWords, tellOnTerminal } from './csv-files.ts';

type Filters = { readonly channel?: string; readonly address?: string; readonly source?: string };
type ListOptions = CommonOptions & Filters & { readonly limit: string; readonly cursor?: string };

const SOURCES = 'hard_bounce, complaint, stop, dead_token, operator or import';

const withFilters = (one: Command): Command =>
  one
    .option('--channel <channel>', 'email, sms or push')
    .option('--address <address>', 'only this address (case does not matter)')
    .option('--source <source>', SOURCES);

/**
 * Returns the channel of an address if the user named none: an email address has an at sign, a phone number begins with
 * a plus. Device tokens must be named, because any text may be one, even a phone number without its plus.
 */
function channelFor(address: string, channel: string | undefined): string {
  if (channel !== undefined) return channel;
  if (address.includes('@')) return 'email';
  if (/^\s*\+/.test(address)) return 'sms';
  throw new UsageError(
    'this is not an email address, and a phone number begins with + and the country code. For a device token, pass --channel push',
  );
}

const whoAndWhy = ({ source, by, detail }: SuppressionBody): string =>
  [source, ...(by === null ? [] : [`by ${clean(by)}`]), ...(detail === '' ? [] : [clean(detail)])].join(', ');

export function suppressionCommands(program: Command): void {
  const suppressions = program
    .command('suppressions')
    .description('addresses that get no messages: list, add, remove, import, export');
  listCommand(suppressions);
  addCommand(suppressions);
  removeCommand(suppressions);
  fileCommands(suppressions);
}

function listCommand(suppressions: Command): void {
  withFilters(command(suppressions, 'list', 'list suppressed addresses, one line per source'))
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (options: ListOptions) => {
      let isWide = false;
      await answerNamed(
        options,
        async (client) => {
          isWide = await client.isWide();
          const { channel, address, source, limit, cursor } = options;
          const wanted = { channel, address, source, limit, cursor };
          return client.get<Page<SuppressionBody>>(`/v1/workspaces/${seg(client.reach)}/suppressions`, wanted);
        },
        (page) =>
          pageText(
            page,
            'no suppressed addresses',
            (one) => [
              shortTime(one.at),
              ...(isWide ? [one.workspace] : []),
              one.channel,
              one.address,
              one.source,
              one.by ?? '',
              one.detail,
            ],
            ['since', ...(isWide ? ['workspace'] : []), 'channel', 'address', 'source', 'by', 'detail'],
          ),
      );
    });
}

function addCommand(suppressions: Command): void {
  command(suppressions, 'add <address>', 'suppress an address: it gets no more messages')
    .option('--channel <channel>', 'email, sms or push (default: guessed from the address)')
    .option('--detail <words>', 'reason, as people read it')
    .action(async (address: string, options: CommonOptions & { channel?: string; detail?: string }) => {
      const body = { channel: channelFor(address, options.channel), address, detail: options.detail };
      await answer(
        options,
        async (client) =>
          client.post<SuppressedBody>(`/v1/workspaces/${seg(await client.workspace())}/suppressions`, body),
        ({ added, items }) =>
          `${clean(address)} ${added ? 'gets nothing more' : 'got nothing before'}: ${items.map(whoAndWhy).join('; ')}`,
      );
    });
}

function removeCommand(suppressions: Command): void {
  command(suppressions, 'remove <address>', 'remove the suppression of an address')
    .option('--channel <channel>', 'email, sms or push (default: guessed from the address)')
    .option('--source <source>', `remove only the entry of this source: ${SOURCES}`)
    .action(async (address: string, options: CommonOptions & { channel?: string; source?: string }) => {
      const body = { channel: channelFor(address, options.channel), address, source: options.source };
      await answer(
        options,
        async (client) =>
          client.post<UnsuppressedBody>(`/v1/workspaces/${seg(await client.workspace())}/suppressions/remove`, body),
        ({ still }) =>
          still.length === 0
            ? `${clean(address)} may be sent to again`
            : `${clean(address)} still gets nothing: ${still.map(whoAndWhy).join('; ')}`,
      );
    });
}

function fileCommands(suppressions: Command): void {
  command(suppressions, 'import <file>', 'suppress the addresses of a CSV file (- for standard input)')
    .option('--channel <channel>', 'channel of rows without one (default: guessed from the address)')
    .action(async (file: string, options: CommonOptions & { channel?: string }) => {
      await answer(
        options,
        async (client) => {
          const path = `/v1/workspaces/${seg(await client.workspace())}/suppressions/import`;
          const told = tellOnTerminal(file, options.json);
          const send = (csv: string, firstLine: number): Promise<ImportedBody> =>
            client.postCsv(path, csv, { channel: options.channel, first_line: firstLine });
          return importFile(file, send, told).finally(() => told.done());
        },
        importWords,
      );
    });
  withFilters(
    command(suppressions, 'export <file>', 'write the list to a new CSV file (- for standard output)'),
  ).action(async (file: string, options: CommonOptions & Filters) => {
    await answer(
      options,
      async (client) => {
        const { channel, address, source } = options;
        const path = `/v1/workspaces/${seg(client.reach)}/suppressions/export`;
        return exportFile(file, () => client.download(path, { channel, address, source }), options.json);
      },
      () => (file === '-' ? undefined : `wrote ${file}`),
    );
  });
}
