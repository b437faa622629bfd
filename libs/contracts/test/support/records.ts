import { CHANGE_OPS, type VisibleChange } from '@carillon/domain/changes';
import type { LogRecordKind, LogRecords } from '@carillon/contracts';
import { AUDIT_OUTCOMES, type AuditRecord } from '@carillon/domain/audit';
import type { CohortMessage } from '@carillon/domain/cohorts';
import { ORIGINS, type ConfigurationRecord } from '@carillon/domain/configuration';
import type { ConsentEntry } from '@carillon/domain/consent';
import type { Intent, Outcome, SentBy } from '@carillon/domain/deliveries';
import type { DeadLetter, Evaluation } from '@carillon/domain/events';
import type { Lookup, Trigger } from '@carillon/domain/lookups';
import { ACTOR_KINDS } from '@carillon/domain/people';
import type { Receipt } from '@carillon/domain/receipts';
import type { Json } from '@carillon/kernel';
import fc, { type Arbitrary } from 'fast-check';

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const id = <Id extends string>(): Arbitrary<Id> => text as Arbitrary<Id>;
const count = fc.nat();
const instant = fc.nat({ max: 2 ** 31 - 1 }).map((seconds) => seconds * 1000 + 7);
const nullable = <T>(value: Arbitrary<T>): Arbitrary<T | null> => fc.option(value, { nil: null });

/** JSON as our parser makes it: whole numbers are exact, so those beyond 2^53 are bigint. */
const json: Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor')), tie('value'), { maxKeys: 4 }),
  ),
})).value;

const ordinaryIntents: Arbitrary<Intent> = fc.record({
  id: id<Intent['id']>(),
  slot: fc.record({
    workspace: text,
    notificationId: text,
    channel: fc.constantFrom('email', 'sms', 'push'),
    uniqueId: text,
  }),
  notification: text,
  rule: text,
  ruleId: text,
  ruleVersion: count,
  configNumber: count,
  eventId: id<Intent['eventId']>(),
  eventPosition: text,
  triggerId: id<Intent['triggerId']>(),
  to: nullable(text),
  person: text,
  variables: fc.dictionary(text, json),
  template: text,
  templateVersion: count,
  causedAt: instant,
  sendAt: instant,
  notAfter: instant,
  traceparent: nullable(text),
});
/** Undefined now and then, as in records that no sending job made. */
const optional = <T>(value: Arbitrary<T>): Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const sentBys: Arbitrary<SentBy> = fc.record({ person: text, job: id<SentBy['job']>(), run: id<SentBy['run']>() });

/** Test messages, messages of sending jobs and messages of waits among them. */
export const intents: Arbitrary<Intent> = fc
  .tuple(ordinaryIntents, optional(fc.record({ by: text })), optional(sentBys), optional(instant))
  .map(([intent, test, sentBy, deadline]) => ({
    ...intent,
    ...(test && { test }),
    ...(sentBy && { sentBy }),
    ...(deadline !== undefined && { deadline }),
  }));

const visibleChanges: Arbitrary<VisibleChange> = fc.record(
  {
    op: fc.constantFrom(...CHANGE_OPS),
    source: fc.record({ integration: text, table: text, tx: count, position: text }),
    previous: fc.dictionary(text, json),
    unknown: fc.record({ fields: fc.array(text, { maxLength: 3 }), table: text }),
  },
  { requiredKeys: ['op', 'source'] },
);

const plainTriggers: Arbitrary<Trigger> = fc.record({
  id: id<Trigger['id']>(),
  workspace: text,
  notification: text,
  rule: text,
  ruleId: text,
  ruleVersion: count,
  configNumber: count,
  integration: text,
  eventId: id<Trigger['eventId']>(),
  eventPosition: text,
  part: count,
  parts: count,
  userIds: fc.array(text, { maxLength: 5 }),
  event: fc.dictionary(text, json),
  time: instant,
  causedAt: instant,
  notAfter: instant,
  traceparent: nullable(text),
});

/** Triggers of changes, of sending jobs and of waits among them. */
const triggers: Arbitrary<Trigger> = fc
  .tuple(plainTriggers, optional(sentBys), optional(visibleChanges), optional(instant))
  .map(([trigger, sentBy, change, deadline]) => ({
    ...trigger,
    ...(sentBy && { sentBy }),
    ...(change && { change }),
    ...(deadline !== undefined && { deadline }),
  }));

const problemKind = fc.constantFrom('missing', 'extra', 'duplicate', 'invalid', 'invalid_address', 'not_in_order');
export const lookups: Arbitrary<Lookup> = fc.record({
  trigger: triggers,
  callId: text,
  askedAt: instant,
  answeredAt: instant,
  status: count,
  calls: count,
  sharedBy: count,
  items: fc.array(
    fc.record({
      userId: nullable(text),
      to: fc.record({ email: nullable(text), phone: nullable(text), token: nullable(text) }),
      variables: fc.dictionary(text, json),
    }),
    { maxLength: 4 },
  ),
  problems: fc.array(fc.record({ kind: problemKind, index: nullable(count), userId: nullable(text), detail: text }), {
    maxLength: 4,
  }),
  problemCounts: fc.dictionary(problemKind, count),
});

const cohortMessages: Arbitrary<CohortMessage> = fc.record({
  id: id<CohortMessage['id']>(),
  workspace: text,
  integration: text,
  cohort: text,
  name: nullable(text),
  action: fc.constantFrom('add', 'remove', 'replace', 'settle'),
  session: nullable(text),
  page: nullable(fc.record({ number: count, of: nullable(count) })),
  skipped: count,
  firstSync: instant,
  userIds: fc.array(text, { maxLength: 5 }),
  time: fc.oneof(nullable(instant), fc.array(instant, { maxLength: 5 })),
});

