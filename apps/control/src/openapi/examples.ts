import { reasonText } from '@carillon/domain/deliveries';
import { standingOf, storyWordsOf } from '../delivery-words.ts';
import { withText } from '../routes/configuration/jwt-check-text.ts';
import { AUDIT_EXAMPLES } from './audit-examples.ts';
import { CONTENT_EXAMPLES } from './content-examples.ts';
import { DEAD_LETTER_EXAMPLES } from './dead-letter-examples.ts';
import { DRAFT_EXAMPLES } from './draft-examples.ts';
import { HEALTH_EXAMPLES } from './health-examples.ts';
import { JOB_EXAMPLES } from './job-examples.ts';
import { LIST_EXAMPLES } from './list-examples.ts';
import { page, type OperationExample } from './operation-example.ts';
import { PEOPLE_EXAMPLES } from './people-examples.ts';
import { RESOURCE_EXAMPLES } from './resource-examples.ts';
import { RUN_EXAMPLES } from './run-examples.ts';
import { SECRET_EXAMPLES } from './secret-examples.ts';
import { SOURCE_EXAMPLES } from './source-examples.ts';
import { TRYING_EXAMPLES } from './trying-examples.ts';

const AT = '2026-11-22T10:42:00.000Z';
const LATER = '2026-11-22T10:42:00.180Z';
const DELIVERY_ID = 'dlv_37G5398XK2YK0SPEA59673M7JP';
const EVENT_ID = 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

const DELIVERY = {
  id: DELIVERY_ID,
  ...standingOf({ state: 'SENT', reason: 'accepted' }),
  detail: 'The server accepted the message: queued as 4XkQ2z1Yq8',
  channel: 'email',
  to: 'ada@example.com',
  unique_id: 'A-1001',
  workspace: 'shop',
  notification: 'order-paid',
  rule: 'paid',
  rule_version: 3,
  template: 'order-paid',
  template_version: 3,
  config_number: 7,
  event_id: EVENT_ID,
  trigger_id: 'trg_5Q8W2ZC4M1V7X9K3B6N0HTR2PD',
  intent_id: 'int_1B7N5XK8C3Z9V4M2Q6W0JHT8RF',
  test: false,
  test_by: null,
  sent_by: null,
  attempts: [
    {
      id: 'att_9K3B6N0HTR2PD5Q8W2ZC4M1V7X',
      account: 'mail',
      started_at: AT,
      ended_at: LATER,
      verdict: 'accepted',
      code: '250',
      detail: 'The server accepted the message: queued as 4XkQ2z1Yq8',
    },
  ],
  history: [
    { at: AT, ...standingOf({ state: 'WAITING', reason: 'new' }), detail: '' },
    {
      at: LATER,
      ...standingOf({ state: 'SENT', reason: 'accepted' }),
      detail: 'The server accepted the message: queued as 4XkQ2z1Yq8',
    },
  ],
  duplicates: 0,
  duplicate_of: null,
  next_at: null,
  send_at: AT,
  not_after: '2026-11-23T10:42:00.000Z',
  created_at: AT,
  updated_at: LATER,
};
const DOUBTFUL = { ...DELIVERY, ...standingOf({ state: 'IN_DOUBT', reason: 'answer_unknown' }) };

const standing = (state: string | null, reason: string | null) => ({
  state,
  reason,
  ...storyWordsOf({ state, reason }),
});

const EVENT_STORY = {
  kind: 'event',
  id: EVENT_ID,
  trace_id: TRACE_ID,
  people: {
    headline: '1 notified',
    counts: { told: 1, waiting: 0, in_doubt: 0, not_told: 0 },
    items: [
      {
        rule: 'order-paid.paid',
        place: 1,
        count: 1,
        to: 'ada@example.com',
        unique_id: 'A-1001',
        person: 'ada@example.com',
        channel: 'email',
        item: null,
        outcome: 'told',
        ...standing('SENT', 'accepted'),
        text: 'The server accepted the message: queued as 4XkQ2z1Yq8',
        delivery: DELIVERY_ID,
      },
    ],
    next: null,
  },
  steps: [
    {
      at: AT,
      step: 'event',
      id: EVENT_ID,
      position: 'carillon.events/2@1041',
      config_number: null,
      rule: null,
      rule_version: null,
      ...standing(null, null),
      person: null,
      text: 'The event arrived on shop/orders',
      lines: [],
    },
    {
      at: LATER,
      step: 'rule',
      id: null,
      position: null,
      config_number: 7,
      rule: 'order-paid.paid',
      rule_version: 3,
      ...standing(null, 'fired'),
      person: null,
      text: 'order-paid.paid fired for 1 recipient',
      lines: ['event.status == "paid"  true'],
    },
  ],
};

