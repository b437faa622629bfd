import { page } from './operation-example.ts';

const AT = '2026-11-22T10:42:00.000Z';
const LATER = '2026-12-22T10:42:00.000Z';
const PERSON_ID = 'per_37G5398XK2YK0SPEA59673M7JP';
const SESSION_ID = 'ses_0GMPXQ2V7T1C9H4B8KJ5N6R3WD';

const SESSION = {
  id: SESSION_ID,
  person: PERSON_ID,
  way: 'password',
  current: true,
  created_at: AT,
  used_at: AT,
  ends_at: LATER,
  address: '203.0.113.7',
  agent: 'Mozilla/5.0',
};
const ME = {
  actor: { kind: 'person', id: PERSON_ID },
  person: {
    id: PERSON_ID,
    name: 'Ada',
    email: 'ada@example.com',
    unconfirmed_email: null,
    has_password: true,
    totp: false,
    recovery_codes_left: 0,
  },
  owner: false,
  permissions: [],
  workspaces: [{ workspace: 'shop', permissions: ['read', 'bodies', 'configure'] }],
  roles_with: [{ permission: 'people', roles: ['owner'] }],
  session: SESSION,
};
const RECOVERY_CODES = { recovery_codes: ['abcd-efgh-ijkl-mnop'] };

const PERSON = {
  id: PERSON_ID,
  name: 'Ada',
  email: 'ada@example.com',
  unconfirmed_email: null,
  state: 'active',
  owner: false,
  memberships: [{ workspace: 'shop', role: 'editor' }],
  has_password: true,
  totp: false,
  created_at: AT,
};
const MEMBER = { person: PERSON_ID, name: 'Ada', email: 'ada@example.com', unconfirmed_email: null, roles: ['editor'] };
const TOKEN = {
  id: 'tok_37G5398XK2YK0SPEA59673M7JP',
  name: 'nightly report',
  scopes: ['read'],
  workspaces: ['shop'],
  by: { kind: 'person', id: PERSON_ID },
  created_at: AT,
  expires_at: LATER,
  used_at: null,
  expired: false,
};

const INVITATION = {
  id: 'inv_37G5398XK2YK0SPEA59673M7JP',
  email: 'bob@example.com',
  owner: false,
  memberships: [{ workspace: 'shop', role: 'operator' }],
  by: { kind: 'person', id: PERSON_ID },
  created_at: AT,
  ends_at: '2026-11-29T10:42:00.000Z',
  used: false,
};

/** Examples of who may use the deployment, by operation. */
const ERASURE = {
  id: 'era_602BN2RCRE2KJBAYXEPNG7RFSX',
  workspace: 'shop',
  job: 'job_5AEG1WSTZD6KVXRMG94H6MJV98',
  reason: 'Letter of 2026-11-20',
  requested_by: { kind: 'person', id: PERSON_ID, name: 'Ada' },
  requested_at: '2026-11-22T10:42:00.000Z',
  erased_at: '2026-11-22T10:42:04.000Z',
  erased: { log_records: 5, deliveries: 1, opt_outs: 1 },
  remains: [{ where: 'backups', until: null, detail: 'Backups written before the erasure' }],
};
const CHECKSUM = '5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592';

