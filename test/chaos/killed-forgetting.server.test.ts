import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openEmbedded } from '@carillon/adapter-embedded';
import { openMongo } from '@carillon/adapter-mongodb';
import { systemClock } from '@carillon/adapter-system';
import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryLedger } from '@carillon/ports';
import { publishOutcomes } from '@carillon/stages';
import { createWitness, freshName } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../bench/temporary-folder.ts';
import { describeWith } from '../support/requirements.ts';
import { sharedServer } from '../support/shared-servers.ts';
import { tellingOn } from './telling-on-lines.ts';

const TAKES = 600_000;
const MAX_KILLS = 30;

type Opened = { readonly ledger: DeliveryLedger; close(): Promise<void> };
/** A backend that a process is killed on, in the words of that process, and how to open it afterwards. */
type Room = { readonly words: readonly string[]; open(): Promise<Opened> };

/** Starts a process that tells and forgets, and kills it as soon as the outcomes of that round are told: it forgets them just then. */
async function killedWhileForgetting({ words }: Room, round: number): Promise<readonly string[]> {
  const lines = createWitness<string>();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'forget-forever.ts'), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: child.stdout }).on('line', (line) => lines.saw(line));
  const closed = once(child, 'close');
  await lines.until('it forgets', (seen) => {
    const done = seen.filter((line) => line.startsWith('round ')).length;
    return done > round || (done === round && seen.at(-1)?.startsWith('told ') === true);
  });
  child.kill('SIGKILL');
  await closed;
  // The last line may be half of one.
  return lines.seen.filter((line) => /^told \S+ \S+ \.$/.test(line));
}

/** The ids of what the log says of each delivery. */
type Told = Map<string, Set<string>>;
function add(told: Told, line: string): void {
  const [, delivery = '', outcome = ''] = line.split(' ');
  told.set(delivery, (told.get(delivery) ?? new Set()).add(outcome));
}

async function sent(ledger: DeliveryLedger): Promise<readonly Delivery[]> {
  const found: Delivery[] = [];
  for (let page = await ledger.list({ states: ['SENT'] }, 500); ;) {
    found.push(...page.items);
    if (page.next === null) return found;
    page = await ledger.list({ states: ['SENT'] }, 500, page.next);
  }
}

const leftIn = (ledger: DeliveryLedger): Promise<readonly Delivery[]> =>
  ledger.unpublished(Number.MAX_SAFE_INTEGER, 10_000);

/** Until a kill has left some that were told and not forgotten: the sweeper tells of them again, under the same ids. */
async function nothingIsLost(room: Room): Promise<void> {
  const told: Told = new Map();
  let toldAgain = 0;
  for (let kills = 0; kills < MAX_KILLS && toldAgain === 0; kills += 1) {
    for (const line of await killedWhileForgetting(room, kills % 3)) add(told, line);
    const opened = await room.open();
    const { ledger } = opened;
    const left = await leftIn(ledger);
    toldAgain += left.filter(({ id }) => told.has(id)).length;
    await publishOutcomes(
      left,
      tellingOn(ledger, (line) => add(told, line)),
    );
    expect(await leftIn(ledger)).toEqual([]);
    const moved = await sent(ledger);
    expect(moved.length).toBeGreaterThan(0);
    expect(moved.filter(({ id }) => told.get(id)?.size !== 1)).toEqual([]);
    await opened.close();
  }
  expect(toldAgain).toBeGreaterThan(0);
}

describe('A process that is killed while it forgets what it has told', () => {
  it(
    'loses no outcome, and leaves what it had not forgotten to the sweeper under the same ids: on one machine',
    async () => {
      const folder = await temporaryFolder();
      const words = ['embedded', folder.path];
      await nothingIsLost({ words, open: () => openEmbedded({ dataDir: folder.path, clock: systemClock }) });
      await folder.remove();
    },
    TAKES,
  );
});

describeWith(
  'mongodb',
  'A process that is killed while it forgets what it has told, over the protocol of MongoDB,',
  () => {
    it(
      'loses no outcome, and leaves what it had not forgotten to the sweeper under the same ids',
      async () => {
        const { url } = await sharedServer('mongodb');
        const database = freshName('carillon-test-forgetting');
        const open = () => openMongo({ url, database, clock: systemClock, patience: 20_000, silence: 30_000 });
        await nothingIsLost({ words: ['mongodb', url, database], open });
      },
      TAKES,
    );
  },
);
