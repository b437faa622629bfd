import { AUDIT_OUTCOMES, type AuditOutcome, type AuditRecord, type AuditSeal } from '@carillon/domain/audit';
import { ACTOR_KINDS, SYSTEM_ACTOR, type ActorKind } from '@carillon/domain/people';
import { InvalidRecord } from './codec.ts';
import type { RecordKind } from './record-kind.ts';
import { readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

const KINDS = Object.fromEntries(ACTOR_KINDS.map((kind) => [kind, true])) as Record<ActorKind, true>;
const OUTCOMES = Object.fromEntries(AUDIT_OUTCOMES.map((word) => [word, true])) as Record<AuditOutcome, true>;
const LEAF_BYTES = 8;

type WireSeal = {
  since: number;
  through: number;
  hash: string;
  mac: string;
  configuration: number;
  leaves: Buffer;
};

type WireAudit = {
  id: string;
  at: number;
  actor_kind: string;
  actor_id: string;
  what: string;
  target: string | null;
  workspace: string | null;
  request_id: string | null;
  number: number | null;
  before: string | null;
  after: string | null;
  outcome: string;
  code: string | null;
  detail: string | null;
  personal: Buffer;
  seal: WireSeal | null;
};

const NOTHING = {
  target: null,
  workspace: null,
  request_id: null,
  number: null,
  before: null,
  after: null,
  code: null,
  detail: null,
} as const;

/** Where it came from counts as personal. Of an entry without an author the id is empty. */
export const auditRecord = {
  name: 'audit-record',
  topic: 'carillon.audit',
  owner: 'control',
  description:
    'Who did what: a record before an action and one with its outcome before the answer, chained by the position and the bytes of each, with seals in between.',
  key: 'the word audit',
  partitions: 1,
  retention: 'forever',
  schema: {
    type: 'record',
    name: 'AuditRecord',
    namespace: 'carillon',
    doc: 'What somebody did, or a seal on all records before it. Of a seal only id, at and seal say something.',
    fields: [
      {
        name: 'id',
        type: 'string',
        doc: 'The same in the record that stands before an action and in the one that tells its outcome.',
      },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      { name: 'actor_kind', type: 'string', doc: 'person, token, cli or system.' },
      {
        name: 'actor_id',
        type: 'string',
        doc: 'Stays when the person or the token is removed; empty where nobody was known.',
      },
      { name: 'what', type: 'string', doc: 'Such as delivery.resend; audit.seal of a seal.' },
      {
        name: 'target',
        type: ['null', 'string'],
        default: null,
        doc: 'Id or name of what it was done to; never an address of a person.',
      },
      { name: 'workspace', type: ['null', 'string'], default: null, doc: 'Null: the deployment, or several.' },
      { name: 'request_id', type: ['null', 'string'], default: null },
      { name: 'number', type: ['null', 'long'], default: null, doc: 'Configuration that it made.' },
      { name: 'before', type: ['null', 'string'], default: null, doc: 'Digest of what was there before.' },
      { name: 'after', type: ['null', 'string'], default: null, doc: 'Digest of what is there since.' },
      { name: 'outcome', type: 'string', doc: 'begun, done, refused or failed.' },
      { name: 'code', type: ['null', 'string'], default: null, doc: 'Code of the problem that was answered.' },
      {
        name: 'detail',
        type: ['null', 'string'],
        default: null,
        doc: 'What a person gave as a reason, and what the action covers.',
      },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {address, user_agent}, each left out where it is not known. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
      {
        name: 'seal',
        type: [
          'null',
          {
            type: 'record',
            name: 'AuditSeal',
            fields: [
              { name: 'since', type: 'long', doc: 'First position that `leaves` tells of.' },
              { name: 'through', type: 'long', doc: 'Last position that the seal holds.' },
              { name: 'hash', type: 'string', doc: 'Of the chain at `through`, as hexadecimal digits.' },
              { name: 'mac', type: 'string', doc: 'Over log, `through` and `hash`, under a key of the deployment.' },
              {
                name: 'configuration',
                type: 'long',
                doc: 'Every record of carillon.config below this number is told of.',
              },
              {
                name: 'leaves',
                type: 'bytes',
                doc: 'First 8 bytes of SHA-256 of each record from `since` to `through`: tells which one is not as it was.',
              },
            ],
          },
        ],
        default: null,
      },
    ],
  },
  write: (record) => {
    const { id, at } = record;
    if (record.kind === 'seal') {
      const actor = { actor_kind: SYSTEM_ACTOR.kind, actor_id: SYSTEM_ACTOR.id };
      const seal = writeSeal(record.seal);
      return { id, at, ...actor, what: 'audit.seal', ...NOTHING, outcome: 'done', personal: writePersonal({}), seal };
    }
    const { address, userAgent } = record.from;
    return {
      id,
      at,
      actor_kind: record.actor?.kind ?? 'system',
      actor_id: record.actor?.id ?? '',
      what: record.what,
      target: record.target,
      workspace: record.workspace,
      request_id: record.requestId,
      number: record.number,
      before: record.before,
      after: record.after,
      outcome: record.outcome,
      code: record.code,
      detail: record.detail,
      personal: writePersonal({
        ...(address !== null && { address }),
        ...(userAgent !== null && { user_agent: userAgent }),
      }),
      seal: null,
    };
  },
  read: (wire) => {
    const { id, at } = wire;
    if (wire.seal) return { kind: 'seal', id, at, seal: readSeal(wire.seal) };
    const { address, user_agent: userAgent } = readPersonal(wire.personal);
    const kind = wordOf(wire.actor_kind, KINDS, 'actor_kind');
    return {
      kind: 'entry',
      id,
      at,
      actor: wire.actor_id === '' ? null : { kind, id: wire.actor_id },
      what: wire.what,
      target: wire.target,
      workspace: wire.workspace,
      from: {
        address: address === undefined ? null : textOf(address, 'address'),
        userAgent: userAgent === undefined ? null : textOf(userAgent, 'user_agent'),
      },
      requestId: wire.request_id,
      number: wire.number,
      before: wire.before,
      after: wire.after,
      outcome: wordOf(wire.outcome, OUTCOMES, 'outcome'),
      code: wire.code,
      detail: wire.detail,
    };
  },
} satisfies RecordKind<AuditRecord, WireAudit>;

const writeSeal = ({ leaves, ...seal }: AuditSeal): WireSeal => ({
  ...seal,
  leaves: Buffer.from(leaves.join(''), 'hex'),
});

function readSeal({ leaves, ...seal }: WireSeal): AuditSeal {
  const count = leaves.length / LEAF_BYTES;
  if (!Number.isInteger(count)) throw new InvalidRecord('leaves are not of 8 bytes each');
  const one = (_: unknown, at: number): string =>
    leaves.subarray(at * LEAF_BYTES, (at + 1) * LEAF_BYTES).toString('hex');
  const { since, through, hash, mac, configuration } = seal;
  return { since, through, hash, mac, configuration, leaves: Array.from({ length: count }, one) };
}
