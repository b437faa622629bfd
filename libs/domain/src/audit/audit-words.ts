import type { AuditAction } from './actions.ts';
import type { AuditOutcome } from './record.ts';

/** Kinds of {@link AuditFault}. `forged_seal`: this deployment did not write the seal. `cut_off`: a seal covers records that are missing. */
export const AUDIT_FAULT_KINDS = ['changed', 'missing', 'inserted', 'cut_off', 'forged_seal'] as const;

/** Places of a seal. `kept`: among those that were given to the verification. */
export const SEAL_PLACES = ['topic', 'store', 'kept'] as const;
export type SealPlace = (typeof SEAL_PLACES)[number];

/** The first difference between the audit and its seals. */
export type AuditFault = {
  readonly kind: (typeof AUDIT_FAULT_KINDS)[number];
  /** Position of the first record that is changed, missing or inserted. */
  readonly position: number;
  /** The first seal that fails. Null if the chain itself breaks. */
  readonly seal: { readonly place: SealPlace; readonly through: number } | null;
};

const FAULTS: Readonly<Record<AuditFault['kind'], string>> = {
  changed: 'was changed since it was written',
  missing: 'is missing',
  inserted: 'was inserted afterwards',
  cut_off: 'and all records after it were cut off',
  forged_seal: 'has a seal that this deployment did not write',
};
const PLACES: Readonly<Record<SealPlace, string>> = {
  topic: 'on the topic',
  store: 'in the store',
  kept: 'among those that you kept',
};

/** Returns a fault as a sentence without a full stop, as API, commands and portal show it. */
export function describeAuditFault({ kind, position, seal }: AuditFault): string {
  const where = seal ? `; the first seal that fails is ${PLACES[seal.place]}, through position ${seal.through}` : '';
  return `the record at position ${position} ${FAULTS[kind]}${where}`;
}

type Verb = Exclude<AuditAction, 'access.refused'> extends `${string}.${infer Name}` ? Name : never;

const VERBS: Readonly<Record<Verb, string>> = {
  accept: 'accepted',
  add: 'added',
  apply: 'applied',
  cancel: 'called off',
  change: 'changed',
  close: 'closed',
  create: 'made',
  credentials: 'changed the credentials of',
  cut: 'shortened',
  discard: 'discarded',
  dismiss: 'dismissed',
  end: 'ended',
  export: 'exported',
  forget: 'had rules forget',
  import: 'imported',
  look: 'looked at',
  open: 'opened',
  publish: 'published',
  read: 'read',
  redrive: 'redrove',
  remove: 'removed',
  reopen: 'reopened',
  resend: 'sent again',
  reset: 'reset',
  revoke: 'ended',
  rollback: 'rolled back',
  rotate: 'rotated',
  send: 'sent',
  set: 'set',
  start: 'started',
  stop: 'stopped',
  verify: 'verified',
  write: 'wrote',
};

/** Returns an action as text that follows its actor: `member.change` is "changed member". An action of a later version stays as it is. */
export function describeAuditAction(action: string): string {
  if (action === 'access.refused') return 'was refused at';
  const [thing = '', verb = ''] = action.split('.');
  const text = (VERBS as Readonly<Record<string, string>>)[verb];
  return text === undefined ? action : `${text} ${thing === 'api_key' ? 'API key' : thing.replaceAll('_', ' ')}`;
}

/** Returns the outcome of an action, with the code of the problem if there was one. Null if the action was done. */
export function describeAuditOutcome(outcome: AuditOutcome, code: string | null): string | null {
  if (outcome === 'done') return null;
  if (outcome === 'begun') return 'Outcome not recorded';
  return `${outcome === 'refused' ? 'Refused' : 'Failed'}${code === null ? '' : `: ${code}`}`;
}
