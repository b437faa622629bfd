import type { AuditSeal } from '@carillon/domain/audit';
import type { SentToPerson } from '@carillon/domain/cadence';
import type { Draft } from '@carillon/domain/configuration';
import type { Consents, ConsentEntry } from '@carillon/domain/consent';
import { emptyHead, type DigestHead } from '@carillon/domain/digests';
import { newJob, reported, type Job } from '@carillon/domain/jobs';
import type { PeopleRecord } from '@carillon/domain/people';
import type { DeliveryId, IntentId, JobId, LogId, TriggerId } from '@carillon/kernel';
import type { DataKey, InboxMessage, IdempotentRequest, SealedSecret } from '@carillon/ports';
import type { DocumentStores } from '@carillon/stores';

type Layout = { readonly row: Readonly<Record<string, unknown>>; readonly document: Readonly<Record<string, unknown>> };

/** An item, and how release a9ac6c3f laid it out in SQLite and MongoDB. MongoDB's `written` differs with each write. */
export type Released = Layout & {
  readonly table: string;
  readonly collection: string;
  readonly item: unknown;
  readonly write: (stores: DocumentStores) => Promise<unknown>;
  readonly read: (stores: DocumentStores) => Promise<unknown>;
};

const waiting: Job = newJob(
  {
    id: 'job_1' as JobId,
    workspace: null,
    work: { action: 'resend_deliveries' },
    by: { kind: 'person', id: 'per_ada' },
    byName: 'per_ada',
    from: { address: null, userAgent: null },
    requestId: 'req_1',
    of: 1,
  },
  10,
);
const ended: Job = reported({ ...waiting, id: 'job_2' as JobId, workspace: 'shop' }, [null], 20, null);
const jobs = [waiting, ended].map((job): Released => ({
  table: 'jobs',
  collection: 'jobs',
  item: job,
  row: {
    id: job.id,
    workspace: job.workspace,
    action: 'resend_deliveries',
    state: job.state,
    version: job.version,
    created_at: 10,
    ended_at: job.endedAt,
    document: JSON.stringify(job),
    items: '["one"]',
  },
  document: {
    _id: job.id,
    workspace: job.workspace,
    action: 'resend_deliveries',
    createdAt: 10,
    version: job.version,
    items: '["one"]',
    state: job.state,
    ...(job.endedAt === null ? { openSince: 10 } : { endedAt: job.endedAt }),
    body: JSON.stringify(job),
  },
  write: (stores) => stores.jobs.insert(job, ['one']),
  read: (stores) => stores.jobs.get(job.id),
}));

const secret: SealedSecret = {
  workspace: 'shop',
  name: 'SMTP',
  version: 3,
  dataKey: 'dk_1',
  sealed: 'v2.a.b.c',
  fingerprint: 'ABCD',
  updatedAt: 5,
  updatedBy: { kind: 'person', id: 'per_ada' },
};
const dataKey: DataKey = {
  id: 'dk_1',
  workspace: 'shop',
  generation: 2,
  revision: 1,
  wraps: [{ master: 'M1', wrapped: 'w1.a.b.c' }],
  madeAt: 4,
};
const secrets: readonly Released[] = [
  {
    table: 'secrets',
    collection: 'secrets',
    item: secret,
    row: {
      workspace: 'shop',
      name: 'SMTP',
      sealed: 'v2.a.b.c',
      fingerprint: 'ABCD',
      updated_at: 5,
      version: 3,
      data_key: 'dk_1',
      updated_by: '{"kind":"person","id":"per_ada"}',
    },
    document: { _id: '["shop","SMTP"]', ...secret },
    write: (stores) => stores.secretStore.putSecret(secret, null),
    read: (stores) => stores.secretStore.secret('shop', 'SMTP'),
  },
  {
    table: 'data_keys',
    collection: 'data_keys',
    item: [dataKey],
    row: {
      workspace: 'shop',
      generation: 2,
      id: 'dk_1',
      revision: 1,
      wraps: '[{"master":"M1","wrapped":"w1.a.b.c"}]',
      made_at: 4,
    },
    document: {
      _id: '["shop",2]',
      id: 'dk_1',
      workspace: 'shop',
      generation: 2,
      version: 1,
      wraps: dataKey.wraps,
      madeAt: 4,
    },
    write: (stores) => stores.secretStore.insertDataKey(dataKey),
    read: (stores) => stores.secretStore.dataKeys(),
  },
];

