/** Examples of the audit, by operation. */
const ENTRY = {
  id: 'aud_37G5398XK2YK0SPEA59673M7JP',
  position: 41,
  at: '2026-11-22T10:42:00.180Z',
  actor: { kind: 'cli', id: 'owner' },
  action: 'api_key.create',
  action_words: 'made API key',
  target: 'api_key:shop/backend',
  workspace: 'shop',
  from: { address: '127.0.0.1', user_agent: 'carillon/0.1' },
  request_id: 'req_37G5398XK2YK0SPEA59673M7JP',
  number: 7,
  before: null,
  after: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  outcome: 'done',
  code: null,
  outcome_words: null,
  detail: null,
};

export const AUDIT_EXAMPLES = {
  reachStep: { takes: { step: 'message', seconds: 140, clicks: 11 }, answers: { noted: true } },
  readOnboarding: {
    answers: {
      people: 2,
      steps: [
        { step: 'came', reached: 2, stopped: 0, seconds: 0, clicks: 0 },
        { step: 'notification', reached: 2, stopped: 0, seconds: 35, clicks: 4 },
        { step: 'key', reached: 2, stopped: 0, seconds: 35, clicks: 4 },
        { step: 'event', reached: 2, stopped: 1, seconds: 110, clicks: 9 },
        { step: 'message', reached: 1, stopped: 1, seconds: 140, clicks: 11 },
      ],
    },
  },
  listAllAudit: { answers: { items: [ENTRY], next: null } },
  listAudit: { answers: { items: [ENTRY], next: null } },
  verifyAudit: {
    takes: {
      seals: [
        {
          through: 40,
          hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
          mac: '37G5398XK2YK0SPEA59673M7JP',
        },
      ],
    },
    answers: { ok: true, begins: 0, records: 43, seals: 3, sealed_through: 40, fault: null },
  },
};
