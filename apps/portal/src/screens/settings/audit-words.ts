import type { Schemas } from '../../api/client.ts';

type Fault = NonNullable<Schemas['AuditVerdict']['fault']>;
type Actor = Schemas['AuditEntry']['actor'];

const KINDS: Readonly<Record<Fault['kind'], string>> = {
  changed: 'was changed since it was written',
  missing: 'is missing',
  inserted: 'was put in afterwards',
  cut_off: 'is where the audit was cut off',
  forged_seal: 'has a seal that this deployment did not make',
};
const PLACES = { topic: 'on the topic', store: 'in the store', kept: 'among those that you kept' } as const;

/** The first thing that does not fit, by position. */
export function faultSentence({ kind, position, seal }: Fault): string {
  const where = seal === null ? '' : `; the first seal that fails is ${PLACES[seal.place]}, through ${seal.through}`;
  return `Broken: record ${position} ${KINDS[kind]}${where}`;
}

const VERBS: Readonly<Record<string, string>> = {
  create: 'made',
  cut: 'shortened',
  revoke: 'ended',
  verify: 'verified',
  write: 'wrote',
  apply: 'applied',
  export: 'exported',
  publish: 'published',
  import: 'imported',
  set: 'set',
  read: 'read',
  redrive: 'redrove',
  cancel: 'called off',
  dismiss: 'dismissed',
  resend: 'sent again',
  change: 'changed',
  discard: 'discarded',
  send: 'sent',
  accept: 'accepted',
  remove: 'removed',
  credentials: 'changed the credentials of',
  rollback: 'rolled back',
  rotate: 'rotated',
  close: 'closed',
  open: 'opened',
  reopen: 'reopened',
  add: 'added',
  start: 'started',
  end: 'ended',
  reset: 'reset',
};
const THINGS: Readonly<Record<string, string>> = { api_key: 'API key', access: 'access', session: 'session' };

/** `member.change` → `changed member`. A new word of the API shows as it is. */
export function actionWords(action: string): string {
  if (action === 'access.refused') return 'was refused at';
  const [thing = '', verb = ''] = action.split('.');
  const did = VERBS[verb];
  return did === undefined ? action : `${did} ${THINGS[thing] ?? thing.replaceAll('_', ' ')}`;
}

/** Who it was, by name where that is known. */
export function whoWords(actor: Actor, names: ReadonlyMap<string, string>): string {
  if (actor === null) return 'Nobody known';
  if (actor.kind === 'cli') return 'The owner token';
  if (actor.kind === 'system') return 'Carillon';
  const name = names.get(actor.id);
  if (name !== undefined) return name;
  return actor.kind === 'token' ? `Token ${actor.id}` : `Person ${actor.id}`;
}

/** How it ended, of what was not simply done. */
export function outcomeWords(outcome: string, code: string | null): string {
  if (outcome === 'begun') return 'Nobody saw how it ended';
  return `${outcome === 'refused' ? 'Refused' : 'Failed'}${code === null ? '' : `: ${code}`}`;
}
