/** Examples of the audit, by operation. */
const ENTRY = {
  id: 'aud_37G5398XK2YK0SPEA59673M7JP',
  position: 41,
  at: '2026-11-22T10:42:00.180Z',
  actor: { kind: 'cli', id: 'owner' },
  action: 'api_key.create',
  target: 'api_key:shop/backend',
  workspace: 'shop',
  from: { address: '127.0.0.1', user_agent: 'carillon/0.1' },
  request_id: 'req_37G5398XK2YK0SPEA59673M7JP',
  number: 7,
  before: null,
  after: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  outcome: 'done',
  code: null,
};

export const AUDIT_EXAMPLES = {
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
    answers: { ok: true, records: 43, seals: 3, sealed_through: 40, fault: null },
  },
};
