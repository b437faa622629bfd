import type { JobBody, RunStopBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { connect, seg, type Client, type CommonOptions } from '../client.ts';
import { UsageError } from '../failure.ts';
import { paint, say, sayJson } from '../output.ts';
import { runnable } from '../runnable.ts';
import { agree } from './agree.ts';
import { answer, command } from './api-command.ts';
import { followJob } from './bulk.ts';
import {
  itemsText,
  lookAtMissing,
  missingText,
  selectionOf,
  selectionOptions,
  type SelectionOptions,
} from './replay-missing.ts';

type SendOptions = CommonOptions &
  SelectionOptions & {
    readonly count?: string;
    readonly checksum?: string;
    readonly expires?: string;
    readonly rate?: string;
    /** `--no-wait` */
    readonly wait?: boolean;
  };

type PathOf = (client: Client) => Promise<string>;

/** `carillon replay send`: sends missing messages after a person confirmed their number. */
export function sendCommand(replay: Command, pathOf: PathOf): void {
  const send = command(
    replay,
    'send <run>',
    'send the missing messages of a published edit; shows their number and asks first',
  );
  selectionOptions(send)
    .option('--count <n>', 'number of messages as replay missing showed it; confirms without asking')
    .option('--checksum <text>', 'checksum as replay missing showed it')
    .option('--expires <span>', 'messages are given up after this time (default: 24h)')
    .option('--rate <n>', 'messages per second (default: 10)')
    .option('--no-wait', 'do not wait for the end of the job')
    .action(async (id: string, options: SendOptions) => {
      const settings = settingsOf(options);
      const client = connect(options);
      const path = `${await pathOf(client)}/${seg(id)}`;
      const confirmed = confirmedBy(options) ?? (await lookAndAgree(client, path, options));
      if (!confirmed) return;
      const job = await client.post<JobBody>(`${path}/send`, { ...settings, ...confirmed });
      if (options.wait !== false) await followJob(client, job, options);
      else if (options.json) sayJson(job);
      else say(runnable(`${job.id} has begun: npx carillon jobs show ${job.id} --follow`, options));
    });
}

function settingsOf({ expires, rate }: SendOptions): object {
  if (rate !== undefined && !/^\d{1,4}$/.test(rate)) {
    throw new UsageError(`--rate takes messages per second, from 1 to 1000; found ${rate}`);
  }
  return { ...(expires !== undefined && { expires }), ...(rate !== undefined && { rate: Number(rate) }) };
}

/** Selection, number and checksum, as the API takes them. */
type Confirmed = ReturnType<typeof selectionOf> & { readonly count: number; readonly checksum: string };

/** Returns what the options confirm. Null: they name neither number nor checksum. */
function confirmedBy(options: SendOptions): Confirmed | null {
  const { count, checksum } = options;
  if ((count === undefined) !== (checksum === undefined)) {
    throw new UsageError('pass --count and --checksum together, as replay missing prints them');
  }
  if (count === undefined || checksum === undefined) return null;
  if (!/^\d{1,5}$/.test(count))
    throw new UsageError(`--count must be the number that replay missing shows; found ${count}`);
  return { ...selectionOf(options), count: Number(count), checksum };
}

/** Shows the missing messages and asks. Null: no message is missing. */
async function lookAndAgree(client: Client, path: string, options: SendOptions): Promise<Confirmed | null> {
  const look = await lookAtMissing(client, path, options);
  const { count, checksum, since } = look;
  if (count === 0 && options.json) sayJson(look);
  else if (!options.json) say(missingText(look));
  if (count === 0) return null;
  await agree(`${itemsText(look)} will be sent`, 'nothing was sent', `--count ${count} --checksum ${checksum}`);
  // The time instead of the age, so that the same events are meant however long the answer takes.
  const { maxAge: _age, ...selection } = options;
  return { ...selectionOf({ ...selection, since }), count, checksum };
}

/** `carillon replay stop`: ends sending and cancels what still waits. */
export function stopCommand(replay: Command, pathOf: PathOf): void {
  command(replay, 'stop <run>', 'stop sending the missing messages, and cancel those that still wait').action(
    async (id: string, options: CommonOptions) => {
      await answer(
        options,
        async (client) => client.post<RunStopBody>(`${await pathOf(client)}/${seg(id)}/stop`, {}),
        (body) => runnable(stopText(body), options),
      );
    },
  );
}

/** A release before this one does not say how many questions it has not looked at. */
type StoppedRun = Pick<RunStopBody, 'jobs' | 'waiting_lookups'> & Partial<RunStopBody>;

/** Returns the jobs that cancel deliveries, and what cannot be recalled. */
export function stopText({ jobs, waiting_lookups: waiting, uncounted_lookups: uncounted = 0 }: StoppedRun): string {
  const lines = jobs.map(
    ({ id }) => `No more is sent. ${id} cancels what still waits: npx carillon jobs show ${id} --follow`,
  );
  if (waiting + uncounted === 0) return lines.join('\n');
  const questions = waiting === 1 ? '1 question waits for its partner' : `${waiting} questions wait for their partner`;
  const fix = 'Stop again when it has answered to cancel the resulting messages.';
  const older = uncounted === 0 ? '' : ` ${uncounted} older questions were not looked at.`;
  return [...lines, paint('dim', `${questions} and cannot be recalled.${older} ${fix}`)].join('\n');
}
