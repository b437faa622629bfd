/**
 * Opens the data folder given, appends from eight callers at once and writes each acknowledged record to stdout, until
 * somebody ends it. The tests kill it in the middle.
 */
import { writeSync } from 'node:fs';
import { openEmbedded } from '../src/index.ts';

const embedded = await openEmbedded({
  dataDir: process.argv[2] ?? '',
  clock: { now: () => Date.now() },
  holder: 'carillon up (test)',
});
writeSync(1, 'open\n');

async function appendAll(caller: number): Promise<never> {
  for (let at = 0; ; at += 1) {
    const text = `${caller}:${at}`;
    const value = new TextEncoder().encode(text);
    const record = { topic: 'carillon.events', partition: caller, key: 'k', value, headers: {} } as const;
    const [offset] = await embedded.log.append([record]);
    writeSync(1, `${caller} ${offset} ${text}\n`);
  }
}
await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(appendAll));
