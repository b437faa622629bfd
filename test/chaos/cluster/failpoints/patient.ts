import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { startCluster, type ClusterServices, type Member } from '@carillon/testing/cluster';
import { readEvidence, readUnsettled } from '../../../harness/evidence.ts';
import { failpointLine } from '../../failpoints/failpoints.ts';
import { createLives } from '../../failpoints/lives.ts';
import type { OpenPatient } from '../../failpoints/patient.ts';
import { FAILPOINT_PLACES } from '../../failpoints/places.ts';
import { lookAt, settle } from '../../settle.ts';
import { openClusterStores } from '../stores.ts';

const ENDS_WITHIN = 20_000;
const LAST_WORDS = 2_000;
const KILLS = [...FAILPOINT_PLACES].flatMap((place) =>
  ['before', 'after'].map((side) => failpointLine(`${place}.${side}`, 'kill')),
);
/** Nothing comes after it: whoever says it is dead. */
const wasKilled = (log: string): boolean => KILLS.some((line) => log.trimEnd().endsWith(line));

/** One process of each role, or with twins two engines and two deliveries, so that somebody can take over. */
export type ClusterPatientOptions = {
  readonly services: ClusterServices;
  readonly database: string;
  readonly twins: boolean;
};

/** All read the same orders: whoever comes to the place first fails there. */
export const openClusterPatient =
  ({ services, database, twins }: ClusterPatientOptions): OpenPatient =>
  async ({ folder, env }) => {
    const cluster = await startCluster({
      services,
      dataDir: join(folder, 'data'),
      ...(twins && { members: { engine: 2, delivery: 2 } }),
      env: { ...env, CARILLON_MONGODB_DATABASE: database },
    });
    const stores = await openClusterStores(services, database);
    const { members, gatewayUrl, controlUrl, token } = cluster;
    const deaths: string[] = [];
    const each = async (act: (member: Member) => Promise<void>): Promise<void> => {
      await Promise.all(members.map(act));
    };

    /** Starts what has ended, as a supervisor would. */
    const startGone = (): Promise<void> =>
      each(async (member) => {
        if (member.running) return;
        const log = member.log();
        if (!wasKilled(log)) deaths.push(`${member.name}: ${log.slice(-LAST_WORDS)}`);
        await member.start();
      });

    return {
      lives: createLives(() => Promise.resolve({ gatewayUrl, controlUrl, token })),
      ready: startGone,
      logs: () => new Map(members.map((member) => [member.name, member.log()])),
      unsettled: () => readUnsettled(stores),
      hasTwin(name) {
        const role = members.find((member) => member.name === name)?.role;
        return role !== undefined && cluster.of(role).length > 1;
      },
      deaths: () => deaths,
      async restart() {
        await cluster.stop();
        await each((member) => member.start());
      },
      async killAll() {
        await each((member) => member.kill());
        await each((member) => member.start());
      },
      async revive(action) {
        if (action === 'stop') await each((member) => member.kill('SIGCONT'));
        if (action !== 'kill') return;
        const ended = (): Promise<true | undefined> =>
          Promise.resolve(members.some(({ running }) => !running) || undefined);
        await untilFound('the end of who was killed', ended, ENDS_WITHIN);
        await startGone();
      },
      async rest(_posts, patience) {
        await startGone();
        const settled = await settle(lookAt(stores), { since: Date.now(), ...patience });
        await cluster.stop();
        return { evidence: await readEvidence(stores), settledAfter: settled.after, leftOpen: settled.open };
      },
      async close() {
        await each((member) => member.kill());
        await stores.close();
      },
    };
  };
