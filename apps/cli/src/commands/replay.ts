import type { JobBody, RunBody, RunRowBody } from '@carillon/contracts';
import { Option, type Command } from 'commander';
import { connect, seg, type Client, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { say, sayJson } from '../output.ts';
import { runnable } from '../runnable.ts';
import { answer, command, pageText } from './api-command.ts';
import { readFolder } from './configuration.ts';
import { exportFile } from './csv-files.ts';
import { missingCommand } from './replay-missing.ts';
import { followRun } from './follow-run.ts';
import { sendCommand, stopCommand } from './replay-send.ts';
import { findingsCommand, rangeOptions, rangeRequestOf, verifyCommand } from './replay-verify.ts';
import { DIFFERENCES, ROW_COLUMNS, rowCells, RUN_COLUMNS, runCells, runText } from './replay-text.ts';

/** Listed here, because the command line starts without loading the domain. */
const SLOT_STATES = ['notified', 'waiting', 'stopped', 'none'] as const satisfies readonly RunRowBody['slot_state'][];

type DiffOptions = CommonOptions & {
  readonly file?: string;
  readonly prune?: boolean;
  readonly drafts?: boolean;
  readonly notification?: readonly string[];
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly before?: string;
  /** `--no-wait` */
  readonly wait?: boolean;
};
type ListOptions = CommonOptions & { readonly limit: string; readonly cursor?: string };
type ShowOptions = CommonOptions & { readonly follow?: boolean };
type RowsOptions = ListOptions & {
  readonly difference?: string;
  readonly slot?: string;
  readonly rule?: string;
  readonly day?: string;
  readonly csv?: string;
};

/** `carillon replay`: compares an edit with the published configuration over past events, and verifies them. */
export function replayCommands(program: Command): void {
  const replay = program
    .command('replay')
    .description(
      'compare an edit with what is published over past events, or verify them: diff, verify, list, show, rows, findings, missing, send, stop, cancel',
    );
  diffCommand(replay);
  listCommand(replay);
  showCommand(replay);
  rowsCommand(replay);
  missingCommand(replay, pathOf);
  sendCommand(replay, pathOf);
  stopCommand(replay, pathOf);
  cancelCommand(replay);
  verifyCommand(replay, pathOf);
  findingsCommand(replay, pathOf);
}

function diffCommand(replay: Command): void {
  rangeOptions(command(replay, 'diff', 'show who would have been notified with an edit, and who not; sends nothing'))
    .option('-f, --file <dir>', 'the edit is this configuration folder')
    .option('--prune', 'with -f: resources that are not in the folder are removed by the edit')
    .option('--drafts', 'the edit is the drafts of the workspace')
    .option('--notification <names...>', 'compare only these notifications')
    .option('--before <number>', 'compare with this configuration number instead of the published one')
    .option('--no-wait', 'do not wait for the result')
    .action(async (options: DiffOptions) => {
      const request = runRequestOf(options);
      const client = connect(options);
      const run = await client.post<RunBody>(await pathOf(client), request);
      if (options.wait !== false) await followRun(client, run, options);
      else if (options.json) sayJson(run);
      else say(runnable(`${run.id} has begun: npx carillon replay show ${run.id} --follow`, options));
    });
}

/** The body that starts a run. Throws if options contradict each other. */
export function runRequestOf(options: DiffOptions): object {
  const { before, drafts, file, from, last, notification, prune, to } = options;
  if (file !== undefined && drafts)
    throw new UsageError('the edit is a folder (-f) or the drafts (--drafts), not both');
  if (prune && file === undefined) throw new UsageError('--prune needs the folder: -f DIR');
  const range = rangeRequestOf({ last, from, to });
  if (before !== undefined && !/^\d{1,15}$/.test(before)) {
    throw new UsageError(`--before takes a configuration number, such as 12; found ${before}`);
  }
  if (file === undefined && !drafts && before === undefined && notification === undefined) {
    throw new UsageError('name the edit: -f DIR or --drafts; or --notification NAME, which compares its newest change');
  }
  return {
    kind: 'compare',
    ...range,
    ...(before !== undefined && { before: Number(before) }),
    ...(drafts && { drafts }),
    ...(file !== undefined && { folder: { files: readFolder(file), prune: prune ?? false } }),
    ...(notification !== undefined && { notifications: notification }),
  };
}

function listCommand(replay: Command): void {
  command(replay, 'list', 'list comparisons, verifications and searches of a workspace, newest first')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async ({ limit, cursor, ...options }: ListOptions) => {
      await answer(
        options,
        async (client) => client.get<Page<RunBody>>(await pathOf(client), { limit, cursor }),
        (page) => pageText(page, 'no runs', runCells, RUN_COLUMNS),
      );
    });
}

function showCommand(replay: Command): void {
  command(replay, 'show <run>', 'show the result or the progress of a comparison, verification or search')
    .option('--follow', 'show progress until it ends')
    .action(async (id: string, { follow, ...options }: ShowOptions) => {
      const client = connect(options);
      const run = await client.get<RunBody>(`${await pathOf(client)}/${seg(id)}`);
      if (follow) await followRun(client, run, options);
      else if (options.json) sayJson(run);
      else say(runnable(runText(run), options));
    });
}

function rowsCommand(replay: Command): void {
  command(replay, 'rows <run>', 'list the messages that differ; recorded in the audit log')
    .addOption(new Option('--difference <difference>', 'only this difference').choices([...DIFFERENCES]))
    .addOption(new Option('--slot <state>', 'only messages of which the ledger knows this').choices([...SLOT_STATES]))
    .option('--rule <notification.rule>', 'only this rule')
    .option('--day <day>', 'only events of this day in UTC, such as 2026-11-29')
    .option('--csv <file>', 'write all rows as CSV to a file that only you can read; - is standard output')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async (id: string, { csv, cursor, day, difference, limit, rule, slot, ...options }: RowsOptions) => {
      const filters = { difference, slot, rule, day };
      if (csv !== undefined) {
        await answer(
          options,
          async (client) => {
            const path = `${await pathOf(client)}/${seg(id)}/rows/export`;
            return exportFile(csv, () => client.download(path, filters), options.json);
          },
          () => (csv === '-' ? undefined : `wrote ${csv}`),
        );
        return;
      }
      await answer(
        options,
        async (client) =>
          client.get<Page<RunRowBody>>(`${await pathOf(client)}/${seg(id)}/rows`, { ...filters, limit, cursor }),
        (page) => pageText(page, 'no messages differ', rowCells, ROW_COLUMNS),
      );
    });
}

function cancelCommand(replay: Command): void {
  command(replay, 'cancel <run>', 'cancel a comparison, verification or search').action(
    async (id: string, options: CommonOptions) => {
      await answer(
        options,
        async (client) => {
          const { job, workspace } = await client.get<RunBody>(`${await pathOf(client)}/${seg(id)}`);
          return client.post<JobBody>(`/v1/workspaces/${seg(workspace)}/jobs/${seg(job)}/cancel`);
        },
        (job) => (job.ended_at === null ? `${id} ends within seconds` : `${id} is ${job.state}`),
      );
    },
  );
}

const pathOf = async (client: Client): Promise<string> => `/v1/workspaces/${seg(await client.workspace())}/runs`;