export const outcomes: Arbitrary<Outcome> = fc.record({
  id: text,
  deliveryId: id<Outcome['deliveryId']>(),
  intentId: id<Outcome['intentId']>(),
  eventId: id<Outcome['eventId']>(),
  workspace: text,
  notification: text,
  state: fc.constantFrom('WAITING', 'SENT', 'IN_DOUBT', 'BOUNCED'),
  reason: fc.constantFrom('new', 'accepted', 'duplicate', 'taken_over'),
  detail: text,
  attempt: count,
  at: instant,
  traceparent: nullable(text),
});

const receipts: Arbitrary<Receipt> = fc.record({
  id: text,
  source: fc.constantFrom('twilio', 'ses', 'sendgrid', 'mailgun', 'postmark', 'dsn', 'arf'),
  account: nullable(text),
  attempt: nullable(
    fc.record({
      deliveryId: id<NonNullable<Receipt['attempt']>['deliveryId']>(),
      attempt: fc.integer({ min: 1, max: 999 }),
      tag: nullable(text),
    }),
  ),
  verdict: fc.constantFrom('delivered', 'bounced', 'complained', 'note'),
  suppress: nullable(fc.constantFrom('hard_bounce', 'complaint', 'stop')),
  alert: fc.boolean(),
  code: text,
  detail: text,
  at: nullable(instant),
  receivedAt: instant,
  inbound: nullable(fc.record({ address: text, wish: fc.constantFrom('stop', 'start') })),
});

const consentWords: Arbitrary<ConsentEntry> = fc.oneof(consentWordsBy('person'), consentWordsBy('somebody'));
function consentWordsBy(who: 'person' | 'somebody'): Arbitrary<ConsentEntry> {
  return fc.record({
    id: text,
    workspace: text,
    person: text,
    target: fc.oneof(
      fc.constant({ kind: 'all' } as const),
      fc.record({ kind: fc.constantFrom('category', 'notification'), name: text }),
    ),
    channel: nullable(fc.constantFrom('email', 'sms', 'push')),
    optedOut: fc.boolean(),
    way: fc.constantFrom('one_click', 'page', 'api', 'import'),
    ...(who === 'somebody' && { by: text }),
    at: instant,
  });
}

const evaluations: Arbitrary<Evaluation> = fc.record({
  partition: count,
  from: instant,
  to: instant,
  configNumber: count,
  events: count,
  repeated: count,
  intents: count,
  triggers: count,
  late: count,
  duplicates: count,
  deadLetters: count,
  rules: fc.array(
    fc.record({
      workspace: text,
      rule: text,
      ruleVersion: count,
      fired: count,
      failed: count,
      dropped: count,
      waitsStarted: count,
      waitsCancelled: count,
      inCooldown: count,
      firedByDeadline: count,
      sampleEventId: nullable(id<Intent['eventId']>()),
      sampleError: nullable(text),
    }),
    { maxLength: 5 },
  ),
  at: instant,
});

const deadLetters: Arbitrary<DeadLetter> = fc.record({
  id: text,
  stage: fc.constantFrom(
    'evaluate',
    'cohorts',
    'ask',
    'resolve',
    'deliver',
    'receipts',
    'consents',
    'project',
    'configure',
  ),
  workspace: nullable(text),
  topic: text,
  partition: count,
  offset: instant,
  key: text,
  headers: fc.dictionary(text, text),
  value: fc.uint8Array({ maxLength: 200 }),
  reason: text,
  detail: text,
  at: instant,
});

const hex = (digits: number): Arbitrary<string> =>
  fc.uint8Array({ minLength: digits / 2, maxLength: digits / 2 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const auditRecords: Arbitrary<AuditRecord> = fc.oneof(
  fc.record({
    kind: fc.constant('entry' as const),
    id: text,
    at: instant,
    actor: nullable(
      fc.record({ kind: fc.constantFrom(...ACTOR_KINDS), id: fc.string({ minLength: 1, maxLength: 30 }) }),
    ),
    what: text,
    target: nullable(text),
    workspace: nullable(text),
    from: fc.record({ address: nullable(text), userAgent: nullable(text) }),
    requestId: nullable(text),
    number: nullable(count),
    before: nullable(text),
    after: nullable(text),
    outcome: fc.constantFrom(...AUDIT_OUTCOMES),
    code: nullable(text),
    detail: nullable(text),
  }),
  fc.record({
    kind: fc.constant('seal' as const),
    id: text,
    at: instant,
    seal: fc.record({
      since: count,
      through: count,
      hash: hex(64),
      mac: text,
      configuration: count,
      leaves: fc.array(hex(16), { maxLength: 5 }),
    }),
  }),
);

const configurationRecords: Arbitrary<ConfigurationRecord> = fc.record({
  id: text,
  at: text,
  by: fc.record({
    actor: fc.record({ kind: fc.constantFrom(...ACTOR_KINDS), id: text }),
    origin: fc.constantFrom(...ORIGINS),
    message: nullable(text),
    requestId: nullable(text),
  }),
  changes: fc.array(
    fc.record({
      ref: fc.record({ kind: fc.constant('workspace'), workspace: text, name: text }),
      based_on: nullable(count),
      body: nullable(fc.record({ name: text }, { requiredKeys: [] })),
    }),
    { maxLength: 4 },
  ),
});

/** Random records of each kind. */
export const RECORDS: { readonly [Kind in LogRecordKind]: Arbitrary<LogRecords[Kind]> } = {
  cohort: cohortMessages,
  trigger: triggers,
  lookup: lookups,
  intent: intents,
  outcome: outcomes,
  receipt: receipts,
  consent: consentWords,
  evaluation: evaluations,
  deadLetter: deadLetters,
  audit: auditRecords,
  configuration: configurationRecords,
};
