import type { SentToPerson } from '@carillon/domain/cadence';
import { takeOver, type Consents } from '@carillon/domain/consent';
import type { Moment } from '@carillon/domain/deliveries';
import {
  concernsDelivery,
  eraseAsking,
  eraseDelivery,
  eraseJobItems,
  eraseState,
  isEntryOf,
  isHashedName,
  isUndecided,
  renamedConsents,
  wordsName,
  type ErasurePlace,
} from '@carillon/domain/erasures';
import { formatMemory, nextDueOf, waitsOf } from '@carillon/domain/rules';
import { parseJson, stringifyJson } from '@carillon/kernel';
import {
  readTaskQueue,
  type AnyCollection,
  type DocumentCollection,
  type Documents,
  type ErasureSteps,
  type ErasureWork,
  type FoundEntry,
  type FoundPage,
  type InboxMessage,
} from '@carillon/ports';
import type { Db } from 'mongodb';
import type { Attempt } from '../attempts.ts';
import { collectionsOf, type Collections } from '../collections.ts';
import { compareAndSet, insertOnce } from '../compare-and-set.ts';
import { keyOf, type SuppressionDocument, type TaskDocument } from '../documents.ts';
import { fieldsOf, readDelivery } from '../stores/delivery-fields.ts';
import { changeUnwritten, scanDocuments } from './scan-documents.ts';

/** Empties the stores of a person, and what of them says something about erased records. */
export type StoreEraser = Pick<ErasureSteps, 'entries'> & {
  /** Empties samples of fields of the streams of erased records, and dismisses dead letters whose records are among them. */
  forgetRecords(page: FoundPage, moment: Pick<Moment, 'now'>): Promise<void>;
};

type Erasing = {
  readonly db: Db;
  readonly collections: Collections;
  readonly documents: Documents;
  /** Collections of `documents`, by name. */
  readonly declared: ReadonlyMap<string, AnyCollection>;
  readonly attempt: Attempt;
  readonly pause: () => Promise<unknown>;
};

type Found = AsyncGenerator<readonly FoundEntry[]>;
type Scan = (erasing: Erasing, work: ErasureWork, moment: Moment) => Found;

const entry = (
  place: ErasurePlace,
  key: string,
  erase: () => Promise<unknown>,
  undecided: string | null = null,
): FoundEntry => ({
  place,
  key,
  undecided,
  async erase() {
    await erase();
  },
});

const scanDeliveries: Scan = (
  { collections: { deliveries }, attempt, pause },
  { matcher, takesUndecided = false },
  moment,
) =>
  scanDocuments(deliveries, attempt, pause, (document) => {
    if (!matcher.covers(document.workspace)) return null;
    const delivery = readDelivery(document);
    if (!concernsDelivery(delivery, matcher)) return null;
    const undecided = isUndecided(delivery) && !takesUndecided ? delivery.id : null;
    const erase = (): Promise<unknown> => {
      const next = eraseDelivery(delivery, matcher, moment);
      // Unlike every move, it changes the slot that lists show. The id, which is the hash of the slot, stays.
      const fields = { ...fieldsOf(next), uniqueId: next.slot.uniqueId, body: undefined };
      return compareAndSet(deliveries, attempt, delivery.id, next.version, fields);
    };
    return entry('deliveries', delivery.id, erase, undecided);
  });

const scanStates: Scan = ({ collections: { ruleStates }, attempt, pause }, work) =>
  scanDocuments(ruleStates, attempt, pause, ({ _id, offset, data, erasures = 0 }) => {
    const erased = eraseState(data, offset, work);
    if (erased === null) return null;
    const waits = erased === 'removed' ? [] : waitsOf(erased);
    const nextDue = erased === 'removed' ? null : nextDueOf(erased);
    const left = { data: erased === 'removed' ? '' : formatMemory(erased), erasures: erasures + 1 };
    const gone = { ...(waits.length === 0 && { waits: '' }), ...(nextDue === null && { nextDue: '' }) };
    const change = {
      $set: { ...left, ...(waits.length > 0 && { waits }), ...(nextDue !== null && { nextDue }) },
      ...(Object.keys(gone).length > 0 && { $unset: gone }),
    };
    return entry('rule_states', _id, () => changeUnwritten(ruleStates, attempt, { _id, offset, data }, change));
  });

