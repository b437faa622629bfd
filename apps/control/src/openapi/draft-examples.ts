const AT = '2026-11-22T10:42:00.000Z';
const ADA = { kind: 'person', id: 'per_37G5398XK2YK0SPEA59673M7JP', name: 'Ada' };

const FACTS = {
  kind: 'notification',
  workspace: 'shop',
  name: 'order-paid',
  action: 'update',
  state: 'open',
  revision: '4QZ7K1M9X2',
  based_on: 7,
  number: 7,
  by: ADA,
  at: AT,
  promoted_from: null,
};
const BODY = {
  channels: { email: { template: 'order-paid' } },
  rules: {
    paid: {
      stream: 'orders',
      when: 'event.status == "paid"',
      recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.order_id' },
    },
  },
};
const DRAFT = { ...FACTS, body: BODY, faults: [], warnings: [], conflict: null };
const SETTINGS = { ...DRAFT, kind: 'workspace', name: '', body: { name: 'Shop', time_zone: 'Europe/Berlin' } };
const CHANGE = {
  action: 'update',
  resource: 'notification shop/order-paid',
  note: null,
  formers: [],
  told: null,
  waiting: null,
  fields: [{ path: 'rules.paid.when', before: 'event.status == "new"', after: 'event.status == "paid"' }],
};
const FILE = {
  path: 'workspaces/shop/notifications/order-paid.yaml',
  before: 'channels:\n  email: { template: order-paid }\n',
  after: 'channels:\n  email: { template: order-paid }\nenabled: true\n',
};
const NAMED = { kind: 'notification', name: 'order-paid' };
const PLAN = {
  faults: [],
  warnings: [],
  changes: [CHANGE],
  files: [FILE],
  bodies: [{ ...NAMED, before: { ...BODY, enabled: false }, after: BODY }],
};

const REMOVAL = {
  workspace: 'shop-test',
  removed: false,
  number: 41,
  new_number: null,
  resources: { notification: 3, stream: 2, template: 3, api_key: 1 },
  members: 2,
  secrets: 1,
  drafts: 1,
  told: 14,
  waiting: 2,
  waits: [
    'notification shop-test/order-unpaid: 2 entities wait, the next until 2026-11-29T11:00:03.000Z by rule not-paid, which is removed: their waits end without a message',
  ],
  faults: [],
};

/** Examples of drafts and of what is promoted, by operation. */
export const DRAFT_EXAMPLES = {
  countWorkspaceRemoval: { answers: REMOVAL },
  removeWorkspace: { takes: { number: 41 }, answers: { ...REMOVAL, removed: true, new_number: 42 } },
  readDraft: { answers: DRAFT },
  saveDraft: { takes: { body: BODY, based_on: 7 }, answers: DRAFT },
  discardDraft: { answers: { discarded: true } },
  readWorkspaceDraft: { answers: SETTINGS },
  saveWorkspaceDraft: { takes: { body: SETTINGS.body, based_on: 3 }, answers: SETTINGS },
  discardWorkspaceDraft: { answers: { discarded: true } },
  listDrafts: { answers: { items: [FACTS], next: null } },
  planDrafts: {
    takes: { drafts: [NAMED] },
    answers: {
      number: 7,
      drafts: [FACTS],
      conflicts: [],
      ...PLAN,
    },
  },
  publishDrafts: {
    takes: { drafts: [{ ...NAMED, revision: FACTS.revision }], message: 'Paid orders alone' },
    answers: { new_number: 8, published: [{ ...NAMED, workspace: 'shop' }], warnings: [], changes: [CHANGE] },
  },
  promoteWorkspace: {
    takes: { check_only: true },
    answers: {
      live: 'shop',
      written: false,
      drafts: [{ ...NAMED, workspace: 'shop', action: 'update', replaces_newer: false }],
      unchanged: 2,
      in_the_way: [],
      missing: [{ kind: 'account', name: 'twilio', needed_by: ['notification order-paid'] }],
      only_live: [],
      plan: PLAN,
    },
  },
  copyLiveWorkspace: {
    takes: { resources: [NAMED], with_needs: true },
    answers: {
      from: 'shop',
      written: true,
      drafts: [{ ...NAMED, workspace: 'shop-test', action: 'create', replaces_newer: false }],
      unchanged: 0,
      in_the_way: [],
      missing: [{ kind: 'api_key', name: 'backend', needed_by: ['notification order-paid'] }],
      plan: PLAN,
    },
  },
};
