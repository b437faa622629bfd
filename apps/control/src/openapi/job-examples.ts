const AT = '2026-11-22T10:42:00.000Z';

const JOB = {
  id: 'job_2V9M4Q6W0JHT8RF1B7N5XK8C3Z',
  workspace: 'shop',
  action: 'resend_deliveries',
  state: 'running',
  of: 412,
  done: 118,
  failed: 2,
  failures: [
    {
      item: 'dlv_37G5398XK2YK0SPEA59673M7JP',
      code: 'wrong_state',
      detail: 'only FAILED, EXPIRED, CANCELLED and IN_DOUBT can be sent again; this is SENT',
    },
  ],
  parameters: {},
  created_at: AT,
  created_by: { kind: 'person', id: 'per_37G5398XK2YK0SPEA59673M7JP', name: 'Ada' },
  started_at: '2026-11-22T10:42:00.420Z',
  updated_at: '2026-11-22T10:42:03.000Z',
  ended_at: null,
  can_undo: false,
  cancelled_by: null,
  cancelled_because: null,
  kept_until: null,
};
export const WAITING_JOB = {
  ...JOB,
  state: 'waiting',
  done: 0,
  failed: 0,
  failures: [],
  started_at: null,
  updated_at: AT,
};
const ENTRIES = [{ channel: 'email', address: 'bob@example.com', source: 'hard_bounce' }];
const FAILED_LATELY = { filter: { state: ['FAILED'], last: '1h' }, expected: 412 };

/** Examples of long actions and of what begins them, by operation. */
export const JOB_EXAMPLES = {
  listJobs: { answers: { items: [JOB], next: null } },
  readJob: { answers: JOB },
  cancelJob: { takes: {}, answers: { ...JOB, cancelled_by: JOB.created_by } },
  undoJob: {
    takes: {},
    answers: {
      ...WAITING_JOB,
      action: 'remove_suppressions',
      of: 1,
      parameters: { undoes: 'job_37G5398XK2YK0SPEA59673M7JP' },
    },
  },
  countDeliveries: {
    answers: {
      action: 'resend',
      count: 412,
      people: 380,
      by_state: { FAILED: 410, IN_DOUBT: 2 },
      more: false,
      ceiling: 10000,
    },
  },
  countChosenDeliveries: {
    takes: { action: 'resend', ids: ['dlv_37G5398XK2YK0SPEA59673M7JP'] },
    answers: {
      action: 'resend',
      count: 1,
      people: 1,
      by_state: { FAILED: 1 },
      more: false,
      ceiling: 10000,
      ids: ['dlv_37G5398XK2YK0SPEA59673M7JP'],
    },
  },
  resendDeliveries: { takes: FAILED_LATELY, answers: WAITING_JOB },
  cancelDeliveries: {
    takes: { filter: { notification: 'order-paid' }, expected: 412 },
    answers: { ...WAITING_JOB, action: 'cancel_deliveries' },
  },
  dismissDeliveries: {
    takes: { ids: ['dlv_37G5398XK2YK0SPEA59673M7JP'], as: 'sent', reason: 'The provider’s log shows it' },
    answers: {
      ...WAITING_JOB,
      action: 'dismiss_deliveries',
      of: 1,
      parameters: { as: 'sent', reason: 'The provider’s log shows it' },
    },
  },
  countDeadLetters: {
    answers: { count: 17, receipts: 2, more: false, ceiling: 10000, leaving: null },
  },
  redriveDeadLetters: {
    takes: { filter: { last: '1h' }, expected: 17 },
    answers: { ...WAITING_JOB, action: 'redrive_dead_letters', of: 17 },
  },
  dismissParkedReceipts: {
    takes: { ids: ['ddl_7Q0Z4V3M1CSXB6YH2RK9TJW8PD'] },
    answers: { ...WAITING_JOB, action: 'dismiss_receipts', of: 1 },
  },
  countSuppressions: {
    takes: { entries: ENTRIES },
    answers: { removed: 1, addresses: 1, still: 0, more: false, ceiling: 10000 },
  },
  removeSuppressions: {
    takes: { entries: ENTRIES },
    answers: { ...WAITING_JOB, action: 'remove_suppressions', of: 1 },
  },
  countConsents: {
    takes: { filter: { target: 'category', name: 'orders' } },
    answers: { people: 2, words: 3, more: false, ceiling: 10000 },
  },
  allowConsents: {
    takes: { filter: { target: 'category', name: 'orders' }, expected: 2 },
    answers: { ...WAITING_JOB, action: 'allow_consents', of: 2 },
  },
  startPromotion: {
    takes: {},
    answers: { ...WAITING_JOB, action: 'promote', of: 40, parameters: { from: 'shop-test' } },
  },
  startBackup: {
    takes: { file: '/var/backups/carillon-2026-11-22.db' },
    answers: {
      ...WAITING_JOB,
      workspace: null,
      action: 'write_backup',
      of: 1,
      parameters: { file: '/var/backups/carillon-2026-11-22.db' },
    },
  },
};
