import { startProduct } from '@carillon/testing';
import { createCorpus } from '../corpus.ts';
import type { BenchCase, OpenSide, Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import { configure, countEmbedded, STREAM_PATH, streamFiles } from '../product.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { secondsOf } from '../warm-up.ts';

const CONNECTIONS = 4;
const ITEMS = 1_000;

/** Posts events over the connections, some in each request. Every event that was taken has to be on the log once. */
const posting = (name: string, type: string, items: number): Side => ({
  name,
  syncs: 'each commit (SQLite, WAL, synchronous = FULL)',
  async open(): Promise<OpenSide> {
    const folder = await temporaryFolder();
    const product = await startProduct({ dataDir: folder.path, cwd: folder.path });
    const headers = { ...(await configure(product, streamFiles)), 'content-type': type };
    const corpus = createCorpus();
    let taken = 0;
    return {
      processes: { carillon: product.pid, bench: process.pid },
      async round(round) {
        const load = { open: CONNECTIONS, seconds: secondsOf(round) };
        const { done, seconds } = await closedLoop(load, async () => {
          const body = Array.from({ length: items }, () => JSON.stringify(corpus.next())).join('\n');
          const answer = await fetch(`${product.gatewayUrl}${STREAM_PATH}`, { method: 'POST', headers, body });
          const text = await answer.text();
          if (answer.status !== 202) throw new Error(`answered ${answer.status}: ${text}`);
        });
        taken += done * items;
        return { done: done * items, seconds };
      },
      async verify() {
        await product.kill('SIGTERM');
        const counts = await countEmbedded(folder.path);
        const twice = [...counts.values()].filter((count) => count > 1).length;
        return counts.size === taken && twice === 0
          ? []
          : [`${taken} events were taken; ${counts.size} are on the log, ${twice} of them more than once`];
      },
      async close() {
        await product.kill('SIGTERM');
        await folder.remove();
      },
    };
  },
});

const [BATCHES, SINGLE] = [`batches of ${ITEMS.toLocaleString('en')}`, 'single requests'];

export const batchesBesideSingle: BenchCase = {
  title: `${CONNECTIONS} connections`,
  counted: 'events',
  sides: [posting(BATCHES, 'application/x-ndjson', ITEMS), posting(SINGLE, 'application/json', 1)],
  comparisons: [{ side: BATCHES, to: SINGLE, measure: 'rate', wanted: 'at least', floor: 3, goal: 6 }],
};
