import { createRecordCodecs } from '@carillon/contracts';
import {
  CHANGED_BY_OWNER,
  type Configuration,
  type ConfigurationRecord,
  listResources,
} from '@carillon/domain/configuration';
import { TERMINAL_STATES, type DeliveryState } from '@carillon/domain/deliveries';
import { dissolvedItem } from '@carillon/domain/digests';
import { readMemory, withoutWaitsBelow } from '@carillon/domain/rules';
import { formatInstant, type Instant } from '@carillon/kernel';
import { MESSAGE_CLAIM, type EventLog, type RecordCodecs } from '@carillon/ports';
import { createConfigurationView, type FollowedConfiguration } from '@carillon/stages';
import { MOVED_LINES } from '@carillon/stores';
import { CommandError } from '../failure.ts';
import type { Backend } from '../process/backend.ts';
import { lagOf } from '../process/log-positions.ts';
import type { Deployment } from './deployment.ts';
import { markMoved } from './moved-mark.ts';
import { type MoveCounts, type MoveLine, type Progress, writeMoveFile } from './move-file.ts';

const PAGE = 200;

/**
 * Work that must be finished before an export, because the log is not exported: accepted events are evaluated, and
 * pending deliveries are in the ledger.
 */
const FINISHED = [
  ['engine', 'carillon.events', 'events are not evaluated yet'],
  ['engine', 'carillon.cohorts', 'messages about cohorts are not read yet'],
  ['engine', 'carillon.triggers', 'lookups at partners are not stored yet'],
  ['engine', 'carillon.lookups', 'answers of partners are not read yet'],
  ['engine', 'carillon.cohorts', 'messages of analytics platforms are not read yet'],
  ['delivery', 'carillon.intents', 'messages are not in the ledger yet'],
  ['delivery', 'carillon.receipts', 'reports of providers are not applied yet'],
  ['delivery', 'carillon.consents', 'opt-outs and opt-ins of people are not read yet'],
] as const;

/**
 * Writes everything that another installation needs so that no message is sent twice or too often: the ledger,
 * suppressions, counts of limits, people, encrypted secrets with their data keys, drafts, and the configuration with
 * its history, by whose numbers deliveries find their templates. The folder is locked meanwhile and refuses to start
 * afterwards.
 */
export async function exportMove(
  file: string,
  dataDir: string,
  { backend, keys, clock, progress }: Deployment & { readonly progress: Progress },
): Promise<MoveCounts> {
  await refuseUnfinished(backend);
  const codecs = await createRecordCodecs(backend.registry, clock.now);
  const view = createConfigurationView(backend.log, codecs.configuration, clock);
  await refuseSecondSync(view);
  const deliveries = Object.values(await backend.ledger.countByState()).reduce((sum, count) => sum + count, 0);
  const first = await configurationRecords(backend.log, codecs).next();
  const header = {
    format: 'carillon move',
    version: 1,
    made_at: formatInstant(clock.now()),
    log_id: backend.log.logId,
    keys: keys.fingerprints(),
    first_configuration: first.done ? null : first.value.id,
    deliveries,
  } as const;
  // Marked before there is a file that somebody could import: a whole file beside a folder that starts would tell twice.
  const unmark = markMoved(dataDir, `exported to ${file} on ${header.made_at}`);
  try {
    return await writeMoveFile(
      file,
      header,
      linesOf(backend, codecs, { newest: view.current(), now: clock.now() }, (done) => progress(done, deliveries)),
    );
  } catch (error) {
    unmark();
    throw error;
  }
}

async function refuseUnfinished(backend: Backend): Promise<void> {
  const open: string[] = [];
  for (const [group, topic, words] of FINISHED) {
    const lag = await lagOf(backend, group, topic);
    if (lag > 0) open.push(`${lag} ${words}`);
  }
  const { SENDING: sending = 0 } = await backend.ledger.countByState();
  if (sending > 0) open.push(`${sending} deliveries were under way when it was killed`);
  const asked = (await backend.tasks.dueQueues(Number.MAX_SAFE_INTEGER)).map(
    ({ workspace, name }) => `${workspace}/${name}`,
  );
  const closing = await closedWindows(backend);
  if (closing > 0) open.push(`${closing} digests are about to be sent`);
  if (asked.length > 0) open.push(`questions to partners are open (${asked.join(', ')})`);
  if (open.length === 0) return;
  throw new CommandError(
    `${open.join('; ')}. Start Carillon once more where no client reaches it (carillon up --gateway-port 0), wait until \`carillon doctor\` says 0 records behind and partners have answered, stop it, then export`,
  );
}

/** Windows of digests that are closed and not emptied: some of their items say that they are in a digest which is not there yet. */
async function closedWindows({ digestHeads }: Backend): Promise<number> {
  let closed = 0;
  for (let cursor: string | undefined; ;) {
    const page = await digestHeads.list(PAGE, cursor);
    closed += page.items.filter(({ closing }) => closing !== null).length;
    if (page.next === null) return closed;
    cursor = page.next;
  }
}

