import { join } from 'node:path';
import { beginAttempt, openDelivery, type Delivery } from '@carillon/domain/deliveries';
import {
  closeWindow,
  collectFor,
  digestItem,
  emptyHead,
  itemOf,
  knownListed,
  listItem,
  type Collected,
  type DigestHead,
} from '@carillon/domain/digests';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import { COLLECTIONS, createStores, type DocumentStores } from '@carillon/stores';
import { givenIntent, MORNING } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, restoreBackup, type Embedded } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

const HOUR = 3_600_000;
const HEAD = 'dgh_1';
const moment = { now: MORNING, derive: (...parts: readonly string[]) => parts.join('/') };
const idOf = (name: string): DeliveryId => `dlv_${name}` as DeliveryId;

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());
const at = (name: string): string => join(folder.path, name);

type Data = Embedded & DocumentStores;

async function within<Answer>(name: string, work: (data: Data) => Promise<Answer>): Promise<Answer> {
  const data = await openEmbedded({ dataDir: at(name), clock: wallClock, collections: COLLECTIONS });
  try {
    await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint: 'finger' });
    return await work({ ...data, ...createStores(data.documents) });
  } finally {
    await data.close();
  }
}

const waiting = (name: string): Delivery =>
  openDelivery(givenIntent(name, { uniqueId: name }), 'carillon.intents/0@0', idOf(name), moment);

function must<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('it can');
  return value;
}

/** Collects a message for the open window of the head, and has it listed there. */
async function collect({ ledger, digestHeads }: Data, name: string): Promise<Delivery> {
  const before = await digestHeads.get(HEAD);
  const first = waiting(name);
  const head = before ?? emptyHead(HEAD, first.slot);
  const collected: Collected = { head: HEAD, n: head.n, token: `token-${name}` };
  const item = must(collectFor(first, collected, 'for a digest', moment));
  await ledger.insert([first]);
  expect(await ledger.replace(item)).toBe('done');
  const opened = { closesAt: MORNING + HOUR, slide: null };
  const listing = listItem(head, itemOf({ ...item, collected }), head.n, { opened, maxItems: 100 }, MORNING);
  if (listing.kind !== 'listed') throw new Error(listing.kind);
  expect(await digestHeads.replace(listing.next)).toBe('done');
  const listed = must(knownListed(item, collected.token));
  expect(await ledger.replace(listed)).toBe('done');
  return listed;
}

/** Closes the window, as its time has come, and begins to empty it: its digest is not there yet. */
async function beginToEmpty({ ledger, digestHeads }: Data, items: readonly Delivery[]): Promise<void> {
  const closed = must(closeWindow((await digestHeads.get(HEAD)) as DigestHead, 0, MORNING));
  expect(await digestHeads.replace(closed)).toBe('done');
  for (const item of items) {
    const emptied = digestItem(item, itemOf(item as never), idOf('digest'), moment);
    if (emptied.kind !== 'digested') throw new Error(emptied.kind);
    expect(await ledger.replace(emptied.next)).toBe('done');
  }
}

const stateOf = async ({ ledger }: Data, name: string) => (await ledger.get(idOf(name)))?.state;

describe('a restore of data in which messages wait for a digest', () => {
  it('keeps the messages waiting in their window', async () => {
    const before = await within('data', async (data) => {
      await collect(data, 'one');
      await collect(data, 'two');
      await data.backup(at('copy.backup'));
      return data.digestHeads.get(HEAD);
    });
    expect(
      await restoreBackup(at('copy.backup'), at('new'), { moment, collections: COLLECTIONS, readers: [] }),
    ).toMatchObject({ waiting: 2 });
    await within('new', async (data) => {
      expect(await data.digestHeads.get(HEAD)).toEqual(before);
      expect(await data.digestHeads.nextDueAt(MORNING + HOUR)).toBe(MORNING + HOUR);
      expect([await stateOf(data, 'one'), await stateOf(data, 'two')]).toEqual(['COLLECTED', 'COLLECTED']);
    });
  });

  it('cancels the messages on request with the other unsent ones, also those whose digest was about to be made', async () => {
    await within('data', async (data) => {
      await beginToEmpty(data, [await collect(data, 'moved')]);
      await collect(data, 'listed');
      await data.backup(at('copy.backup'));
    });
    const options = { moment, collections: COLLECTIONS, readers: [], cancelUnsent: true };
    expect(await restoreBackup(at('copy.backup'), at('new'), options)).toMatchObject({ cancelled: 2, waiting: 0 });
    await within('new', async (data) =>
      expect([await stateOf(data, 'listed'), await stateOf(data, 'moved')]).toEqual(['CANCELLED', 'CANCELLED']),
    );
  });

  it('copies from the newer data which messages were sent in digests, and not those still waiting', async () => {
    await within('data', async (data) => {
      await data.ledger.insert([waiting('unrelated')]);
      await data.backup(at('copy.backup'));
      await beginToEmpty(data, [await collect(data, 'told')]);
      const start = { attemptId: 'att_1' as AttemptId, token: 't', account: 'main', leaseUntil: MORNING + 1_000 };
      await data.ledger.insert([must(beginAttempt(waiting('digest'), start, moment))]);
      await collect(data, 'waits');
    });
    const restored = await restoreBackup(at('copy.backup'), at('new'), {
      moment,
      collections: COLLECTIONS,
      readers: [],
      newer: at('data'),
    });
    expect(restored.carriedOver).toMatchObject({ deliveries: 2, leftWaiting: 1 });
    await within('new', async (data) =>
      expect([await stateOf(data, 'told'), await stateOf(data, 'digest'), await stateOf(data, 'waits')]).toEqual([
        'DIGESTED',
        'SENDING',
        undefined,
      ]),
    );
  });
});
