import { join } from 'node:path';
import type { LogId } from '@carillon/kernel';
import { kafkaConnection } from '../process/cluster-settings.ts';
import type { ProcessSettings } from '../process/settings.ts';
import type { RunChildFacts } from './run-child.ts';
import { temporaryScratchFolder } from './scratch-folder.ts';

/** Client id of all control processes, so that one Kafka quota limits all runs. */
const CLIENT_ID = 'carillon-replay';

/** Where the runs of a process find the log and put their scratch files. */
export function placeOfRuns(
  { cluster, dataDir }: Pick<ProcessSettings, 'cluster' | 'dataDir'>,
  logId: LogId,
): Pick<RunChildFacts, 'source' | 'folder'> {
  if (!cluster) return { source: { kind: 'embedded', dataDir }, folder: join(dataDir, 'runs') };
  const connection = kafkaConnection(cluster.kafka, CLIENT_ID);
  return { source: { kind: 'kafka', connection, registry: cluster.registry }, folder: temporaryScratchFolder(logId) };
}
