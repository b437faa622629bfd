import type { ClusterServices } from '@carillon/testing/cluster';
import { createNetwork, LONG_SPANS } from '../network.ts';
import { runClusterCrashes, type ClusterCrashReport } from './crash-run.ts';

/** Events in a second, and more of them than are posted while the edges are in trouble. */
const RATE = 12;
const EVENTS = 2_600;

/** Cuts and delays every edge between the roles and whom they deal with, under load. Nobody is killed. */
export async function runClusterEdges(
  services: ClusterServices,
  database: string,
  seed: number,
  progress?: (what: string) => void,
): Promise<ClusterCrashReport> {
  const network = createNetwork();
  try {
    return await runClusterCrashes({
      services,
      database,
      seed,
      events: EVENTS,
      rate: RATE,
      mixture: { firing: 0.4 },
      network,
      faults: ({ supervisor }) =>
        network.trouble(LONG_SPANS, (what) => {
          supervisor.note(what);
          progress?.(what);
        }),
    });
  } finally {
    await network.stop();
  }
}
