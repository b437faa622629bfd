import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SentToPerson } from '@carillon/domain/cadence';
import { BASE_GONE, type Draft } from '@carillon/domain/configuration';
import type { Consents } from '@carillon/domain/consent';
import { beginAttempt, openDelivery, type Delivery } from '@carillon/domain/deliveries';
import { newJob, type Job } from '@carillon/domain/jobs';
import { isCarillonError, type AttemptId, type DeliveryId, type JobId, type TriggerId } from '@carillon/kernel';
import { MESSAGE_CLAIM, text, type Collection, type ErasureWork } from '@carillon/ports';
import { COLLECTIONS, createStores, type DocumentStores } from '@carillon/stores';
import { logRecord } from '@carillon/testing';
import { givenIntent, MORNING } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, restoreBackup, type Embedded, type Restored, type RestoreOptions } from '../src/index.ts';
import { DELIVERIES_INTENT_APART } from '../src/schema/deliveries.ts';
import { MIGRATIONS } from '../src/schema/migrations.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const at = (name: string): string => join(folder.path, name);
const moment = { now: MORNING, derive: (...parts: readonly string[]) => parts.join('/') };
const options: RestoreOptions = {
  moment,
  collections: COLLECTIONS,
  readers: [['engine', 'carillon.events']],
};

async function within<Answer>(
  name: string,
  work: (data: Embedded & DocumentStores) => Promise<Answer>,
): Promise<Answer> {
  const data = await openEmbedded({ dataDir: at(name), clock: wallClock, collections: COLLECTIONS });
  try {
    await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint: 'finger' });
    return await work({ ...data, ...createStores(data.documents) });
  } finally {
    await data.close();
  }
}

const delivery = (name: string): Delivery =>
  openDelivery(givenIntent(name, { uniqueId: name }), 'carillon.intents/0@0', `dlv_${name}` as DeliveryId, moment);

const draft = (name: string, revision: string, basedOn: number | null = null): Draft => ({
  ref: { kind: 'template', workspace: 'shop', name },
  body: { email: {} },
  basedOn,
  revision,
  begun: 'r0',
  by: { kind: 'person', id: 'per_ada' },
  at: MORNING,
});

const job = (action: string): Job =>
  newJob(
    {
      id: `job_${action}` as JobId,
      workspace: 'shop',
      work: { action },
      by: { kind: 'person', id: 'per_ada' },
      byName: 'ada',
      from: { address: '127.0.0.1', userAgent: null },
      requestId: 'req_1',
      of: 0,
    },
    MORNING,
  );

function sending(before: Delivery): Delivery {
  const start = { attemptId: 'att_1' as AttemptId, token: 't1', account: 'main', leaseUntil: MORNING + 30_000 };
  const begun = beginAttempt(before, start, moment);
  if (!begun) throw new Error('it begins');
  return begun;
}

/** Writes a file as the last version wrote it that had the intent of a delivery within its document. */
function asBeforeIntentsStoodApart(file: string): void {
  const db = new DatabaseSync(file);
  db.exec(`
    UPDATE deliveries SET document = json_set(document, '$.intent',
      json((SELECT intent FROM delivery_intents WHERE place = deliveries.intent_place)));
    ALTER TABLE deliveries DROP COLUMN intent_place;
    DROP INDEX deliveries_phase;
    DROP INDEX deliveries_slot;
    ALTER TABLE deliveries DROP COLUMN phase;
    CREATE UNIQUE INDEX deliveries_slot ON deliveries (workspace, notification_id, channel, unique_id);
    CREATE INDEX deliveries_state ON deliveries (workspace, state, created_at, id, notification, person);
    CREATE INDEX deliveries_unique_id ON deliveries (unique_id, created_at, id);
    DROP TABLE delivery_intents;
    ALTER TABLE field_rows DROP COLUMN tables;
    DROP TABLE called_off_jobs;
    DROP TABLE rule_waits;
    ALTER TABLE rule_states DROP COLUMN waits;
    DROP INDEX rule_states_forgotten;
    ALTER TABLE rule_states DROP COLUMN forget_at;
    PRAGMA user_version = ${MIGRATIONS.indexOf(DELIVERIES_INTENT_APART)};
  `);
  db.close();
}

