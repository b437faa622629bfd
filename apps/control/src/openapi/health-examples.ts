import { page } from './operation-example.ts';

const LAST_CALL = { at: '2026-11-22T07:13:00.000Z', outcome: 'unavailable', status: 503, detail: 'answered 503' };

/** Examples of operations that say how sending goes, by operation. */
export const HEALTH_EXAMPLES = {
  readSending: {
    answers: {
      workspace: 'shop',
      from: '2026-11-22T09:42:00.000Z',
      to: '2026-11-22T10:42:00.000Z',
      complete: true,
      channels: [
        {
          channel: 'email',
          accounts: [
            {
              account: 'default',
              owner: 'deployment',
              kind: 'smtp',
              default: true,
              calls: { accepted: 1_180, refused: 42, failed: 3, unknown: 0 },
              refusals: [{ notification: 'order-paid', calls: 80, refused: 42, high: true }],
            },
          ],
        },
      ],
    },
  },
  readNames: { answers: { people: [{ id: 'per_37G5398XK2YK0SPEA59673M7JP', name: 'Ada' }] } },
  listWorkspaceHealth: {
    answers: page({
      workspace: 'shop',
      in_doubt: 2,
      dead_letters: 1,
      refused: 42,
      waiting: 17,
      sources_waiting: 0,
      sources_stopped: 1,
      waiting_for_partners: 1,
    }),
  },
  listWaitingPartners: {
    answers: page({
      workspace: 'shop',
      integration: 'crm',
      events: 1,
      complete: true,
      failing_since: '2026-11-22T07:08:00.000Z',
      last_failure: LAST_CALL,
      next_attempt_at: '2026-11-22T07:15:00.000Z',
    }),
  },
  listWaitingEvents: {
    answers: page({
      trigger_id: 'trg_5Q8W2ZC4M1V7X9K3B6N0HTR2PD',
      event_id: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD',
      rule: 'cart-abandoned.abandoned',
      user_ids: 1,
      since: '2026-11-22T07:08:00.000Z',
      calls: 4,
      last_call: LAST_CALL,
      next_attempt_at: '2026-11-22T07:15:00.000Z',
      gives_up_at: '2026-11-23T07:08:00.000Z',
    }),
  },
};