const scanTasks: Scan = ({ collections: { tasks }, attempt, pause }, { matcher, takesUndecided = false }, { now }) =>
  scanDocuments<TaskDocument>(tasks, attempt, pause, ({ _id, kind, version, leaseUntil, done, data }) => {
    const erased = matcher.covers(readTaskQueue(kind).workspace) ? eraseAsking(parseJson(data), matcher) : null;
    if (!erased) return null;
    const isAsking = !done && !takesUndecided && (leaseUntil ?? 0) > now;
    const ended = { done: true, leaseUntil: null, nextAt: now, endedAt: now, dueAt: undefined, overdueAt: undefined };
    const fields = { ...ended, data: stringifyJson(erased) };
    const erase = (): Promise<unknown> => compareAndSet(tasks, attempt, _id, version + 1, fields);
    return entry('lookup_tasks', _id, erase, isAsking ? _id : null);
  });

const scanSuppressions: Scan = ({ collections: { suppressions }, attempt, pause }, { matcher }) =>
  scanDocuments<SuppressionDocument>(suppressions, attempt, pause, (found) => {
    const { _id, workspace, channel, source, address } = found;
    if (!matcher.covers(workspace) || isHashedName(address) || !matcher.isPerson(address)) return null;
    const under = matcher.nameInstead(address);
    const renamed = { ...found, _id: keyOf(workspace, channel, under, source), address: under, detail: '' };
    return entry('suppressions', _id, () =>
      attempt(async () => {
        // The new entry comes first, so that the address is suppressed all the time.
        await insertOnce(suppressions, renamed);
        await suppressions.deleteOne({ _id });
      }),
    );
  });

/** A collection of `documents` with its items, in the order of their keys. */
async function* scanItems<Item>(
  name: string,
  { declared, documents, pause }: Erasing,
  judge: (item: Item, stored: DocumentCollection<Item>) => FoundEntry | null,
): Found {
  const collection = declared.get(name);
  if (!collection) throw new Error(`there is no collection ${name}`);
  const stored = documents.collection<Item>(collection);
  for (let cursor: string | undefined; ;) {
    const { items, next } = await stored.page({ order: 'ascending' }, 200, cursor);
    const found = items.flatMap((item) => judge(item, stored) ?? []);
    if (found.length > 0) yield found;
    if (next === null) return;
    cursor = next;
    await pause();
  }
}

const scanLimits: Scan = (erasing, { matcher }) =>
  scanItems<SentToPerson>('limit_entries', erasing, (item, stored) => {
    const { workspace, person, revision } = item;
    if (!matcher.covers(workspace) || !isEntryOf(person, item, matcher)) return null;
    return entry('limits', keyOf(workspace, person), () => stored.remove([workspace, person], revision));
  });

const scanOptOuts: Scan = (erasing, { matcher }) =>
  scanItems<Consents>('consents', erasing, (item, stored) => {
    const { workspace, person, version } = item;
    if (!matcher.covers(workspace) || isHashedName(person) || !matcher.isPerson(person)) return null;
    const renamed = renamedConsents(item, matcher);
    return entry('opt_outs', keyOf(workspace, person), async () => {
      const before = await stored.get([workspace, renamed.person]);
      const next = before === null ? { ...renamed, version: 1 } : takeOver(before, renamed);
      // The new entry comes first, so that the person is opted out all the time. If it was written meanwhile, the next pass renames the rest.
      if (next && (await stored.write(next, before?.version ?? null)) !== 'done') return;
      await stored.remove([workspace, person], version);
    });
  });

const scanInbox: Scan = (erasing, { matcher }) =>
  scanItems<InboxMessage>('inbox', erasing, (item, stored) =>
    matcher.covers(item.workspace) && isEntryOf(item.message.to, item.message, matcher)
      ? entry('inbox', item.id, () => stored.remove([item.id]))
      : null,
  );

const scanSamples: Scan = ({ collections: { fields }, attempt, pause }, { matcher }) =>
  scanDocuments(fields, attempt, pause, ({ _id, workspace, sample }) => {
    if (typeof sample !== 'string' || !matcher.covers(workspace)) return null;
    if (!wordsName(sample, matcher) && !matcher.isPerson(sample)) return null;
    return entry('field_samples', _id, () =>
      changeUnwritten(fields, attempt, { _id, sample }, { $set: { sample: null } }),
    );
  });

