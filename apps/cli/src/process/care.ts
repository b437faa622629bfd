import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Check } from '@carillon/control';
import { CarillonError, formatInstant } from '@carillon/kernel';
import type { Clock, TopicName } from '@carillon/ports';
import type { Backend } from './backend.ts';
import { fingerprintFor, foreignKey, type Keys } from './deployment-keys.ts';

/** Names and places that the system refuses, whoever asks. */
const NO_PLACE: ReadonlySet<unknown> = new Set([
  'ENOTDIR',
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENAMETOOLONG',
  'EINVAL',
]);

export async function backupTo(file: string, backend: Backend): Promise<{ bytes: number }> {
  if (file.includes('\0')) throw new CarillonError('invalid_request', 'file: no name of a file has a NUL character');
  // Over another file it would take away an older backup, or whatever the caller mistook for a free name.
  if (existsSync(file)) throw new CarillonError('invalid_request', `file: ${file} is there already; give a new name`);
  if (!existsSync(dirname(file))) {
    throw new CarillonError('invalid_request', `file: there is no folder ${dirname(file)} on the server`);
  }
  try {
    await backend.backup(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!NO_PLACE.has(code)) throw error;
    const detail = `file: the server cannot write there (${code}); name a file in a folder of its own`;
    throw new CarillonError('invalid_request', detail, {}, { cause: error });
  }
  return { bytes: (await stat(file)).size };
}

/** Records behind which a group is worth a word. */
const MOST_LAG = 10_000;

/** What `doctor` looks at besides the configuration. */
export async function diagnose(backend: Backend, keys: Keys, clock: Clock): Promise<Check[]> {
  const checks = await backend.checks();
  // Without its stores there is nothing more to ask, and each question would wait for its time to run out.
  if (checks.some(({ step, ok }) => step === 'database' && !ok)) return [...checks];
  const { configurationStore, log } = backend;
  const identity = await configurationStore.identity({
    logId: log.logId,
    keyFingerprint: fingerprintFor(backend, keys),
  });
  const foreign = foreignKey(backend, keys, identity.keyFingerprint);
  const counts = await backend.ledger.countByState();
  const inDoubt = counts.IN_DOUBT ?? 0;
  return [
    ...checks,
    { step: 'keys', ok: foreign === null, detail: foreign ?? 'are those of the stored data' },
    ...(await lagChecks(backend)),
    {
      step: 'in doubt',
      ok: inDoubt === 0,
      detail: inDoubt === 0 ? 'none' : `${inDoubt} wait for a person: npx carillon deliveries --state IN_DOUBT`,
    },
    { step: 'clock', ok: true, detail: `${formatInstant(clock.now())} (compare it with yours)` },
  ];
}

const GROUPS = [
  ['engine', 'carillon.events'],
  ['engine', 'carillon.triggers'],
  ['engine', 'carillon.lookups'],
  ['engine', 'carillon.cohorts'],
  ['delivery', 'carillon.intents'],
  ['control', 'carillon.events'],
  ['control', 'carillon.outcomes'],
] as const;

/**
 * Positions of a log that is gone, or was cut short, mean other records: such a start would pass over events that were
 * acknowledged. Rejects with `wrong_log`; any role does, because each of them would make it worse.
 */
export async function refuseShorterLog(backend: Pick<Backend, 'log' | 'checkpoints'>): Promise<void> {
  for (const [group, topic] of GROUPS) {
    const beyond = await positionBeyond(backend, group, topic);
    if (beyond !== null) throw new CarillonError('wrong_log', beyond);
  }
}

/** In words which position of the group is beyond the end of its partition, or null. */
async function positionBeyond(
  backend: Pick<Backend, 'log' | 'checkpoints'>,
  group: string,
  topic: TopicName,
): Promise<string | null> {
  const { log, checkpoints } = backend;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const next = (await checkpoints.load(group, topic, partition))?.next ?? 0;
    if (next === 0) continue;
    const { end } = await log.bounds(topic, partition);
    if (next <= end) continue;
    return (
      `${group} had read ${topic}/${partition} up to ${next}, and it ends at ${end}: was the topic made anew, or did a broker lose it? ` +
      'Restore log and stores from one backup, or begin anew with empty ones'
    );
  }
  return null;
}

/** Records of a topic that a group has not finished. */
export async function lagOf({ log, checkpoints }: Backend, group: string, topic: TopicName): Promise<number> {
  let lag = 0;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const { start, end } = await log.bounds(topic, partition);
    const next = (await checkpoints.load(group, topic, partition))?.next ?? start;
    lag += Math.max(0, end - Math.max(next, start));
  }
  return lag;
}

async function lagChecks(backend: Backend): Promise<Check[]> {
  const steps: Check[] = [];
  for (const [group, topic] of GROUPS) {
    const beyond = await positionBeyond(backend, group, topic);
    if (beyond !== null) {
      steps.push({ step: `${group} on ${topic}`, ok: false, detail: beyond });
      continue;
    }
    const lag = await lagOf(backend, group, topic);
    steps.push({ step: `${group} on ${topic}`, ok: lag <= MOST_LAG, detail: `${lag} records behind` });
  }
  return steps;
}