const seal: AuditSeal = { since: 6, through: 7, hash: 'ab', mac: 'mac', configuration: 1, leaves: ['01'] };
const log = 'log_0000000000000000000000000A' as LogId;
const auditSeal: Released = {
  table: 'audit_seals',
  collection: 'audit_seals',
  item: seal,
  row: { log_id: log, through: 7, document: JSON.stringify(seal) },
  document: { _id: `["${log}",7]`, logId: log, through: 7, body: JSON.stringify(seal) },
  write: (stores) => stores.auditSeals.keep(log, seal),
  read: (stores) => stores.auditSeals.newest(log),
};

const session: PeopleRecord<'session'> = {
  kind: 'session',
  id: 'ses_1',
  version: 1,
  key: 'digest',
  of: 'per_1',
  endsAt: 99,
  body: {
    personId: 'per_1',
    epoch: 3,
    way: 'password',
    createdAt: 1,
    usedAt: 1,
    from: { address: '127.0.0.1', agent: 'a browser' },
  },
};
const roster: PeopleRecord<'roster'> = {
  kind: 'roster',
  id: 'roster',
  version: 1,
  key: null,
  of: null,
  endsAt: null,
  body: { owners: ['per_1'], link: null },
};
const people = [session, roster].map((record): Released => ({
  table: 'people',
  collection: 'people',
  item: record,
  row: {
    kind: record.kind,
    id: record.id,
    version: 1,
    lookup_key: record.key,
    belongs_to: record.of,
    ends_at: record.endsAt,
    document: JSON.stringify(record),
  },
  document: {
    _id: JSON.stringify([record.kind, record.id]),
    kind: record.kind,
    version: 1,
    ...(record.key !== null && { key: JSON.stringify([record.kind, record.key]) }),
    ...(record.of !== null && { of: record.of }),
    ...(record.endsAt !== null && { endsAt: record.endsAt }),
    body: JSON.stringify(record),
  },
  write: (stores) => stores.people.replace(record),
  read: (stores) => stores.people.find(record.kind, record.id),
}));

const draft: Draft = {
  ref: { kind: 'notification', workspace: 'shop', name: 'paid' },
  body: { name: 'Grüße' },
  basedOn: 4,
  revision: 'r1',
  begun: 'r0',
  by: { kind: 'person', id: 'per_ada' },
  at: 10,
};
const drafts: Released = {
  table: 'drafts',
  collection: 'drafts',
  item: draft,
  row: { workspace: 'shop', kind: 'notification', name: 'paid', revision: 'r1', document: JSON.stringify(draft) },
  document: {
    _id: '["shop","notification","paid"]',
    workspace: 'shop',
    revision: 'r1',
    bytes: Buffer.byteLength(JSON.stringify(draft)),
    body: JSON.stringify(draft),
  },
  write: (stores) => stores.drafts.replace(draft, null),
  read: (stores) => stores.drafts.find(draft.ref),
};

const request: IdempotentRequest = { id: 'i', fingerprint: 'f', token: 't', begunAt: 1, endsAt: 9, answer: null };
const idempotency: Released = {
  table: 'kept_answers',
  collection: 'kept_answers',
  item: request,
  row: { id: 'i', fingerprint: 'f', token: 't', begun_at: 1, ends_at: 9, answer: null },
  document: { _id: 'i', fingerprint: 'f', token: 't', begunAt: 1, endsAt: 9, answer: null },
  write: (stores) => stores.idempotency.begin(request, 1),
  read: (stores) => stores.idempotency.find('i'),
};