const refusal = (restored: Promise<Restored>): Promise<string> =>
  restored.then(
    () => 'restored',
    (error: unknown) => (isCarillonError(error) ? `${error.code}: ${error.detail}` : String(error)),
  );

describe('a restore of a data folder', () => {
  beforeEach(() =>
    within('data', async (data) => {
      await data.log.append([logRecord('one'), logRecord('two'), logRecord('three', { partition: 1 })]);
      const place = { group: 'engine', topic: 'carillon.events', partition: 0, logId: data.log.logId } as const;
      await data.checkpoints.save({ ...place, next: 1, watermark: 0, configNumber: -1 });
      await data.log.append([logRecord('entered', { topic: 'carillon.cohorts', partition: 2 })]);
      await data.ledger.insert([delivery('waits'), delivery('calls')]);
      await data.ledger.replace(sending(delivery('calls')));
      for (const name of ['kept', 'ours']) await data.drafts.replace(draft(name, 'r1'), null);
      for (const action of ['send_missing', 'backup']) await data.jobs.insert(job(action), []);
      await data.backup(at('copy.backup'));
    }),
  );

  it('reports unread records, waiting deliveries and running provider calls', async () => {
    const restored = await restoreBackup(at('copy.backup'), at('new'), options);
    expect(restored).toMatchObject({
      waiting: 1,
      sending: 1,
      doubts: 0,
      questions: 0,
      carriedOver: null,
      cancelled: null,
    });
    expect(restored.newestAt).toBeGreaterThan(0);
    expect(restored.unread).toEqual([
      { group: 'engine', topic: 'carillon.events', partition: 0, from: 1, to: 2 },
      { group: 'engine', topic: 'carillon.events', partition: 1, from: 0, to: 1 },
    ]);
    await within('new', async (data) =>
      expect([data.calledOffBelow.size, data.calledOffCohortsBelow.size, data.calledOffJobs.size]).toEqual([0, 0, 0]),
    );
  });

  it('lets nobody start the folder before the list of erased people is applied', async () => {
    const seen: boolean[] = [];
    const beforeReady = async (): Promise<void> => void seen.push(existsSync(join(at('new'), 'carillon.db')));
    await restoreBackup(at('copy.backup'), at('new'), { ...options, beforeReady });
    expect(seen).toEqual([false]);
    expect(existsSync(join(at('new'), 'carillon.db'))).toBe(true);
  });

  it('with the option to cancel leaves running calls in doubt, and cancels later messages of its events', async () => {
    const restored = await restoreBackup(at('copy.backup'), at('new'), { ...options, cancelUnsent: true });
    expect(restored).toMatchObject({ cancelled: 1, waiting: 0, sending: 0, doubts: 1 });
    await within('new', async ({ ledger, calledOffBelow, calledOffCohortsBelow, calledOffJobs }) => {
      expect(await ledger.get('dlv_waits' as DeliveryId)).toMatchObject({ state: 'CANCELLED', version: 2 });
      expect(await ledger.get('dlv_calls' as DeliveryId)).toMatchObject({ state: 'IN_DOUBT', clean: false });
      expect(await ledger.countByState()).toEqual({ CANCELLED: 1, IN_DOUBT: 1 });
      expect(calledOffBelow).toEqual(
        new Map([
          [0, 2],
          [1, 1],
        ]),
      );
      expect(calledOffCohortsBelow).toEqual(new Map([[2, 1]]));
      expect(calledOffJobs).toEqual(new Set(['job_send_missing']));
    });
  });

  it('copies from the newer ledger what an erasure left of a delivery', async () => {
    const ofPerson: ErasureWork = {
      matcher: {
        covers: () => true,
        isPerson: (name) => name === delivery('waits').intent.person,
        mentions: () => false,
        nameInstead: (name) => `hashed:${name}`,
      },
      isOfPerson: () => false,
      isEntityOfPerson: () => false,
      isErasedEvent: () => false,
      takesUndecided: true,
      judge: async () => null,
    };
    await within('data', async ({ erasure }) => {
      for await (const entries of erasure.entries(ofPerson, moment)) for (const entry of entries) await entry.erase();
    });
    await restoreBackup(at('copy.backup'), at('new'), { ...options, newer: at('data') });
    const file = new DatabaseSync(join(at('new'), 'carillon.db'));
    const columns = 'deliveries.person, recipient, unique_id, intent';
    const rows = file
      .prepare(`SELECT ${columns} FROM deliveries JOIN delivery_intents ON place = intent_place WHERE id = 'dlv_waits'`)
      .all();
    file.close();
    expect(rows).toMatchObject([{ person: 'erased', recipient: null, unique_id: 'erased dlv_waits' }]);
    expect(String(rows[0]?.['intent'])).toContain('erased dlv_waits');
  });

  it('copies the newer ledger except its waiting deliveries, and counts lost records', async () => {
    const bounced = { workspace: 'shop', channel: 'email', source: 'hard_bounce', detail: '550', at: MORNING } as const;
    const target = { kind: 'all' } as const;
    const word = { id: 'cns_1', workspace: 'shop', person: 'ada', target, channel: null, optedOut: true } as const;
    const optedOut: Consents = {
      workspace: 'shop',
      person: 'ada',
      version: 1,
      words: [{ ...word, way: 'page', at: MORNING }],
      unpublished: [],
      updatedAt: MORNING,
    };
    const place = { deliveryId: 'dlv_1' as DeliveryId, triggerId: 'trg_1' as TriggerId, notificationId: 'ntf_paid' };
    const entry = { ...place, token: 't', category: null, channel: 'email', at: MORNING, sure: true } as const;
    const sent: SentToPerson = {
      workspace: 'shop',
      person: 'ada',
      revision: 'r',
      entries: [entry],
      keptUntil: MORNING,
    };
    const people = { version: 1, key: null, of: null, endsAt: null } as const;
    const link = { digest: 'd', endsAt: MORNING, personId: null };
    const roster = { ...people, kind: 'roster', id: 'roster', body: { owners: ['per_1'], link } } as const;
    const guesses = { ...people, kind: 'guesses', id: 'g', body: { count: 1, since: MORNING } } as const;
    const message = { triggerId: `${MESSAGE_CLAIM}rct_1`, position: 'carillon.receipts/0@0', at: MORNING };
    await within('data', async ({ ledger, log, suppressions, claims, consents, limits, people: kept, drafts }) => {
      await claims.claim([message, { ...message, triggerId: 'trg_1' }]);
      expect(await kept.replace(roster)).toBe('done');
      expect(await kept.replace(guesses)).toBe('done');
      for (const one of [draft('kept', 'r2'), draft('gone', 'r1', 7), draft('new', 'r1', null)])
        await drafts.replace(one, one.ref.name === 'kept' ? 'r1' : null);
      await limits.replace(sent, null);
      await consents.replace(optedOut);
      await suppressions.add({ ...bounced, address: 'gone@example.com', deliveryId: null });
      await log.append([logRecord('four', { partition: 1 })]);
      await ledger.replace(sending(delivery('waits')));
      await ledger.insert([delivery('later'), sending(delivery('late'))]);
    });
    const restored = await restoreBackup(at('copy.backup'), at('new'), { ...options, newer: at('data') });
    expect(restored).toMatchObject({ waiting: 0, sending: 3 });
    expect(restored.carriedOver).toEqual({
      deliveries: 2,
      leftWaiting: 1,
      suppressed: 1,
      consents: 1,
      drafts: 3,
      lost: [{ topic: 'carillon.events', partition: 1, from: 1, to: 2 }],
    });
    await within('new', async ({ ledger, suppressions, claims, consents, limits, people: kept, drafts }) => {
      expect((await claims.list('', 9)).items).toEqual([message]);
      expect((await kept.find('roster', 'roster'))?.body).toEqual({ owners: ['per_1'], link: null });
      expect(await kept.find('guesses', 'g')).toBeNull();
      const bases = (await drafts.list('shop', 9)).items.map(({ ref, revision, basedOn }) => [
        ref.name,
        revision,
        basedOn,
      ]);
      expect(bases.toSorted(([one], [other]) => String(one).localeCompare(String(other)))).toEqual([
        ['gone', 'r1', BASE_GONE],
        ['kept', 'r2', null],
        ['new', 'r1', null],
        ['ours', 'r1', null],
      ]);
      expect(await limits.find('shop', 'ada')).toEqual(sent);
      expect(await consents.find('shop', ['ada'])).toEqual([{ ...optedOut, unpublished: optedOut.words }]);
      expect(await suppressions.find('shop', 'email', 'gone@example.com')).toMatchObject(bounced);
      expect(await ledger.get('dlv_waits' as DeliveryId)).toMatchObject({ state: 'SENDING', token: 't1', version: 3 });
      expect(await ledger.get('dlv_later' as DeliveryId)).toBeNull();
      expect(await ledger.countByState()).toEqual({ SENDING: 3 });
    });
  });

  it('reads folders and backups of an early format', async () => {
    await within('data', async ({ ledger }) => {
      await ledger.replace(sending(delivery('waits')));
      await ledger.insert([sending(delivery('late'))]);
    });
    for (const file of [at('copy.backup'), join(at('data'), 'carillon.db')]) asBeforeIntentsStoodApart(file);
    const restored = await restoreBackup(at('copy.backup'), at('new'), { ...options, newer: at('data') });
    expect(restored.carriedOver).toMatchObject({ deliveries: 2 });
    await within('new', async ({ ledger }) => {
      for (const name of ['waits', 'late', 'calls']) {
        const { intent, state, token } = (await ledger.get(`dlv_${name}` as DeliveryId)) ?? {};
        expect([state, token]).toEqual(['SENDING', 't1']);
        // Its configuration is in the backup.
        expect(intent).toEqual({ ...delivery(name).intent, ...(name !== 'calls' && { configNumber: -1 }) });
      }
    });
    await restoreBackup(at('copy.backup'), at('calm'), { ...options, cancelUnsent: true });
    await within('calm', async ({ ledger }) =>
      expect(await ledger.countByState()).toEqual({ CANCELLED: 1, IN_DOUBT: 1 }),
    );
  });

  it('copies documents of a collection that the backup does not have', async () => {
    const notes: Collection<{ readonly id: string }> = {
      name: 'notes',
      key: ['id'],
      fields: { id: text(({ id }) => id) },
      restore: { carryOver: 'all' },
    };
    const collections = [...COLLECTIONS, notes];
    const newer = await openEmbedded({ dataDir: at('data'), clock: wallClock, collections });
    await newer.documents.collection(notes).write({ id: 'one' }, null);
    await newer.close();
    await restoreBackup(at('copy.backup'), at('new'), { ...options, collections, newer: at('data') });
    const restored = await openEmbedded({ dataDir: at('new'), clock: wallClock, collections });
    expect(await restored.documents.collection(notes).get(['one'])).toEqual({ id: 'one' });
    await restored.close();
  });

  it('refuses a newer folder that is empty, in use, of another deployment, or older than the backup', async () => {
    const over = (newer: string) => refusal(restoreBackup(at('copy.backup'), at('new'), { ...options, newer }));
    expect(await over(at('nowhere'))).toMatch(/^wrong_usage: there is no carillon.db/);
    await within('data', async () => expect(await over(at('data'))).toMatch(/^data_locked: /));
    await within('other', async () => undefined);
    expect(await over(at('other'))).toMatch(/^wrong_usage: .* another deployment/);
    await restoreBackup(at('copy.backup'), at('old'), options);
    await within('data', async (data) => {
      await data.log.append([logRecord('four')]);
      await data.backup(at('newest.backup'));
    });
    expect(await refusal(restoreBackup(at('newest.backup'), at('new'), { ...options, newer: at('old') }))).toMatch(
      /^wrong_usage: .* is older than the backup/,
    );
  });
});