const MESSAGE = {
  id: 'msg_8C3Z9V4M2Q6W0JHT8RF1B7N5XK',
  workspace: 'shop',
  delivery_id: DELIVERY_ID,
  channel: 'email',
  to: 'ada@example.com',
  from: 'Shop <news@shop.example.com>',
  subject: 'Order A-1001 is paid',
  html: '<p>Thank you, Ada.</p>',
  text: 'Thank you, Ada.',
  sms: null,
  push: null,
  at: LATER,
};

const LISTED_MESSAGE = { ...MESSAGE, html: null, text: null };

const FOLDER = { files: { 'workspaces/shop/workspace.yaml': 'name: Shop\n' }, prune: false };
const PLAN = {
  number: 7,
  faults: [],
  warnings: [],
  changes: [
    {
      action: 'update',
      resource: 'workspace shop',
      note: null,
      formers: [],
      told: null,
      waiting: null,
      fields: [{ path: 'name', before: 'Old shop', after: 'Shop' }],
    },
  ],
  unchanged: 4,
};
const API_KEY = {
  workspace: 'shop',
  name: 'backend',
  key_id: '7Qm4k2Zp',
  created_at: AT,
  expires_at: null,
  expired: false,
  last_used_at: LATER,
  used_by: ['stream orders'],
};

const steps = (step: string, detail: string) => ({ steps: [{ step, ok: true, detail }] });
const JWT_CHECK = { steps: [withText({ step: 'signature', ok: true, detail: 'is right, by the key k1' })] };

