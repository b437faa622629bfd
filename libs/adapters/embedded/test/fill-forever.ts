/**
 * Opens the given data folder with the bounds of its write-ahead log from the arguments, appends records and prints
 * each acknowledged one, until it is killed. With a final argument a reader holds an old state meanwhile, and refusals
 * are printed too.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@carillon/kernel';
import { openEmbedded } from '../src/index.ts';

const [dataDir = '', copyFrom, waitFrom, most, held] = process.argv.slice(2);
const embedded = await openEmbedded({
  dataDir,
  clock: { now: () => Date.now() },
  busyTimeout: 50,
  walBounds: { copyFrom: Number(copyFrom), waitFrom: Number(waitFrom), most: Number(most) },
});
if (held !== undefined) {
  const other = new DatabaseSync(join(dataDir, 'carillon.db'), { readOnly: true });
  other.exec('BEGIN');
  other.prepare('SELECT count(*) FROM records').get();
}

async function fill(caller: number): Promise<void> {
  for (let at = 0; ; at += 1) {
    const text = `${caller}:${at}`;
    const value = new TextEncoder().encode(`${text}:${'x'.repeat(20_000)}`);
    const record = { topic: 'carillon.intents', partition: caller, key: 'k', value, headers: {} } as const;
    try {
      const [offset] = await embedded.log.append([record]);
      process.stdout.write(`${caller} ${offset} ${text}\n`);
    } catch (error) {
      process.stdout.write(`refused: ${messageOf(error)}\n`);
      return;
    }
  }
}
process.stdout.write('open\n');
await Promise.all([0, 1, 2, 3].map(fill));
setInterval(() => undefined, 60_000);
