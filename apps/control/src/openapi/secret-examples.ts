import { page } from './operation-example.ts';

const AT = '2026-11-22T10:42:00.000Z';

const SECRET = {
  workspace: 'shop',
  name: 'CRM_KEY',
  version: 2,
  fingerprint: '9F2C',
  updated_at: AT,
  updated_by: { kind: 'cli', id: 'owner' },
  overridden: false,
  readable: true,
  used_by: [{ kind: 'integration', name: 'crm' }],
};
const OWN = {
  ...SECRET,
  workspace: '',
  name: 'SMTP_PASSWORD',
  version: 1,
  used_by: [{ kind: 'deployment', name: '' }],
};
const REMOVED = { removed: true };

const OLD = '4Z1K7Q0X9M3V5T8B2N6H1R0D4W';
const NEW = '7C2M9X4B0Q8K1V6Z3T5N0H2R8D';
const masterKey = (fingerprint: string, more: object) => ({ fingerprint, held: true, starts: true, alone: 0, ...more });
const state = (...master_keys: readonly object[]) => ({
  source: 'environment',
  master_keys,
  data_keys: 3,
  values: 5,
  values_behind: 0,
  unreadable: [],
});
const ALONE = state(masterKey(NEW, { data_keys: 3, alone: 3 }));
const BOTH = state(masterKey(OLD, { data_keys: 3 }), masterKey(NEW, { data_keys: 3, starts: false }));

export const SECRET_EXAMPLES = {
  listSecrets: { answers: page(SECRET) },
  setSecret: { takes: { value: 'a key of the partner' }, answers: SECRET },
  removeSecret: { answers: REMOVED },
  listDeploymentSecrets: { answers: page(OWN) },
  setDeploymentSecret: { takes: { value: 'a password' }, answers: OWN },
  removeDeploymentSecret: { answers: REMOVED },
  readMasterKeys: { answers: BOTH },
  rotateMasterKey: { takes: {}, answers: BOTH },
  renewSecretValues: { takes: {}, answers: { ...ALONE, renewed: 5 } },
  finishMasterKey: { takes: {}, answers: ALONE },
  cancelMasterKey: { takes: {}, answers: ALONE },
} as const;
