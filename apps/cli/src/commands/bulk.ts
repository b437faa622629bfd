import { setTimeout as pause } from 'node:timers/promises';
import type { JobBody } from '@carillon/contracts';
import { connect, seg, type Client, type CommonOptions } from '../client.ts';
import { CommandError, UsageError } from '../failure.ts';
import { clean, paint, say, sayJson } from '../output.ts';
import { runnable } from '../runnable.ts';
import { agree } from './agree.ts';

/** Options of what acts on many at once. */
export type BulkOptions = CommonOptions & {
  readonly all?: boolean;
  readonly yes?: boolean;
  /** `--no-wait` */
  readonly wait?: boolean;
};

type Query = Readonly<Record<string, string | undefined>>;
type Counted = {
  readonly count: number;
  readonly more: boolean;
  readonly ceiling: number;
  readonly people?: number;
  readonly by_state?: Readonly<Record<string, number>>;
};

export type BulkAction = {
  /** Path segment of the resources: `deliveries`. */
  readonly things: string;
  /** The last part of the address: `resend`. */
  readonly action: string;
  /** Text for people: `412 deliveries will be sent again`. */
  readonly words: string;
  /** Filters of the list. */
  readonly filter: Query;
  /** What the body says besides. */
  readonly more?: object;
};

const POLL_INTERVAL_MS = 500;

/**
 * Starts a job over ids, or over all matching resources once the user has confirmed their number, and follows the job
 * to its end.
 */
export async function actOnMany(options: BulkOptions, ids: readonly string[], bulk: BulkAction): Promise<void> {
  if (options.all && ids.length > 0) throw new UsageError('name the items or pass --all, not both');
  const client = connect(options);
  const path = `/v1/workspaces/${seg(await client.workspace())}/${bulk.things}`;
  const chosen = ids.length > 0 ? { ids } : await countedAndAgreed(client, path, options, bulk);
  if (!chosen) return;
  const job = await client.post<JobBody>(`${path}/${bulk.action}`, { ...bulk.more, ...chosen });
  if (options.wait === false) {
    if (options.json) sayJson(job);
    else say(runnable(`${job.id} has begun: npx carillon jobs show ${job.id} --follow`, options));
    return;
  }
  await followJob(client, job, options);
}

/** Null: there is nothing. */
async function countedAndAgreed(
  client: Client,
  path: string,
  options: BulkOptions,
  { things, action, words, filter }: BulkAction,
): Promise<{ readonly filter: object; readonly expected: number } | null> {
  const asked = things === 'deliveries' ? { ...filter, action } : filter;
  const { count, more, ceiling, people, by_state: byState = {} } = await client.get<Counted>(`${path}/count`, asked);
  if (more)
    throw new UsageError(
      `more than ${ceiling} match, which is the limit of one job: narrow the selection, for example with --since`,
    );
  const states = Object.entries(byState).map(([state, number]) => `${number} ${state}`);
  const to = people === undefined ? '' : ` to ${people} ${people === 1 ? 'person' : 'people'}`;
  const what = `${count} ${things}${to}${states.length === 0 ? '' : ` (${states.join(', ')})`}`;
  if (count === 0) {
    if (options.json) throw new CommandError(`nothing matches that ${words}`);
    say(paint('dim', `nothing matches that ${words}`));
    return null;
  }
  if (!options.yes) await agree(`${what} ${words}`, 'nothing was begun');
  // Several values of a filter are a list in a body.
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return {
    filter: Object.fromEntries(
      given.map(([name, value]) => [name, LISTS.has(name) ? value?.split(',').map((one) => one.trim()) : value]),
    ),
    expected: count,
  };
}
const LISTS: ReadonlySet<string> = new Set(['state', 'reason', 'channel']);

const WIDTH = 24;

/** `██████░░░░  118 of 412, 2 failed` */
export function progressText({ of, done, failed, state }: JobBody): string {
  const filled = of === 0 ? WIDTH : Math.floor(((done + failed) / of) * WIDTH);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
  return `${bar}  ${done} of ${of}${failed > 0 ? `, ${failed} failed` : ''}  ${state}`;
}

/** Texts for the causes of a cancelled job. */
const CAUSE_WORDS: Readonly<Record<NonNullable<JobBody['cancelled_because']> | 'wished', string>> = {
  wished: '',
  rights_lost: ': the person who started it has lost the permission (rights_lost)',
};

export function jobText(job: JobBody): string {
  const { id, action, state, done, failed, of, failures, created_by: by, created_at: at } = job;
  const left = of - done - failed;
  const counts = [
    `${done} of ${of} done`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(left > 0 && job.ended_at !== null ? [`${left} not begun`] : []),
  ].join(', ');
  const lines = [
    `${id}  ${action}  ${paint(state === 'done' && failed === 0 ? 'green' : 'bold', state)}`,
    `  ${counts}; begun ${at} by ${clean(by.name ?? by.id)}`,
    ...(job.cancelled_by === null
      ? []
      : [
          `  cancelled by ${clean(job.cancelled_by.name ?? job.cancelled_by.id)}${CAUSE_WORDS[job.cancelled_because ?? 'wished']}`,
        ]),
    ...failures.map((one) => `  ${clean(one.item)}  ${one.code}: ${clean(one.detail)}`),
    ...(failed > failures.length ? [`  and ${failed - failures.length} more`] : []),
  ];
  return lines.join('\n');
}

/**
 * Shows the progress of a job on a terminal until it has ended, then prints its result. An interrupted command leaves
 * the job running. Sets exit code 1 if not all items were done.
 */
export async function followJob(client: Client, begun: JobBody, options: CommonOptions): Promise<void> {
  const draws = process.stdout.isTTY && !options.json;
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt);
  let job = begun;
  while (job.ended_at === null && !interrupted.signal.aborted) {
    if (draws) process.stdout.write(`\r\u001B[K${progressText(job)}`);
    await pause(POLL_INTERVAL_MS, undefined, { signal: interrupted.signal }).catch(() => undefined);
    job = await client.get<JobBody>(`/v1/workspaces/${seg(begun.workspace ?? '-')}/jobs/${seg(begun.id)}`);
  }
  process.removeListener('SIGINT', interrupt);
  if (draws) process.stdout.write('\r\u001B[K');
  if (options.json) sayJson(job);
  else say(jobText(job));
  if (job.ended_at === null) say(runnable(`it goes on: npx carillon jobs show ${job.id} --follow`, options));
  else if (job.failed > 0 || job.state !== 'done') process.exitCode = 1;
}
