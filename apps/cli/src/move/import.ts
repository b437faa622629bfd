import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createIds, KEY_FOLDER } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import type { ConfigurationRecord } from '@carillon/domain/configuration';
import type { Json } from '@carillon/kernel';
import type { RecordCodecs, RuleState } from '@carillon/ports';
import { MOVED_LINES } from '@carillon/stores';
import { movedState, repeatMarkers } from '@carillon/stages';
import { CommandError, UsageError } from '../failure.ts';
import type { Backend } from '../process/backend.ts';
import { readKeys } from '../process/deployment-keys.ts';
import type { Environment } from '../process/settings.ts';
import type { Deployment } from './deployment.ts';
import { configurationRecords } from './export.ts';
import {
  countedWith,
  kindOf,
  type MoveCounts,
  type MoveHeader,
  type MoveLine,
  NOTHING_YET,
  openMoveFile,
  type Progress,
  readMoveLines,
  type SizedLine,
} from './move-file.ts';

const BATCH_SIZE = 100;
/** Bytes of JSON after which a batch is written, independent of its lines, because one delivery may be large. */
const BATCH_BYTES = 512 * 1024;

export type Imported = {
  /** What was not there yet. */
  readonly added: MoveCounts;
  /** Items that existed before the import and stay unchanged. */
  readonly kept: MoveCounts;
};

/**
 * Takes in what `exportMove` wrote and `checkMove` looked at. Never changes what is there, so it may be repeated after a
 * failure. Roles may run meanwhile, but not engines, which end overdue waits by the part of the configuration that is there. Refuses a
 * deployment that has a configuration of its own.
 */
export async function importMove(
  file: string,
  { backend, keys, clock, progress }: Deployment & { readonly progress: Progress },
): Promise<Imported> {
  const { header } = await openMoveFile(file);
  const codecs = await createRecordCodecs(backend.registry, clock.now);
  const shift = await shiftOf(header, backend, codecs);
  const ids = createIds(keys.ledgerKey);
  let added = NOTHING_YET;
  let kept = NOTHING_YET;
  let unmarked: number | null = null;
  // Only the newest configuration gets markers. Overdue waits would end by any other that had one.
  const appendMarkers = async (): Promise<void> => {
    if (unmarked !== null) await repeatMarkers(backend.log, unmarked);
    unmarked = null;
  };
  for await (const batch of batchesOf(readMoveLines(file))) {
    const isConfiguration = batch.every((line) => 'configuration' in line);
    if (!isConfiguration) await appendMarkers();
    const number = shift + added.configuration + kept.configuration;
    const memories = batch.flatMap((line) => ('state' in line ? line.state : []));
    const states = memories.map((memory) => movedState(memory, shift, { ids, log: backend.log }));
    const news =
      states.length > 0
        ? await insertStates(states, backend)
        : await write(
            batch.map((line) => renumbered(line, shift)),
            number,
            backend,
            codecs,
          );
    for (const [at, line] of batch.entries()) {
      if (news[at]) added = countedWith(added, line);
      else kept = countedWith(kept, line);
    }
    if (isConfiguration) unmarked = number + batch.length - 1;
    progress(added.delivery + kept.delivery, header.deliveries);
  }
  await appendMarkers();
  return { added, kept };
}

