import { TOPICS } from '@carillon/contracts';
import { ERASURE_PLACES } from '@carillon/domain/erasures';
import type { EventLog } from '@carillon/ports';
import type { Stores } from '@carillon/stores';
import { describe, expect, it } from 'vitest';
import {
  withAskingFailpoints,
  withErasureFailpoints,
  withFailpoints,
  withListenerFailpoints,
  withReceiptFailpoints,
  withSendingFailpoints,
} from './fallible-ports.ts';
import { ERASURE_STEPS, FAILPOINT_PLACES } from './places.ts';

type Ports = Stores & { readonly log: EventLog };
/** What a method is called with, and the place where it fails. */
type Fallible = readonly [place: string, ...given: unknown[]];
/** Why a method has no place. */
type Infallible =
  | 'reads'
  | 'at the start and the end, when nothing is under way'
  | 'a sender’s own'
  | 'a mark of an operator, and nothing goes by it'
  | 'who may use the deployment, and nothing that is sent goes by it'
  | 'takes away what nothing is read from any more, and is done again'
  | 'the topic has it first, and the store gets it again'
  | 'what somebody prepares, and nothing goes by it'
  | 'cut off at each write by the tests of the runner of jobs'
  | 'a repetition of a request that was cut off is refused'
  | 'cut off at each write by the tests of the rotation'
  | 'a run writes its own result, and nothing that is sent goes by it'
  | 'cut off at each write by the proof of sources';
/** Every method of every port: a new one has to say here where it fails, or why it does not. */
type Table = { readonly [Port in keyof Ports]: Readonly<Record<keyof Ports[Port], Infallible | readonly Fallible[]>> };

const moveTo = (state: string): Fallible => [
  `delivery.${state.toLowerCase().replace('_', '-')}`,
  { state, attempts: [{ startedAt: 1 }], updatedAt: 1 },
];
const checkpointOf = (group: string): Fallible => [`${group}.checkpoint`, { group }];