/** Examples by `operationId`. A test fails if an operation has none. */
export const EXAMPLES: Readonly<Record<string, OperationExample>> = {
  ...AUDIT_EXAMPLES,
  readStatus: {
    answers: {
      version: '0.1.0',
      backend: 'embedded',
      config_number: 7,
      workspaces: ['shop'],
      events_url: 'http://127.0.0.1:7400/events',
      deliveries: { SENT: 1180, WAITING: 3 },
    },
  },
  runDoctor: { takes: {}, answers: steps('configuration', 'number 7, read to its end') },
  writeBackup: {
    takes: { file: '/var/backups/carillon.backup' },
    answers: { file: '/var/backups/carillon.backup', bytes: 1_048_576 },
  },
  checkAccount: { takes: {}, answers: steps('sign in', 'the server took user and password') },
  listInboxOfWorkspace: { answers: page(LISTED_MESSAGE) },
  listInbox: { answers: page(LISTED_MESSAGE) },
  readInboxMessage: { answers: MESSAGE },
  planConfiguration: { takes: FOLDER, answers: PLAN },
  applyConfiguration: { takes: FOLDER, answers: { ...PLAN, applied: true, draft_conflicts: [], new_number: 8 } },
  exportConfiguration: { answers: { number: 7, files: FOLDER.files } },
  listApiKeys: { answers: page(API_KEY) },
  createApiKey: {
    takes: { name: 'backend', expires_in: '90d' },
    answers: { name: 'backend', key: 'cln_7Qm4k2Zp_…', expires_at: '2027-02-20T10:42:00.000Z' },
  },
  revokeApiKey: { answers: { revoked: true } },
  listDeliveries: { answers: page(DELIVERY) },
  listDropped: {
    answers: {
      items: [
        {
          at: '2026-01-31T08:00:00.000Z',
          workspace: 'shop',
          rule: 'order-paid.paid',
          event_id: 'evt_1',
          who: 'recipient 2',
          reason: 'rule_error',
          reason_words: reasonText('rule_error'),
          detail: 'unique_id: division by zero',
          count: 1,
          told: 1,
        },
      ],
      next: null,
      complete: true,
    },
  },
  readDelivery: { answers: DELIVERY },
  traceDelivery: { answers: { ...EVENT_STORY, kind: 'delivery', id: DELIVERY_ID, people: null } },
  resendDelivery: {
    takes: {},
    answers: { ...DELIVERY, ...standingOf({ state: 'WAITING', reason: 'operator_resend' }) },
  },
  cancelDelivery: {
    takes: {},
    answers: { ...DELIVERY, ...standingOf({ state: 'CANCELLED', reason: 'operator_cancel' }) },
  },
  dismissDelivery: {
    takes: { as: 'sent', reason: 'queued as 4F2A, mail log' },
    answers: {
      ...DOUBTFUL,
      ...standingOf({ state: 'SENT', reason: 'operator_dismiss' }),
      detail: 'by owner: queued as 4F2A, mail log',
    },
  },
  listEvents: {
    answers: page({
      id: EVENT_ID,
      workspace: 'shop',
      stream: 'shop/orders',
      at: AT,
      bytes: 101,
      position: 'carillon.events/2@1041',
      config_number: 7,
      event_id_reused: false,
      trace_id: TRACE_ID,
      label: 'A-1001 · ada@example.com',
      change: null,
    }),
  },
  ...CONTENT_EXAMPLES,
  ...DEAD_LETTER_EXAMPLES,
  ...DRAFT_EXAMPLES,
  traceEvent: { answers: EVENT_STORY },
  whyNot: {
    takes: { who: 'ada@example.com', notification: 'order-paid', last: '24h' },
    answers: {
      workspace: 'shop',
      who: 'ada@example.com',
      notification: 'order-paid',
      from: '2026-11-21T10:42:00.000Z',
      to: '2026-11-22T10:42:00.000Z',
      verdict: 'stopped',
      sentence: `order-paid did not notify them about event ${EVENT_ID}: the person opted out.`,
      gate: 'consent',
      event: EVENT_ID,
      delivery: DELIVERY_ID,
      rule: 'order-paid.paid',
      gates: [
        {
          gate: 'consent',
          title: 'They have not opted out',
          result: 'stopped',
          text: 'the person opted out of it',
          at: LATER,
          lines: [],
          evidence: [{ kind: 'delivery', id: DELIVERY_ID }],
          source: 'ledger',
        },
      ],
      with_drafts: null,
      drafts_left_out: [],
      others: [],
      last: null,
      looked: { events: 12, judged_again: 12, deliveries: 1, complete: true, not_kept: 0, since: null },
      next: null,
    },
  },
  whyAddress: {
    answers: {
      items: [
        {
          at: AT,
          workspace: 'shop',
          event: EVENT_ID,
          rule: 'order-paid.paid',
          outcome: 'told',
          ...standing('SENT', 'accepted'),
          text: 'The server accepted the message: queued as 4XkQ2z1Yq8',
          delivery: DELIVERY_ID,
          unique_id: 'A-1001',
        },
      ],
      looked: 12,
      next: null,
    },
  },
  ...JOB_EXAMPLES,
  ...HEALTH_EXAMPLES,
  ...LIST_EXAMPLES,
  ...RUN_EXAMPLES,
  ...SOURCE_EXAMPLES,
  ...SECRET_EXAMPLES,
  ...PEOPLE_EXAMPLES,
  checkIntegration: {
    takes: { user_ids: ['p_8812'] },
    answers: steps('scheme', 'the partner takes Bearer, as configured'),
  },
  listCohorts: {
    answers: page({
      id: '1298',
      name: 'Bought twice',
      members: 4120,
      first_heard_at: AT,
      newest_at: LATER,
      synced_at: LATER,
      sync: null,
      first_sync_until: null,
      skipped: 0,
    }),
  },
  checkJwtProvider: { takes: { token: 'eyJhbGciOi…' }, answers: JWT_CHECK },
  ...TRYING_EXAMPLES,
  ...RESOURCE_EXAMPLES,
};