/**
 * Rejects if an import would count members of a cohort a second time: the new deployment reads cohorts again from their
 * platform, as a first sync.
 */
async function refuseSecondSync(view: FollowedConfiguration): Promise<void> {
  const telling = listResources(await view.refresh(), 'notification').flatMap(({ ref, body }) =>
    Object.entries(body.rules)
      .filter(([, rule]) => rule.cohort?.first_sync === 'notify')
      .map(([name]) => `${ref.workspace}/${ref.name}.${name}`),
  );
  if (telling.length === 0) return;
  throw new CommandError(
    `${telling.join(', ')}: with first_sync: notify, all members of the cohort would be notified again at its first synchronisation in the new place. Write first_sync: silent and apply it here; change it back in the new place afterwards`,
  );
}

/**
 * Order for an import while roles run: events are only accepted after the configuration with its API keys, and by then
 * all past deliveries and states of rules are known. Waiting deliveries come last, because their checks need the configuration.
 */
async function* linesOf(
  backend: Backend,
  codecs: Pick<RecordCodecs, 'configuration'>,
  { newest, now }: { readonly newest: Configuration; readonly now: Instant },
  exported: (deliveries: number) => void,
): AsyncGenerator<MoveLine> {
  const { suppressions, claims, ledger, log } = backend;
  async function* storedLines(after: 'configuration' | undefined): AsyncGenerator<MoveLine> {
    for (const move of MOVED_LINES.filter((one) => one.after === after))
      for await (const item of move.read(backend)) yield { [move.name]: item } as MoveLine;
  }
  let done = 0;
  async function* inState(state: DeliveryState): AsyncGenerator<MoveLine> {
    for (let cursor: string | undefined; ;) {
      const page = await ledger.list({ states: [state] }, PAGE, cursor);
      // Digest windows are not exported, so items that wait for a digest wait for a new window after the import.
      for (const delivery of page.items)
        yield { delivery: state === 'COLLECTED' ? dissolvedItem(delivery, newest, now) : delivery };
      done += page.items.length;
      exported(done);
      if (page.next === null) return;
      cursor = page.next;
    }
  }
  for (let cursor: string | undefined; ;) {
    const page = await suppressions.list({}, PAGE, cursor);
    for (const suppression of page.items) yield { suppression };
    if (page.next === null) break;
    cursor = page.next;
  }
  for (let cursor: string | undefined; ;) {
    const page = await claims.list(MESSAGE_CLAIM, PAGE, cursor);
    for (const message of page.items) yield { message };
    if (page.next === null) break;
    cursor = page.next;
  }
  yield* storedLines(undefined);
  yield* stateLines(backend);
  for (const state of [...TERMINAL_STATES, 'IN_DOUBT'] as const) yield* inState(state);
  for await (const configuration of configurationRecords(log, codecs)) yield { configuration };
  yield* storedLines('configuration');
  yield* inState('WAITING');
  yield* inState('COLLECTED');
}

/**
 * Reads the states of rules. States of forgotten entities are left out: their positions belong to this log. So do the offsets below which
 * a restore called events off, so waits for such events are left out too.
 */
export async function* stateLines({
  ruleStates,
  calledOffBelow,
}: Pick<Backend, 'ruleStates' | 'calledOffBelow'>): AsyncGenerator<MoveLine> {
  for (let after: string | undefined; ;) {
    const states = await ruleStates.list(PAGE, after);
    for (const { data, offset, partition } of states) {
      if (data !== '') yield { state: withoutWaitsBelow(readMemory(data, offset), calledOffBelow.get(partition)) };
    }
    after = states.at(-1)?.id;
    if (after === undefined) return;
  }
}

/** Records of `carillon.config` from a number on, in order. What is no record of ours changes nothing, and keeps its number. */
export async function* configurationRecords(
  log: EventLog,
  codecs: Pick<RecordCodecs, 'configuration'>,
  from = 0,
): AsyncGenerator<ConfigurationRecord> {
  for (let next = from; ;) {
    const records = await log.read('carillon.config', 0, next, PAGE);
    for (const { value, offset, time } of records) {
      if (offset !== next)
        throw new CommandError(
          `carillon.config has no record ${next}: the configuration history is incomplete, so it cannot be exported`,
        );
      const decoded = codecs.configuration.decode(value);
      if (!decoded.ok && decoded.error.reason !== 'not_framed') {
        throw new CommandError(`record ${next} of carillon.config cannot be read: ${decoded.error.detail}`);
      }
      const nothing = { id: `unreadable-${offset}`, at: formatInstant(time), by: CHANGED_BY_OWNER, changes: [] };
      yield decoded.ok ? decoded.value : nothing;
      next = offset + 1;
    }
    if (records.length === 0) return;
  }
}