export const PEOPLE_EXAMPLES = {
  erasePerson: {
    takes: { person: 'bob@example.com', reason: 'Letter of 2026-11-20' },
    answers: { found: ERASURE.erased, checksum: CHECKSUM, shared_addresses: 0, undecided: [], erasure: null },
  },
  listErasures: { answers: { items: [ERASURE], next: null } },
  exportErasures: {
    answers: {
      format: 'carillon-erasures',
      log_id: 'log_2V9M4Q6W0JHT8RF1B7N5XK8C3Z',
      exported_at: '2026-11-22T10:43:00.000Z',
      erasures: [],
      checksum: '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
    },
  },
  openSession: {
    takes: { email: 'ada@example.com', password: 'correct horse battery staple', code: '123456' },
    answers: { ok: true, person: PERSON_ID, way: 'password' },
  },
  listSignInWays: {
    answers: {
      passwords: true,
      providers: [{ name: 'company', title: 'Company account', begin: '/sign-in/company' }],
    },
  },
  listIdentities: {
    answers: {
      items: [
        {
          id: 'XcAJXiWfhgOBkPBIVSVZVIVJ8oUkVCGg3ZyxVHJ3bGk',
          provider: 'company',
          issuer: 'https://login.example.com',
          bound_at: AT,
        },
      ],
      next: null,
    },
  },
  connectIdentity: {
    takes: { provider: 'company', to: '/settings/profile' },
    answers: { location: 'https://login.example.com/authorize?client_id=carillon' },
  },
  removeIdentity: { answers: { removed: true } },
  closeSession: { answers: { ok: true } },
  createOwnerLink: { takes: {}, answers: { word: 'zLXJYq4H…', ends_at: '2026-11-22T10:57:00.000Z' } },
  listSessions: { answers: page(SESSION) },
  endSessions: { answers: { ended: 2 } },
  endSession: { answers: { ended: 1 } },
  readMe: { answers: ME },
  changeMe: { takes: { name: 'Ada Lovelace' }, answers: ME },
  leave: { takes: { current_password: 'correct horse battery staple' }, answers: { removed: true } },
  setPassword: { takes: { password: 'correct horse battery staple' }, answers: { ok: true } },
  beginTotp: {
    takes: { current_password: 'correct horse battery staple' },
    answers: { secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/Carillon%3Aada%40example.com?secret=JBSWY3DPEHPK3PXP' },
  },
  confirmTotp: { takes: { code: '123456' }, answers: RECOVERY_CODES },
  removeTotp: { takes: { current_password: 'correct horse battery staple' }, answers: { removed: true } },
  listPeople: { answers: page(PERSON) },
  readPerson: { answers: PERSON },
  changePerson: { takes: { state: 'active' }, answers: PERSON },
  removePerson: { answers: { removed: true } },
  resetCredentials: { answers: { removed: true } },
  listMembers: { answers: page(MEMBER) },
  changeMember: { takes: { roles: ['editor'] }, answers: MEMBER },
  removeMember: { answers: { removed: true } },
  listInvitations: { answers: page(INVITATION) },
  createInvitation: {
    takes: { email: 'bob@example.com', memberships: [{ workspace: 'shop', role: 'operator' }] },
    answers: {
      ...INVITATION,
      word: 'inv_…',
      link: 'https://notify.example.com/invitation#inv_…',
      mailed: 'sent',
    },
  },
  endInvitation: { answers: { removed: true } },
  lookAtInvitation: {
    takes: { word: 'inv_…' },
    answers: {
      email: 'bob@example.com',
      owner: false,
      memberships: [{ workspace: 'shop', role: 'operator' }],
      ends_at: '2026-11-29T10:42:00.000Z',
      has_account: false,
    },
  },
  acceptInvitation: {
    takes: { word: 'inv_…', name: 'Bob', password: 'correct horse battery staple' },
    answers: { ok: true, person: PERSON_ID, way: 'invitation' },
  },
  openMailedLink: { takes: { word: 'eml_…' }, answers: { purpose: 'address', email: 'ada@example.org' } },
  confirmAddress: { takes: { email: 'ada@example.org' }, answers: { purpose: 'address', email: 'ada@example.org' } },
  listTokens: { answers: page(TOKEN) },
  createToken: {
    takes: { name: 'nightly report', scopes: ['read'], workspaces: ['shop'], expires_in: '30d' },
    answers: { ...TOKEN, token: 'svc_…' },
  },
  revokeToken: { answers: { removed: true } },
  renewRecoveryCodes: { takes: {}, answers: RECOVERY_CODES },
};
