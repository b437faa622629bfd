import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { launchProduct } from '@carillon/testing';
import { folderWithEvents } from '../filled-folders.ts';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { cpuSeconds } from '../harness/cpu.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const MILLION = 1_000_000;
/** Starts the product once a round, and measures until it takes requests. */
function starting(events: number): Side {
  return {
    name: 'carillon up',
    syncs: 'what it writes at its start',
    async open() {
      const kept = events === 0 ? null : await folderWithEvents(events);
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