const scanErrors: Scan = ({ collections: { evaluations }, attempt, pause }, { matcher, isErasedEvent }) =>
  scanDocuments(evaluations, attempt, pause, ({ _id, workspace, sampleEventId, sampleError }) => {
    if (sampleError === null || !matcher.covers(workspace)) return null;
    if (!isErasedEvent(sampleEventId) && !wordsName(sampleError, matcher)) return null;
    const change = { $set: { sampleError: null } };
    return entry('rule_errors', _id, () => changeUnwritten(evaluations, attempt, { _id }, change));
  });

const scanLetters: Scan = ({ collections: { deadLetters }, attempt, pause }, { matcher }) =>
  scanDocuments(deadLetters, attempt, pause, ({ _id, workspace, reason, receipt }) => {
    if (workspace !== null && !matcher.covers(workspace)) return null;
    if (!wordsName(reason, matcher) && !matcher.mentions(stringifyJson(receipt ?? null))) return null;
    const change = { $set: { reason: 'erased', receipt: null } };
    return entry('dead_letters', _id, () => changeUnwritten(deadLetters, attempt, { _id }, change));
  });

async function* scanMembers({ collections, attempt, pause }: Erasing, { matcher }: ErasureWork): Found {
  const { cohorts, cohortMembers } = collections;
  const known = await attempt(() => cohorts.find({}, { projection: { workspace: 1 } }).toArray());
  const workspaces = new Map(known.map(({ _id, workspace }) => [_id, workspace]));
  yield* scanDocuments(cohortMembers, attempt, pause, ({ _id, cohortId, user }) =>
    matcher.isPerson(user) && matcher.covers(workspaces.get(cohortId) ?? null)
      ? entry('cohort_members', _id, () => attempt(() => cohortMembers.deleteOne({ _id })))
      : null,
  );
}

type JobDocument = { readonly _id: string; readonly workspace?: string; readonly items?: string };
const scanJobs: Scan = ({ db, attempt, pause }, { matcher }) => {
  const jobs = db.collection<JobDocument>('jobs');
  return scanDocuments<JobDocument>(jobs, attempt, pause, ({ _id, workspace, items = '[]' }) => {
    if (workspace !== undefined && !matcher.covers(workspace)) return null;
    const erased = eraseJobItems(parseJson(items), matcher);
    const change = { $set: { items: stringifyJson(erased ?? []) } };
    return erased && entry('job_items', _id, () => changeUnwritten(jobs, attempt, { _id, items }, change));
  });
};

/** Every collection that holds something of the people who are notified. */
const SCANS: readonly Scan[] = [
  scanDeliveries,
  scanLimits,
  scanStates,
  scanTasks,
  scanSuppressions,
  scanOptOuts,
  scanInbox,
  scanSamples,
  scanErrors,
  scanLetters,
  scanMembers,
  scanJobs,
];

export function createStoreEraser(
  db: Db,
  attempt: Attempt,
  {
    documents,
    declared,
    pause,
  }: {
    readonly documents: Documents;
    readonly declared: readonly AnyCollection[];
    readonly pause: () => Promise<unknown>;
  },
): StoreEraser {
  const collections = collectionsOf(db);
  const byName = new Map(declared.map((collection) => [collection.name, collection]));
  const erasing: Erasing = { db, collections, documents, declared: byName, attempt, pause };
  return {
    async *entries(work, moment) {
      for (const scan of SCANS) yield* scan(erasing, work, moment);
    },
    async forgetRecords({ topic, partition, records, streams }, { now }) {
      const { fields, deadLetters } = collections;
      if (streams.length > 0) {
        const ofStreams = { stream: { $in: [...streams] }, sample: { $ne: null } };
        await attempt(() => fields.updateMany(ofStreams, { $set: { sample: null } }));
      }
      if (topic !== 'carillon.dead-letters') return;
      const own = { ownPartition: partition, ownOffset: { $in: records.map(({ offset }) => offset) } };
      await attempt(() => deadLetters.updateMany(own, { $set: { reason: 'erased', receipt: null } }));
      const open = { ...own, dismissedAt: null };
      await attempt(() => deadLetters.updateMany(open, { $set: { dismissedAt: now, dismissedBy: 'erasure' } }));
    },
  };
}
