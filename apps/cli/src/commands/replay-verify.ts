import type { RunBody, RunFindingBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type Client, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { say, sayJson } from '../output.ts';
import { runnable } from '../runnable.ts';
import { answer, command, pageText } from './api-command.ts';
import { findingsOf, followRun } from './follow-run.ts';

type RangeOptions = {
  readonly last?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};
type VerifyOptions = CommonOptions & RangeOptions & { /** `--no-wait` */ readonly wait?: boolean };
type PathOf = (client: Client) => Promise<string>;

/** Findings that are printed below the result. */
const FIRST_FINDINGS = '20';

/** Adds the options of a time range. */
export const rangeOptions = (added: Command): Command =>
  added
    .option('--last <span>', 'events of the last 7d, for example (default: 30d)')
    .option('--from <time>', 'instead of --last: events received at or after this date or time')
    .option('--to <time>', 'with --from: events received before this date or time');

/** The time range of a request. Throws if options contradict each other. */
export function rangeRequestOf({ last, from, to }: RangeOptions): RangeOptions {
  if (last !== undefined && (from !== undefined || to !== undefined)) {
    throw new UsageError('name the time range with --last, or with --from and --to, not both');
  }
  if ((from === undefined) !== (to === undefined)) throw new UsageError('pass --from and --to together');
  if (last !== undefined) return { last };
  return from !== undefined && to !== undefined ? { from, to } : {};
}

/** `carillon replay verify`. */
export function verifyCommand(replay: Command, pathOf: PathOf): void {
  rangeOptions(
    command(replay, 'verify', 'evaluate past events again and compare the results with the log; sends nothing'),
  )
    .option('--no-wait', 'do not wait for the result')
    .action(async ({ wait, ...options }: VerifyOptions) => {
      const request = { kind: 'verify', ...rangeRequestOf(options) };
      const client = connect(options);
      const path = await pathOf(client);
      const started = await client.post<RunBody>(path, request);
      if (wait === false) {
        if (options.json) sayJson(started);
        else say(runnable(`${started.id} has begun: npx carillon replay show ${started.id} --follow`, options));
        return;
      }
      const run = await followRun(client, started, options);
      if (options.json || run.state !== 'done' || findingsOf(run) === 0) return;
      const page = await client.get<Page<RunFindingBody>>(`${path}/${seg(run.id)}/findings`, { limit: FIRST_FINDINGS });
      say(`\n${pageText({ ...page, next: null }, '', findingCells, COLUMNS)}`);
      if (page.next !== null) say(runnable(`All of them: npx carillon replay findings ${run.id}`, options));
    });
}

/** `carillon replay findings`. */
export function findingsCommand(replay: Command, pathOf: PathOf): void {
  command(replay, 'findings <run>', 'list outputs that a verification found missing, without cause or different')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (id: string, { limit, cursor, ...options }: CommonOptions & { limit: string; cursor?: string }) => {
      await answer(
        options,
        async (client) =>
          client.get<Page<RunFindingBody>>(`${await pathOf(client)}/${seg(id)}/findings`, { limit, cursor }),
        (page) => pageText(page, 'no findings', findingCells, COLUMNS),
      );
    });
}

const COLUMNS = ['problem', 'field', 'rule', 'output', 'event', 'position of the event', 'position'] as const;
const PROBLEMS: Readonly<Record<RunFindingBody['problem'], string>> = {
  missing: 'missing',
  no_cause: 'without cause',
  different: 'different',
};

const findingCells = (finding: RunFindingBody): readonly string[] => [
  PROBLEMS[finding.problem],
  finding.field ?? '–',
  finding.rule,
  finding.id,
  finding.event,
  finding.event_position,
  finding.position ?? '–',
];
