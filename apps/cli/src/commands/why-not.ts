import type { RunBody, WhyNotBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type Client, type CommonOptions } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, paint, say, sayJson, shortTime } from '../output.ts';
import { runnable } from '../runnable.ts';
import { command } from './api-command.ts';
import { isUnderWay, waitForRun } from './follow-run.ts';
import { runText } from './replay-text.ts';

type Options = CommonOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly last?: string;
  readonly event?: string;
  readonly cursor?: string;
  readonly drafts?: boolean;
  /** True starts a search; a text is the id of a search that is done. */
  readonly search?: boolean | string;
};

const MARKS: Readonly<Record<WhyNotBody['gates'][number]['result'], string>> = {
  passed: '✓',
  stopped: '✕',
  waiting: '…',
  in_doubt: '?',
  not_reached: '–',
  unknown: '–',
};

export function whyNotCommands(program: Command): void {
  command(
    program,
    'why-not <who> <notification>',
    'show why a person did not get a notification: the checks between event and message, in order',
  )
    .option('--from <time>', 'events received at or after this time: 2h, today, a date or a time')
    .option('--to <time>', 'events received before this time')
    .option('--last <span>', 'instead of --from and --to: a span such as 7d (default: 24h)')
    .option('--event <id>', 'only this event')
    .option('--drafts', 'also show the result of each event with the drafts of the workspace')
    .option(
      '--search [run]',
      'first search the whole log, or the time range, for the person; with the id of a search, reuse its result',
    )
    .option('--cursor <cursor>', 'look further back: the cursor that the previous answer printed')
    .action(async (who: string, notification: string, options: Options) => {
      const { from, to, last, event, cursor, drafts, search } = options;
      const span = { from, to, last };
      if (search && event !== undefined) throw new UsageError('pass --event or --search, not both');
      if (typeof search === 'string' && (from ?? to ?? last) !== undefined)
        throw new UsageError(`${search} has a time range of its own: leave out --from, --to and --last`);
      const client = connect(options);
      const workspace = `/v1/workspaces/${seg(await client.workspace())}`;
      const question = { who, notification, event, cursor, drafts };
      if (search === undefined || search === false) {
        const body = await client.post<WhyNotBody>(`${workspace}/why-not`, { ...question, ...span });
        return print(body, options);
      }
      const run =
        typeof search === 'string' ? search : await searchFor(client, workspace, { text: who, ...span }, options);
      if (run === null) return;
      print(await client.post<WhyNotBody>(`${workspace}/why-not`, { ...question, search: run }), options, run);
    });
}

function print(body: WhyNotBody, options: CommonOptions, run?: string): void {
  if (options.json) sayJson(body);
  else say(runnable(showWhyNot(body, run), options));
}

/** Searches the log for a text and resolves to the id of the search. Null if it ended without a result, and the output says why. */
async function searchFor(
  client: Client,
  workspace: string,
  asked: { readonly text: string } & { readonly [Name in 'from' | 'last' | 'to']: string | undefined },
  options: CommonOptions,
): Promise<string | null> {
  const started = await client.post<RunBody>(`${workspace}/runs`, { kind: 'find', ...asked });
  const run = await waitForRun(client, started, options);
  if (run.state === 'done') return run.id;
  if (options.json) sayJson(run);
  else say(runnable(runText(run), options));
  if (isUnderWay(run)) say(runnable(`it goes on: npx carillon replay show ${run.id} --follow`, options));
  else process.exitCode = 1;
  return null;
}

function showWhyNot(body: WhyNotBody, run?: string): string {
  const { sentence, gates, others, looked, next } = body;
  const lines = gates
    .filter(({ result }) => result !== 'not_reached')
    .flatMap((one) => {
      const ids = one.evidence.map(({ id }) => id).join(' ');
      const words = one.text === '' ? '' : `: ${clean(one.text)}`;
      const head = `${MARKS[one.result]} ${one.title}${words}${ids === '' ? '' : `  ${paint('dim', ids)}`}`;
      const isBold = one.result === 'stopped' || one.result === 'in_doubt';
      return [isBold ? paint('bold', head) : head, ...one.lines.map((line) => `    ${clean(line)}`)];
    });
  const more = others.flatMap((one) => [
    `${shortTime(one.at)}  ${one.verdict.replaceAll('_', ' ')}  ${clean(one.text)}  ${paint('dim', one.event)}`,
    ...draftLines(one).map((line) => `    ${line}`),
  ]);
  const seen = `${looked.events} events read, ${looked.judged_again} evaluated again, ${looked.deliveries} deliveries found in the ledger`;
  return [
    paint('bold', clean(sentence)),
    '',
    ...lines,
    ...draftLines(body),
    ...(more.length === 0 ? [] : ['', 'Other events about this person:', ...more]),
    '',
    paint('dim', seen),
    ...notKeptLines(body),
    ...leftOutLines(body),
    ...(next === null
      ? []
      : [
          paint(
            'dim',
            `there are older events in the span: ${run === undefined ? '' : `--search ${run} `}--cursor ${next}`,
          ),
        ]),
  ].join('\n');
}

const draftLines = ({ with_drafts: outcome }: Pick<WhyNotBody, 'with_drafts'>): readonly string[] =>
  outcome ? [paint('bold', `with the drafts: ${clean(outcome.words)}`)] : [];

function notKeptLines({ looked: { not_kept: count, since }, next }: Pick<WhyNotBody, 'looked' | 'next'>): string[] {
  if (count === 0 || next !== null) return [];
  const fix = since === null ? '' : `: --search --to ${since}`;
  return [paint('dim', `${count} older events also contain the text, but the search did not store them${fix}`)];
}

function leftOutLines({ drafts_left_out: drafts }: Pick<WhyNotBody, 'drafts_left_out'>): readonly string[] {
  if (drafts.length === 0) return [];
  const names = drafts.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  return [paint('dim', `drafts of other people that have mistakes are left out: ${clean(names)}`)];
}
