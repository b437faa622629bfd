import { startClusterServices } from '@carillon/testing/cluster';
import { startKafkaProxy, type KafkaProxy } from '@carillon/testing/faults';
import { startKafka } from '@carillon/testing/services';
import { expect, it } from 'vitest';
import { CRASH_BUGS } from '../../harness/planted-bugs/crash-bugs.ts';
import { plantedLine, planting, type Change } from '../../harness/planting.ts';
import { runClusterCrashes, type ClusterCrashOptions, type ClusterCrashReport } from './crash-run.ts';
import { freezeSender, loseAnswers, recreateTopic, rejectSends } from './aimed-faults.ts';
import type { Site } from './faults.ts';
import { describeOnCluster } from './with-services.ts';

const TAKES = 240_000;
/** A mail server without whims, so that what goes wrong is the product's doing. */
const CALM = { latency: 20, tempfail: 0, drop: 0 };
/** Whoever waits for the lease of a call to the partner moves too late to be waited for where a bug is planted. */
const ORDERS_ALONE = { lookups: 0, changes: 0 };

describeOnCluster('The crash test on a cluster', startClusterServices, (services) => {
  let runs = 0;

  type Aimed = Pick<ClusterCrashOptions, 'events' | 'rate' | 'members' | 'patience' | 'quiet' | 'mixture'> & {
    readonly faults: (site: Site, proxy: KafkaProxy) => Promise<void>;
  };

  /** A run with a broker of its own, behind a proxy that can fail. */
  async function crashWith(changes: readonly Change[], { faults, ...aimed }: Aimed): Promise<ClusterCrashReport> {
    const kafka = await startKafka();
    const proxy = await startKafkaProxy(kafka.brokers);
    try {
      const report = await runClusterCrashes({
        services: { ...services(), kafka },
        database: `planted-${(runs += 1)}`,
        seed: runs,
        smtp: CALM,
        // What a planted bug leaves behind does not move any more: no need to wait as long as for what has to be right.
        ...(changes.length > 0 && { quiet: 10_000, mixture: ORDERS_ALONE }),
        ...aimed,
        faults: (site) => faults(site, proxy),
        env: { CARILLON_BROKERS: proxy.brokers.join(','), ...(changes.length > 0 && planting(changes)) },
      });
      for (const change of changes) expect(report.logs).toContain(plantedLine(change));
      console.log(changes.map(({ file }) => file).join(' and '), report.figures, report.findings.slice(0, 3));
      return report;
    } finally {
      await proxy.stop();
      await kafka.stop();
    }
  }
  /** Chance decides who is hit: up to three runs may turn red; the first red one is answered, or the last. */
  async function crashUntil(
    isRed: (report: ClusterCrashReport) => boolean,
    ...[changes, aimed]: Parameters<typeof crashWith>
  ): Promise<ClusterCrashReport> {
    for (let run = 1; ; run += 1) {
      const report = await crashWith(changes, aimed);
      if (isRed(report) || run === 3) return report;
    }
  }
  /** Promises to customers that were broken; whatever follows from that is not counted. */
  const isBroken = ({ findings }: ClusterCrashReport): boolean =>
    findings.some(({ kind }) => kind === 'lost' || kind === 'twice' || kind === 'stuck');
  const hasLost = (report: ClusterCrashReport): boolean => kindsOf(report).has('lost');
  const kindsOf = ({ findings }: ClusterCrashReport): ReadonlySet<string> => new Set(findings.map(({ kind }) => kind));

  const REJECTED: Aimed = { events: 250, rate: 20, members: { gateway: 2 }, patience: 40_000, faults: rejectSends };
  const LOST_ANSWERS: Aimed = { events: 1_500, rate: 100, members: {}, faults: loseAnswers };

  it(
    'stays green while answers of the broker are lost and sends are rejected',
    async () => {
      const rejected = await crashWith([], REJECTED);
      expect(rejected.findings, rejected.logs).toEqual([]);
      const lost = await crashWith([], LOST_ANSWERS);
      expect(lost.findings, lost.logs).toEqual([]);
    },
    2 * TAKES,
  );

  it(
    'turns red when a producer is kept after a rejected send',
    async () => {
      // Lost where the batch after the rejected one went missing, stuck where the producer never sends again.
      expect(await crashUntil(isBroken, CRASH_BUGS.producerKept.changes, REJECTED)).toSatisfy(isBroken);
    },
    3 * TAKES,
  );

  it(
    'turns red when a producer has two sends open',
    async () => {
      expect(await crashUntil(hasLost, CRASH_BUGS.twoOpenSends.changes, LOST_ANSWERS)).toSatisfy(hasLost);
    },
    3 * TAKES,
  );

  it(
    'turns red when refusals by the fence are taken for done',
    async () => {
      const report = await crashUntil(isBroken, CRASH_BUGS.fencesIgnored.changes, {
        events: 800,
        rate: 40,
        members: { engine: 2, delivery: 2 },
        faults: freezeSender,
      });
      // Twice where the late sender sends after the new one, lost where its late checkpoint skips what nobody has done.
      expect(report).toSatisfy(isBroken);
    },
    3 * TAKES,
  );

  it(
    'turns red when a topic is made anew under the running product, and the product says so',
    async () => {
      const report = await crashWith([], {
        events: 600,
        rate: 30,
        members: {},
        quiet: 10_000,
        mixture: ORDERS_ALONE,
        faults: recreateTopic,
      });
      expect(kindsOf(report)).toContain('lost');
      expect(report.logs).toContain('the topic was deleted and made again');
    },
    3 * TAKES,
  );
});