const TABLE: Table = {
  log: {
    append: [
      ...TOPICS.map((topic): Fallible => [`${topic.slice('carillon.'.length)}.append`, [{ topic }]]),
      ['ticks.append', [{ topic: 'carillon.events', headers: { kind: 'tick' } }]],
    ],
    logId: 'reads',
    partitions: 'reads',
    bounds: 'reads',
    cut: 'takes away what nothing is read from any more, and is done again',
    read: 'reads',
    consume: 'reads',
  },
  checkpoints: { load: 'reads', save: ['engine', 'delivery', 'control'].map(checkpointOf) },
  ruleStates: {
    load: 'reads',
    due: [['rule-states.due']],
    earliestDue: 'reads',
    list: 'reads',
    waiting: 'reads',
    save: [['rule-states.save']],
    sweep: 'takes away what nothing is read from any more, and is done again',
    remove: 'takes away what nothing is read from any more, and is done again',
  },
  cohorts: {
    load: 'reads',
    members: 'reads',
    outdated: 'reads',
    count: 'reads',
    list: 'reads',
    save: [['cohort.save']],
    saveMembers: [['cohort.members']],
  },
  tasks: {
    insert: [['task.insert']],
    replace: [
      ['task.replace', 1, { done: false }],
      ['task.finish', 1, { done: true }],
    ],
    dueQueues: 'reads',
    due: 'reads',
    overdue: 'reads',
    get: 'reads',
  },
  claims: { claim: [['lookup.claim']], get: 'reads', list: 'reads' },
  ledger: {
    insert: [
      ['delivery.insert', [{ intent: {} }]],
      ['digest.insert', [{ intent: { digest: {} } }]],
    ],
    replace: [
      ...['SENDING', 'SENT', 'WAITING', 'FAILED', 'IN_DOUBT', 'SUPPRESSED', 'EXPIRED', 'CANCELLED'].map(moveTo),
      ...['DELIVERED', 'BOUNCED', 'COMPLAINED', 'COLLECTED', 'DIGESTED'].map(moveTo),
      ['delivery.renewal', { state: 'SENDING', attempts: [{ startedAt: 1 }], updatedAt: 10_001 }],
    ],
    get: 'reads',
    many: 'reads',
    dueWorkspaces: 'reads',
    due: 'reads',
    nextDueAt: 'reads',
    waiting: 'reads',
    leaseExpired: 'reads',
    unlisted: 'reads',
    unpublished: 'reads',
    list: 'reads',
    byEvent: 'reads',
    countAddresses: 'reads',
    countOverTime: 'reads',
    countByNotification: 'reads',
    countPeople: 'reads',
    countByState: 'reads',
  },
  suppressions: {
    find: [['suppression.find']],
    add: [['suppression.add']],
    addAll: [['suppression.add']],
    sources: [['suppression.find']],
    remove: [['suppression.remove']],
    list: 'reads',
  },
  consents: {
    find: [['consent.find']],
    findHashed: [['consent.find']],
    replace: [['consent.write']],
    unpublished: 'reads',
    list: 'reads',
  },
  limits: {
    find: 'reads',
    replace: [
      ['limit.take', { entries: [{ token: 'new' }] }, null],
      ['limit.give-back', { entries: [] }, 'r'],
    ],
    list: 'reads',
  },
  digestHeads: {
    get: 'reads',
    replace: [
      ['digest.list', { closing: null, items: [{}] }],
      ['digest.close', { closing: {}, items: [] }],
      ['digest.empty', { closing: null, items: [] }],
    ],
    dueWorkspaces: 'reads',
    due: 'reads',
    nextDueAt: 'reads',
    list: 'reads',
  },
  configurationStore: { identity: 'at the start and the end, when nothing is under way' },
  secretStore: {
    putSecret: [['secret.put']],
    removeSecret: [['secret.remove']],
    insertDataKey: 'cut off at each write by the tests of the rotation',
    rewrapDataKey: 'cut off at each write by the tests of the rotation',
    removeDataKey: 'cut off at each write by the tests of the rotation',
    secret: 'reads',
    secrets: 'reads',
    dataKeys: 'reads',
  },
  drafts: {
    find: 'reads',
    replace: 'what somebody prepares, and nothing goes by it',
    remove: 'what somebody prepares, and nothing goes by it',
    held: 'reads',
    revisions: 'reads',
    list: 'reads',
  },
  jobs: {
    insert: 'cut off at each write by the tests of the runner of jobs',
    get: 'reads',
    items: 'reads',
    replace: [['job.replace', {}]],
    unfinished: 'reads',
    list: 'reads',
    removeEnded: 'cut off at each write by the tests of the runner of jobs',
  },
  erasures: {
    insert: [['erasure.start']],
    get: 'reads',
    replace: [['erasure.end']],
    list: 'reads',
  },
  runs: {
    insert: 'a run writes its own result, and nothing that is sent goes by it',
    get: 'reads',
    edit: 'reads',
    replace: 'a run writes its own result, and nothing that is sent goes by it',
    list: 'reads',
    createdBefore: 'reads',
    addRows: 'a run writes its own result, and nothing that is sent goes by it',
    rows: 'reads',
    row: 'reads',
    addLookups: 'a run writes its own result, and nothing that is sent goes by it',
    lookups: 'reads',
    addFindings: 'a run writes its own result, and nothing that is sent goes by it',
    findings: 'reads',
    addText: 'a run writes its own result, and nothing that is sent goes by it',
    text: 'reads',
    texts: 'reads',
    removeText: 'a run writes its own result, and nothing that is sent goes by it',
    addEvents: 'a run writes its own result, and nothing that is sent goes by it',
    events: 'reads',
    removeRows: 'a run writes its own result, and nothing that is sent goes by it',
    removeSomeRows: 'a run writes its own result, and nothing that is sent goes by it',
    remove: 'a run writes its own result, and nothing that is sent goes by it',
  },
  idempotency: {
    begin: 'a repetition of a request that was cut off is refused',
    find: 'reads',
    finish: 'a repetition of a request that was cut off is refused',
    forget: 'a repetition of a request that was cut off is refused',
    removeEnded: 'a repetition of a request that was cut off is refused',
  },
  auditSeals: { keep: 'the topic has it first, and the store gets it again', list: 'reads', newest: 'reads' },
  leases: { acquire: [['lease.acquire']], release: 'at the start and the end, when nothing is under way' },
  readModels: {
    put: [['projection.put']],
    markRedriven: [['dead-letter.redrive']],
    markDismissed: 'a mark of an operator, and nothing goes by it',
    markReopened: 'a mark of an operator, and nothing goes by it',
    fields: 'reads',
    event: 'reads',
    eventsWithIds: 'reads',
    events: 'reads',
    duplicatesOfEvent: 'reads',
    duplicatesOfDelivery: 'reads',
    duplicates: 'reads',
    deadLetters: 'reads',
    deadLetter: 'reads',
    evaluations: 'reads',
  },
  sources: {
    load: 'reads',
    list: 'reads',
    advance: 'cut off at each write by the proof of sources',
    requestReset: 'cut off at each write by the proof of sources',
    remove: 'cut off at each write by the proof of sources',
  },
  inbox: { put: 'a sender’s own', get: 'reads', list: 'reads' },
  keyUses: { record: [['key-use.record']], lastUses: 'reads' },
  people: {
    find: 'reads',
    findByKey: 'reads',
    list: 'reads',
    replace: 'who may use the deployment, and nothing that is sent goes by it',
    remove: 'who may use the deployment, and nothing that is sent goes by it',
    removeOf: 'who may use the deployment, and nothing that is sent goes by it',
    removeEnded: 'who may use the deployment, and nothing that is sent goes by it',
  },
};

