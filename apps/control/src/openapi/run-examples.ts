import { WAITING_JOB } from './job-examples.ts';
import { page } from './operation-example.ts';

const NONE = { added: 0, removed: 0, changed: 0, new_unique_id: 0 };
const NO_STATES = { notified: 0, waiting: 0, stopped: 0, none: 0 };

const STARTED = {
  id: 'run_5Q8W2ZC4M1V7X9K3B6N0HTR2PD',
  workspace: 'shop',
  kind: 'compare',
  state: 'waiting',
  from: '2026-10-30T09:00:00.000Z',
  to: '2026-11-29T09:00:00.000Z',
  log_starts_at: null,
  before: 7,
  published: 7,
  changes: [{ kind: 'notification', name: 'order-paid', action: 'update', revision: 'rev_1' }],
  notifications: ['order-paid'],
  not_compared: [],
  progress: { read: 0, total: 12_400 },
  counts: null,
  verified: null,
  sentence: null,
  warning: null,
  find: null,
  notes: [],
  checksum: null,
  reason: null,
  job: 'job_3B6N0HTR2PD5Q8W2ZC4M1V7X9K',
  created_by: { kind: 'person', id: 'per_ada', name: 'Ada' },
  created_at: '2026-11-29T09:00:00.000Z',
  ended_at: null,
  kept_until: null,
};

const DONE = {
  ...STARTED,
  state: 'done',
  progress: { read: 12_400, total: 12_400 },
  counts: {
    events: 4_100,
    needs_lookup: 1,
    no_address: { before: 0, after: 0 },
    rule_errors: { before: 0, after: 0 },
    unreadable: 0,
    past_retention: 0,
    would_wait: { before: 0, after: 0 },
    cold: { before: 0, after: 0 },
    differences: { ...NONE, added: 37, removed: 12, unchanged: 363 },
    slot_states: {
      added: { ...NO_STATES, notified: 4, none: 33 },
      removed: { ...NO_STATES, notified: 12 },
      changed: NO_STATES,
      new_unique_id: NO_STATES,
    },
    people: { ...NONE, added: 37, removed: 12 },
    notified_people: { ...NONE, added: 4, removed: 12 },
    by_rule: [{ rule: 'order-paid.paid', ...NONE, added: 37, removed: 12, unchanged: 363 }],
    by_day: [{ day: '2026-11-28', ...NONE, added: 37, removed: 12 }],
  },
  sentence:
    'Over the last 30 days, this edit would have added messages for 37 people and removed messages for 12. 363 messages are unchanged. Of the 37 people, 4 were already notified.',
  notes: ['1 event needs a lookup: no recorded answer says who is notified with the edit and without it.'],
  checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ended_at: '2026-11-29T09:00:04.000Z',
  kept_until: '2026-12-29T09:00:04.000Z',
};

const ROW = {
  slot: 'dlv_37G5398XK2YK0SPEA59673M7JP',
  difference: 'added',
  slot_state: 'none',
  slot_state_words: 'never sent',
  delivery_id: null,
  rule: 'order-paid.paid',
  channel: 'email',
  event: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD',
  at: '2026-11-28T17:20:00.000Z',
  day: '2026-11-28',
  cold: false,
  person: 'ada@example.com',
  before: null,
  after: 'ada@example.com',
};

const gate = (name: string, title: string, result: string, text: string, lines: readonly string[] = []) => ({
  gate: name,
  title,
  result,
  text,
  at: null,
  lines,
  evidence: [],
  source: result === 'not_reached' ? null : 'log',
});
const PASSED = [
  gate('event', 'An event arrived', 'passed', 'received on shop/orders'),
  gate('rule', 'An enabled rule received it', 'passed', 'the rule is on and listens on shop/orders'),
];

const ROW_CONTENT = {
  row: ROW,
  note: null,
  before: {
    rule: null,
    gates: [
      ...PASSED,
      gate('condition', 'The rule fired', 'stopped', '`when` is false', ['event.total > 100  →  false']),
      gate('recipient', 'They were among its recipients', 'not_reached', ''),
      gate('address', 'Their address can be used', 'not_reached', ''),
    ],
    to: null,
    variables: null,
    message: null,
  },
  after: {
    rule: 'order-paid.paid',
    gates: [
      ...PASSED,
      gate('condition', 'The rule fired', 'passed', '`when` is true', ['event.total > 80  →  true']),
      gate('recipient', 'They were among its recipients', 'passed', 'recipient of the rule, with unique_id A-1001'),
      gate('address', 'Their address can be used', 'passed', 'ada@example.com'),
    ],
    to: 'ada@example.com',
    variables: '{"order_id":"A-1001"}',
    message: {
      ok: true,
      error: null,
      channel: 'email',
      from: 'shop@example.com',
      subject: 'Order A-1001 is paid',
      html: null,
      text: 'Thank you for your order A-1001.',
      sms: null,
      push: null,
      links: null,
      missing: [],
      fields: ['order_id'],
      variant: null,
      notes: [],
    },
  },
};

const MISSING = {
  run: DONE.id,
  count: 33,
  checksum: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  since: '2026-11-22T09:00:00.000Z',
  messages: 33,
  people: 33,
  by_rule: [{ rule: 'order-paid.paid', messages: 33, people: 33 }],
  needs_lookup: { events: 0, user_ids: 0 },
  oldest: '2026-11-23T08:12:00.000Z',
  newest: ROW.at,
  too_old: 4,
  rows: [ROW],
};

const SENDING = {
  ...WAITING_JOB,
  action: 'send_missing',
  of: MISSING.count,
  parameters: {
    run: DONE.id,
    configuration: '12',
    checksum: MISSING.checksum,
    slot: 'none',
    expires: '24h',
    rate: '10',
    questions: '0',
  },
};

const FINDING = {
  problem: 'different',
  output: 'intent',
  id: 'int_37G5398XK2YK0SPEA59673M7JP',
  field: 'send_at',
  rule: 'order-paid.paid',
  event: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD',
  event_position: 'carillon.events/3@1207',
  position: 'carillon.intents/5@88',
};

/** Examples of runs, by operation. */
export const RUN_EXAMPLES = {
  startRun: { takes: { drafts: true, last: '30d' }, answers: STARTED },
  listRuns: { answers: page(DONE) },
  readRun: { answers: DONE },
  listRunFindings: { answers: page(FINDING) },
  listRunRows: { answers: page(ROW) },
  readRunRow: { answers: ROW_CONTENT },
  findMissingMessages: { answers: MISSING },
  sendMissingMessages: {
    takes: { since: MISSING.since, count: MISSING.count, checksum: MISSING.checksum },
    answers: SENDING,
  },
  stopMissingMessages: {
    takes: {},
    answers: {
      jobs: [{ ...SENDING, parameters: { ...SENDING.parameters, undoes: SENDING.id } }],
      waiting_lookups: 0,
      uncounted_lookups: 0,
    },
  },
  exportRunRows: {
    answers:
      '"difference","slot_state","rule","channel","event","at","person","before","after","delivery_id","slot"\r\n"added","none","order-paid.paid","email","evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD","2026-11-28T17:20:00.000Z","ada@example.com","","ada@example.com","","dlv_37G5398XK2YK0SPEA59673M7JP"\r\n',
  },
};