/** Yields consecutive lines of one kind, up to the maximum of one write. */
async function* batchesOf(lines: AsyncIterable<SizedLine>): AsyncGenerator<readonly MoveLine[]> {
  let batch: MoveLine[] = [];
  let bytes = 0;
  for await (const { line, size } of lines) {
    const [first] = batch;
    if (first && (batch.length === BATCH_SIZE || bytes >= BATCH_BYTES || kindOf(first) !== kindOf(line))) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(line);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Looks at file and keys before anything is opened: stores remember the keys that they were first opened with. */
export async function checkMove(file: string, dataDir: string, env: Environment): Promise<void> {
  const { header } = await openMoveFile(file);
  const advice =
    'copy the keys folder of the old data folder to it before the first start, or give CARILLON_LEDGER_KEY, CARILLON_API_KEY_PEPPER and CARILLON_MASTER_KEY';
  if (!existsSync(join(dataDir, KEY_FOLDER)) && !env['CARILLON_LEDGER_KEY']) {
    throw new UsageError(`there are no keys in ${dataDir} (--data-dir, CARILLON_DATA_DIR): ${advice}`);
  }
  const ours = (await readKeys(dataDir, env)).fingerprints();
  const files = { ledger: 'ledger.key', pepper: 'api-key-pepper.key', master: 'master.key' } as const;
  const other = (['ledger', 'pepper', 'master'] as const).filter((name) => header.keys[name] !== ours[name]);
  if (other.length === 0) return;
  const names = other.map((name) => files[name]).join(', ');
  throw new UsageError(`the file was made with other keys than those of ${dataDir} (${names}): ${advice}`);
}

/**
 * Returns the offset between configuration numbers of file and log: a number is a record's position, and this log may
 * begin with other records. Refuses a log with a different configuration.
 */
async function shiftOf(header: MoveHeader, { log }: Backend, codecs: Codecs): Promise<number> {
  const [first] = await log.read('carillon.config', 0, 0, 1);
  if (!first) return (await log.bounds('carillon.config', 0)).end;
  const decoded = codecs.configuration.decode(first.value);
  if (decoded.ok && decoded.value.id === header.first_configuration) return first.offset;
  throw new CommandError(
    'a configuration exists here already: import into an empty log and empty stores, before you apply a configuration or create an API key',
  );
}

function renumbered(line: MoveLine, shift: number): MoveLine {
  if (shift === 0) return line;
  if ('delivery' in line) {
    const { delivery } = line;
    const intent = { ...delivery.intent, configNumber: delivery.intent.configNumber + shift };
    return { delivery: { ...delivery, intent } };
  }
  const move = MOVED_LINES.find(({ name }) => name === kindOf(line));
  if (move?.renumber) return { [move.name]: move.renumber(Object.values(line)[0] as Json, shift) } as MoveLine;
  if (!('configuration' in line)) return line;
  const changes = line.configuration.changes.map((change) => ({
    ...change,
    based_on: change.based_on === null ? null : change.based_on + shift,
  }));
  return { configuration: { ...line.configuration, changes } };
}

type Codecs = Pick<RecordCodecs, 'configuration'>;

/**
 * Writes lines of one kind. Configurations are numbered from this number on. Returns for each line whether it is new.
 */
async function write(
  batch: readonly MoveLine[],
  number: number,
  backend: Backend,
  codecs: Codecs,
): Promise<readonly boolean[]> {
  const deliveries = batch.flatMap((line) => ('delivery' in line ? line.delivery : []));
  if (deliveries.length > 0) return (await backend.ledger.insert(deliveries)).map(({ inserted }) => inserted);
  const records = batch.flatMap((line) => ('configuration' in line ? line.configuration : []));
  if (records.length > 0) return appendConfiguration(records, number, backend, codecs);
  const news: boolean[] = [];
  for (const line of batch) news.push(await writeRest(line, backend));
  return news;
}

/** Writes states that are not there yet. One that is there may have gone on since. */
async function insertStates(states: readonly RuleState[], { ruleStates }: Backend): Promise<readonly boolean[]> {
  const known = new Set((await ruleStates.load(states.map(({ id }) => id))).map(({ id }) => id));
  await ruleStates.save(states.filter(({ id }) => !known.has(id)));
  return states.map(({ id }) => !known.has(id));
}

async function writeRest(line: MoveLine, backend: Backend): Promise<boolean> {
  const { suppressions, claims } = backend;
  const move = MOVED_LINES.find(({ name }) => name === kindOf(line));
  if (move) return move.write(backend, Object.values(line)[0] as Json);
  if ('suppression' in line) {
    return (await suppressions.addAll([line.suppression])) > 0;
  }
  if ('message' in line) {
    const isKnown = (await claims.get(line.message.triggerId)) !== null;
    if (!isKnown) await claims.claim([line.message]);
    return !isKnown;
  }
  throw new CommandError(
    `the file holds ${kindOf(line)}, which this version does not know: import it with a newer Carillon`,
  );
}

/**
 * Appends the configuration records under these numbers, or rejects if the numbers are taken. Every role then uses the
 * last record.
 */
async function appendConfiguration(
  records: readonly ConfigurationRecord[],
  number: number,
  { log }: Backend,
  codecs: Codecs,
): Promise<readonly boolean[]> {
  const idsThere = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    for await (const { id } of configurationRecords(log, codecs, number)) {
      if (ids.push(id) === records.length) break;
    }
    return ids;
  };
  const before = (await idsThere()).length;
  const missing = records.slice(before);
  if (missing.length > 0) {
    const where = { topic: 'carillon.config', partition: 0, key: 'configuration', headers: {} } as const;
    await log.append(missing.map((record) => ({ ...where, value: codecs.configuration.encode(record) })));
  }
  const after = await idsThere();
  if (records.some(({ id }, at) => after[at] !== id)) {
    throw new CommandError(
      `configuration ${number} and those after it did not get their numbers, because another configuration was applied meanwhile. Empty the log and the stores, and import again before you apply`,
    );
  }
  return records.map((_, at) => at >= before);
}
