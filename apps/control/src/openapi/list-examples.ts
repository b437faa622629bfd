import { describeReason } from '@carillon/domain/deliveries';
import { page } from './operation-example.ts';

const LATER = '2026-11-22T10:42:00.180Z';
const DELIVERY_ID = 'dlv_37G5398XK2YK0SPEA59673M7JP';

const SUPPRESSION = {
  workspace: 'shop',
  channel: 'email',
  address: 'bob@example.com',
  source: 'hard_bounce',
  detail: '550 5.1.1 no such user',
  by: null,
  delivery_id: DELIVERY_ID,
  at: LATER,
};

const BY_HAND = { source: 'operator', detail: 'asked by phone', by: 'owner', delivery_id: null };

const UNDO = '…';

const CONSENT = {
  workspace: 'shop',
  person: 'ada@example.com',
  words: [
    {
      target: 'category',
      name: 'orders',
      notification_id: null,
      channel: 'email',
      opted_out: true,
      way: 'api',
      by: 'owner',
      at: LATER,
    },
  ],
  exempt: ['password-reset'],
  updated_at: LATER,
};

/** Examples of the lists of people, by operation. */
export const LIST_EXAMPLES = {
  readInsights: {
    answers: {
      workspace: 'shop',
      from: '2026-11-22T09:00:00.000Z',
      to: '2026-11-22T11:00:00.000Z',
      bucket: '1h',
      notification: null,
      states: { SENT: 1180, SUPPRESSED: 21 },
      messages: 1180,
      people: 811,
      buckets: [
        { at: '2026-11-22T09:00:00.000Z', states: { SENT: 600, SUPPRESSED: 21 } },
        { at: '2026-11-22T10:00:00.000Z', states: { SENT: 580 } },
      ],
      notifications: [{ notification: 'order-paid', states: { SENT: 1180, SUPPRESSED: 21 } }],
      in_doubt: { deliveries: 3, complete: true },
      failing_accounts: [
        {
          account: 'shop/mail',
          reason: 'refused_account',
          sentence: describeReason('refused_account'),
          deliveries: 2,
        },
      ],
      lag: { records: 0 },
    },
  },
  listSuppressions: { answers: page(SUPPRESSION) },
  addSuppression: {
    takes: { channel: 'email', address: 'bob@example.com', detail: 'asked by phone' },
    answers: { added: true, items: [{ ...SUPPRESSION, ...BY_HAND }, SUPPRESSION] },
  },
  removeSuppression: {
    takes: { channel: 'email', address: 'bob@example.com', source: 'operator' },
    answers: { removed: true, still: [SUPPRESSION], undo: UNDO },
  },
  restoreSuppressions: {
    takes: { undo: UNDO },
    answers: { restored: 1 },
  },
  listConsents: { answers: page(CONSENT) },
  readConsents: { answers: CONSENT },
  setConsent: {
    takes: { person: 'ada@example.com', target: 'category', name: 'orders', channel: 'email', opted_out: true },
    answers: { ...CONSENT, changed: CONSENT.words },
  },
  importConsents: {
    takes: 'address,target,name,channel\r\nada@example.com,category,orders,email\r\n',
    answers: { rows: 1, taken: 1, added: 1, refused: 0, faults: [], ignored_columns: [] },
  },
  followLists: {
    answers:
      'event: open\nid: c2VhbGVk\ndata: {"topics":["events"]}\n\nevent: reset\nid: c2VhbGVkIGFnYWlu\ndata: {"topic":"events"}\n\n',
  },
  exportConsents: {
    answers: '"workspace","person","target","name","channel","opted_out","way","by","at"\r\n',
  },
  importSuppressions: {
    takes: 'channel,address,detail\r\nemail,bob@example.com,asked by phone\r\nsms,0171 1234567,\r\n',
    answers: {
      rows: 2,
      taken: 1,
      added: 1,
      refused: 1,
      faults: [{ line: 3, message: 'address: it is no phone number in international form, such as +49 30 123456' }],
      ignored_columns: [],
    },
  },
  exportSuppressions: {
    answers: '"workspace","channel","address","source","detail","by","delivery_id","at"\r\n',
  },
};
