/**
 * Takes deliveries into custody, moves them to their end, and tells of each on a log before it forgets that it has to, until somebody ends it.
 * The log is stdout: what was written to it outlives the process. Words: `embedded` and a data folder, or `mongodb`, a URL and a database.
 */
import { writeSync } from 'node:fs';
import { openEmbedded } from '@carillon/adapter-embedded';
import { openMongo } from '@carillon/adapter-mongodb';
import { systemClock } from '@carillon/adapter-system';
import { publishOutcomes } from '@carillon/stages';
import { deliveryOf, outcomeOf } from '@carillon/testing';
import { tellingOn } from './telling-on-lines.ts';

const BATCH_SIZE = 50;

const [backend, place = '', database = ''] = process.argv.slice(2);
const { ledger } =
  backend === 'embedded'
    ? await openEmbedded({ dataDir: place, clock: systemClock })
    : await openMongo({ url: place, database, clock: systemClock, patience: 20_000, silence: 30_000 });

const ports = tellingOn(ledger, (line) => void writeSync(1, `${line}\n`));

for (let round = 1; ; round += 1) {
  const first = Array.from({ length: BATCH_SIZE }, () => deliveryOf());
  await ledger.insert(first);
  const sent = first.map(
    (one) => ({ ...one, version: 2, state: 'SENT', nextAt: null, unpublished: [outcomeOf(one)] }) as const,
  );
  await Promise.all(sent.map((one) => ledger.replace(one, { together: true })));
  await publishOutcomes(sent, ports);
  writeSync(1, `round ${round}\n`);
}
