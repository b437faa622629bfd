/**
 * Opens the data folder given, appends from eight callers at once and writes each acknowledged record to stdout, until
 * somebody ends it. The tests kill it in the middle.
 */
import { openEmbedded } from '../src/index.ts';

/** Waits while the test is too busy to read, so that a full pipe does not end the process. */
const say = (line: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${line}\n`, () => resolve());
  });

const embedded = await openEmbedded({
  dataDir: process.argv[2] ?? '',
  clock: { now: () => Date.now() },
  holder: 'carillon up (test)',
});
await say('open');

async function appendAll(caller: number): Promise<never> {
  for (let at = 0; ; at += 1) {
    const text = `${caller}:${at}`;
    const value = new TextEncoder().encode(text);
    const record = { topic: 'carillon.events', partition: caller, key: 'k', value, headers: {} } as const;
    const [offset] = await embedded.log.append([record]);
    await say(`${caller} ${offset} ${text}`);
  }
}
await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(appendAll));
