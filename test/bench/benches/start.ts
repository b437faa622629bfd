import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { createIds, systemClock } from '@carillon/adapter-system';
import { streamTable } from '@carillon/domain';
import type { NewRecord, TopicName } from '@carillon/ports';
import { launchProduct, startProduct } from '@carillon/testing';
import { configurationOf, ORDERS, stream } from '@carillon/testing/given';
import { createCorpus } from '../corpus.ts';
import { eventRecord } from '../event-record.ts';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { cpuSeconds } from '../harness/cpu.ts';
import { configure, streamFiles } from '../product.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const MILLION = 1_000_000;
const AT_ONCE = 5_000;

/** Records as the gateway appends them. */
function createRecords(partitions: number): (count: number) => NewRecord[] {
  const events = createCorpus();
  const ids = createIds(new Uint8Array(32));
  const orders = streamTable(configurationOf([stream('orders', ORDERS)])).streams.get('shop/orders');
  if (!orders) throw new Error('the stream is not configured');
  return (count) => Array.from({ length: count }, () => eventRecord(events.next(), orders, partitions, ids));
}

/** Who reads the events, and has read all of them: as in a folder that was in use for long. */
async function readThrough({ log, checkpoints }: Embedded): Promise<void> {
  const topic: TopicName = 'carillon.events';
  for (const group of ['engine', 'control']) {
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const before = await checkpoints.load(group, topic, partition);
      const { end } = await log.bounds(topic, partition);
      const fresh = { group, topic, partition, logId: log.logId, clocks: {}, configNumber: -1 };
      await checkpoints.save({ ...(before ?? fresh), next: end });
    }
  }
}

/** Starts once to have a workspace, then puts so many events on the log. */
async function fill(dataDir: string, events: number): Promise<void> {
  const product = await startProduct({ dataDir, cwd: dataDir });
  await configure(product, streamFiles);
  await product.kill('SIGTERM');
  const data = await openEmbedded({ dataDir, clock: systemClock });
  try {
    const records = createRecords(data.log.partitions('carillon.events'));
    for (let done = 0; done < events; done += AT_ONCE) await data.log.append(records(AT_ONCE));
    await readThrough(data);
  } finally {
    await data.close();
  }
}

/** Starts the product once a round, and measures until it takes requests. */
function starting(events: number): Side {
  return {
    name: 'carillon up',
    syncs: 'what it writes at its start',
    async open() {
      const kept = events === 0 ? null : await temporaryFolder();
      if (kept) await fill(kept.path, events);
      const faults: string[] = [];
      return {
        async round() {
          const fresh = kept ?? (await temporaryFolder());
          const begun = performance.now();
          const launched = launchProduct({ dataDir: fresh.path, cwd: fresh.path });
          const product = await launched.ready;
          const answer = await fetch(`${product.gatewayUrl}/readyz`);
          const seconds = (performance.now() - begun) / 1000;
          const cpu = { carillon: cpuSeconds(product.pid) };
          if (answer.status !== 200) faults.push(`/readyz answered ${answer.status}`);
          const { code } = await product.kill('SIGTERM');
          if (code !== 0) faults.push(`it ended with ${code}: ${product.stderr()}`);
          if (!kept) await fresh.remove();
          return { done: 1, seconds, cpu };
        },
        async verify() {
          if (!kept) return faults;
          const data = await openEmbedded({ dataDir: kept.path, clock: systemClock });
          let held = 0;
          for (let partition = 0; partition < data.log.partitions('carillon.events'); partition += 1) {
            const { start, end } = await data.log.bounds('carillon.events', partition);
            held += end - start;
          }
          await data.close();
          return held >= events ? faults : [...faults, `${held} of ${events} events are on the log`];
        },
        close: async () => kept?.remove(),
      };
    },
  };
}

const within = (title: string, events: number, floor: number, goal: number): BenchCase => ({
  title,
  counted: 'starts',
  sides: [starting(events)],
  comparisons: [{ side: 'carillon up', measure: 'seconds', wanted: 'at most', floor, goal }],
});

export const start: Bench = {
  name: 'start',
  title: 'Starting',
  what: `\`carillon up\` is started as a process, from the source as it stands in the checkout, until it answers that it is ready: over a folder
that is not there yet, and over one in which a million events of 732 bytes stand that every role has read (its positions are behind them; what came of them is not there).`,
  cases: [within('an empty folder', 0, 2, 1), within('a folder with a million events', MILLION, 5, 2)],
};