type Row = {
  readonly port: string;
  readonly method: string;
  readonly place: string | null;
  readonly given: readonly unknown[];
};
const METHODS = Object.entries(TABLE).flatMap(([port, methods]) =>
  Object.entries(methods as Readonly<Record<string, Infallible | readonly Fallible[]>>).flatMap(
    ([method, calls]): readonly Row[] =>
      typeof calls === 'string'
        ? [{ port, method, place: null, given: [] }]
        : calls.map(([place, ...given]) => ({ port, method, place, given })),
  ),
);

/** Ports of which each method answers at once, and the places that were reached on the way. */
function fixture(): {
  readonly ports: Record<string, Record<string, (...given: readonly unknown[]) => Promise<void>>>;
  readonly hits: string[];
} {
  const hits: string[] = [];
  const answering = new Proxy({}, { get: () => async () => undefined });
  const ports = new Proxy({}, { get: () => answering, ownKeys: () => [] });
  const points = { hit: async (name: string) => void hits.push(name) };
  return { ports: withFailpoints(ports as Ports, points) as never, hits };
}

describe('Failpoints stand around', () => {
  it.each(METHODS)('$port $method: $place', async ({ port, method, place, given }) => {
    const { ports, hits } = fixture();
    await ports[port]?.[method]?.(...given);
    expect(hits).toEqual(place === null ? [] : [`${place}.before`, `${place}.after`]);
  });

  it('calls of partners and providers', async () => {
    const hits: string[] = [];
    const points = { hit: async (name: string) => void hits.push(name) };
    await withAskingFailpoints({ ask: async () => ({}) } as never, points).ask({} as never);
    const [factory] = withSendingFailpoints([{ create: () => ({ send: async () => ({}) }) } as never], points);
    await factory?.create({} as never, {}, 'shop').send({} as never, {} as never);
    expect(hits).toEqual(['partner.call.before', 'partner.call.after', 'provider.send.before', 'provider.send.after']);
  });

  it('reports of providers and bounced mail', async () => {
    const hits: string[] = [];
    const points = { hit: async (name: string) => void hits.push(name) };
    await withReceiptFailpoints({ read: async () => ({}) } as never, points).read({} as never, {} as never, null);
    let take: (reading: never) => Promise<void> = async () => undefined;
    const listen = async (options: { take: typeof take }) => void (take = options.take);
    await withListenerFailpoints({ listen } as never, points).listen({ take: async () => undefined } as never);
    await take({} as never);
    expect(hits).toEqual(['receipt.read.before', 'receipt.read.after', 'listener.take.before', 'listener.take.after']);
  });

  it('the steps of an erasure, with one for each store', async () => {
    const hits: string[] = [];
    const points = { hit: async (name: string) => void hits.push(name) };
    const steps = withErasureFailpoints(
      {
        pauseConsumers: async () => () => undefined,
        eraseRecords: async () => undefined,
        async *entries() {
          yield ERASURE_PLACES.slice(1).map((place) => ({ place, erase: async () => undefined }));
        },
        finish: async () => undefined,
      } as never,
      points,
    );
    await steps.pauseConsumers();
    await steps.eraseRecords({} as never, {} as never);
    for await (const entries of steps.entries({} as never, {} as never)) {
      for (const entry of entries) await entry.erase();
    }
    await steps.finish();
    expect(hits).toEqual(ERASURE_STEPS.slice(1, -1).flatMap((step) => [`${step}.before`, `${step}.after`]));
  });

  it('no other place: every name in the list belongs to a port or a step', () => {
    const around = ['partner.call', 'provider.send', 'receipt.read', 'listener.take', ...ERASURE_STEPS];
    const places = new Set([...METHODS.flatMap(({ place }) => place ?? []), ...around]);
    expect([...places].toSorted()).toEqual([...FAILPOINT_PLACES].toSorted());
  });
});
