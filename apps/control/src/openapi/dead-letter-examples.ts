import { page } from './operation-example.ts';

const AT = '2026-11-22T10:42:00.000Z';
const LATER = '2026-11-22T10:42:00.180Z';

const DEAD_LETTER = {
  id: 'ddl_4M2Q6W0JHT8RF1B7N5XK8C3Z9V',
  workspace: 'shop',
  stage: 'evaluate',
  position: 'carillon.events/2@1041',
  reason: 'not_framed',
  at: AT,
  redriven_at: null,
  redriven_by: null,
  dismissed_at: null,
  dismissed_by: null,
  partner: null,
  notification: null,
  rule: null,
  person: null,
  people: 0,
  event_id: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD',
  redrive: 'Evaluates the event again. People who were notified already are not notified again.',
};

const PARKED_RECEIPT = {
  id: 'ddl_7Q0Z4V3M1CSXB6YH2RK9TJW8PD',
  workspace: 'shop',
  reason: 'unknown_receipt: this deployment made no attempt with that account and token',
  source: 'ses',
  account: 'shop/mail',
  verdict: 'bounced',
  code: '5.1.1',
  detail: 'smtp; 550 5.1.1 no such user',
  delivery_id: null,
  attempt: null,
  wish: null,
  address: null,
  received_at: AT,
  parked_at: AT,
  position: 'carillon.receipts/4@87',
  dismissed_at: null,
  dismissed_by: null,
};

/** Examples of what could not be processed, by operation. */
export const DEAD_LETTER_EXAMPLES = {
  listDeadLetters: { answers: page(DEAD_LETTER) },
  listAllDeadLetters: { answers: page({ ...DEAD_LETTER, workspace: null }) },
  redriveDeadLetter: { takes: {}, answers: { ...DEAD_LETTER, redriven_at: LATER, redriven_by: 'owner' } },
  listParkedReceipts: { answers: page(PARKED_RECEIPT) },
  readParkedReceipt: { answers: PARKED_RECEIPT },
  dismissParkedReceipt: { takes: {}, answers: { ...PARKED_RECEIPT, dismissed_at: LATER, dismissed_by: 'owner' } },
  reopenParkedReceipt: { takes: {}, answers: PARKED_RECEIPT },
};