const message: InboxMessage = {
  id: 'msg_1',
  workspace: 'shop',
  deliveryId: 'dlv_1',
  message: { channel: 'sms', to: '+4930123456', text: 'Grüße' },
  at: 5,
};
const inbox: Released = {
  table: 'inbox',
  collection: 'inbox',
  item: [message],
  row: { id: 'msg_1', at: 5, message: JSON.stringify(message) },
  document: {
    _id: 'msg_1',
    at: 5,
    workspace: 'shop',
    channel: 'sms',
    recipient: '+4930123456',
    message: JSON.stringify(message),
  },
  write: (stores) => stores.inbox.put(message),
  async read(stores) {
    const filter = { workspace: 'shop', channels: ['sms'], to: ['+4930'], since: 5, before: 6 } as const;
    return (await stores.inbox.list(filter, 10)).items;
  },
};

const sent: SentToPerson = {
  workspace: 'shop',
  person: 'ada@example.com',
  revision: 'r1',
  entries: [
    {
      deliveryId: 'dlv_1' as DeliveryId,
      token: 't1',
      triggerId: 'trg_1' as TriggerId,
      notificationId: 'ntf_paid',
      category: 'orders',
      channel: 'email',
      at: 5,
      sure: true,
    },
  ],
  keptUntil: 99,
};
const limits: Released = {
  table: 'limit_entries',
  collection: 'limit_entries',
  item: sent,
  row: { workspace: 'shop', person: 'ada@example.com', revision: 'r1', kept_until: 99, document: JSON.stringify(sent) },
  document: {
    _id: '["shop","ada@example.com"]',
    workspace: 'shop',
    revision: 'r1',
    keptUntil: 99,
    body: JSON.stringify(sent),
  },
  write: (stores) => stores.limits.replace(sent, null),
  read: (stores) => stores.limits.find('shop', 'ada@example.com'),
};

const openHead: DigestHead = {
  ...emptyHead('dgh_1', { workspace: 'shop', notificationId: 'ntf_paid', channel: 'email', uniqueId: '' }),
  version: 1,
  items: [{ deliveryId: 'dlv_1' as DeliveryId, token: 't1', intentId: 'int_1' as IntentId, size: 12 }],
  end: { closesAt: 70, slide: { step: 5, latest: 90 } },
};
const emptiedHead: DigestHead = { ...openHead, id: 'dgh_2', items: [], end: null };
const digestHeads = [openHead, emptiedHead].map((head): Released => {
  const dueAt = head === openHead ? 70 : null;
  return {
    table: 'digest_heads',
    collection: 'digest_heads',
    item: head,
    row: { id: head.id, workspace: 'shop', version: 1, due_at: dueAt, document: JSON.stringify(head) },
    document: {
      _id: head.id,
      workspace: 'shop',
      version: 1,
      ...(dueAt !== null && { dueAt }),
      body: JSON.stringify(head),
    },
    write: (stores) => stores.digestHeads.replace(head),
    read: (stores) => stores.digestHeads.get(head.id),
  };
});

const entry: ConsentEntry = {
  id: 'cns_1',
  workspace: 'shop',
  person: 'ada',
  target: { kind: 'category', name: 'orders' },
  channel: 'email',
  optedOut: true,
  way: 'page',
  at: 1,
};
const ada: Consents = {
  workspace: 'shop',
  person: 'ada',
  version: 1,
  words: [entry],
  unpublished: [entry],
  updatedAt: 7,
};
const bob: Consents = { ...ada, person: 'bob', words: [], unpublished: [] };
const consents = [ada, bob].map((one): Released => ({
  table: 'consents',
  collection: 'consents',
  item: [[one], one === ada ? [ada] : []],
  row: {
    workspace: 'shop',
    person: one.person,
    version: 1,
    unpublished_since: one === ada ? 7 : null,
    document: JSON.stringify(one),
  },
  document: {
    _id: JSON.stringify(['shop', one.person]),
    workspace: 'shop',
    version: 1,
    ...(one === ada && { unpublishedSince: 7 }),
    body: JSON.stringify(one),
  },
  write: (stores) => stores.consents.replace(one),
  read: async (stores) => [
    await stores.consents.find('shop', [one.person]),
    (await stores.consents.unpublished(8, 9)).filter(({ person }) => person === one.person),
  ],
}));

/** One item or more of each released collection. */
export const RELEASED: readonly Released[] = [
  ...jobs,
  ...secrets,
  auditSeal,
  ...people,
  drafts,
  idempotency,
  inbox,
  limits,
  ...digestHeads,
  ...consents,
];
