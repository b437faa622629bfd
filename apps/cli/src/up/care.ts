import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Embedded } from '@carillon/adapter-embedded';
import type { Check } from '@carillon/control';
import { CarillonError, formatInstant } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import type { UpConfig } from './config.ts';

export async function backupTo(file: string, data: Embedded): Promise<{ bytes: number }> {
  // Over another file it would take away an older backup, or whatever the caller mistook for a free name.
  if (existsSync(file)) throw new CarillonError('invalid_request', `file: ${file} is there already; give a new name`);
  if (!existsSync(dirname(file))) {
    throw new CarillonError('invalid_request', `file: there is no folder ${dirname(file)} on the server`);
  }
  await data.backup(file);
  return { bytes: (await stat(file)).size };
}

const MIB = 1024 * 1024;
const mib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;
/** Less free disk than this is worth a word. */
const LEAST_FREE = 512 * MIB;
/** Records behind which a group is worth a word. */
const MOST_LAG = 10_000;

/** What `doctor` looks at besides the configuration. */
export async function diagnose(
  config: UpConfig,
  data: Embedded,
  keyFingerprint: string,
  clock: Clock,
): Promise<Check[]> {
  const { fileBytes, walBytes } = data.stats();
  const disk = await statfs(config.dataDir);
  const free = disk.bavail * disk.bsize;
  const identity = await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint });
  const counts = await data.ledger.countByState();
  const inDoubt = counts.IN_DOUBT ?? 0;
  return [
    {
      step: 'data file',
      ok: true,
      detail: `${mib(fileBytes)}, write-ahead log ${mib(walBytes)}, in ${config.dataDir}`,
    },
    { step: 'free disk', ok: free >= LEAST_FREE, detail: `${mib(free)} free` },
    {
      step: 'ledger key',
      ok: identity.keyFingerprint === keyFingerprint,
      detail: identity.keyFingerprint === keyFingerprint ? 'is the one of the stored data' : 'is another one',
    },
    ...(await lagChecks(data)),
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
  ['delivery', 'carillon.intents'],
  ['control', 'carillon.events'],
  ['control', 'carillon.outcomes'],
] as const;

async function lagChecks({ log, checkpoints }: Embedded): Promise<Check[]> {
  const steps: Check[] = [];
  for (const [group, topic] of GROUPS) {
    let lag = 0;
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const { start, end } = await log.bounds(topic, partition);
      const next = (await checkpoints.load(group, topic, partition))?.next ?? start;
      lag += Math.max(0, end - Math.max(next, start));
    }
    steps.push({ step: `${group} on ${topic}`, ok: lag <= MOST_LAG, detail: `${lag} records behind` });
  }
  return steps;
}
