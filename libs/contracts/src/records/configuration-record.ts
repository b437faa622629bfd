import {
  CHANGED_BY_OWNER,
  ORIGINS,
  type ChangeOrigin,
  type ConfigurationRecord,
  type ResourceChange,
  type ResourceKind,
} from '@carillon/domain/configuration';
import { ACTOR_KINDS, type Actor } from '@carillon/domain/people';
import type { RecordKind } from './record-kind.ts';
import { InvalidRecord } from './codec.ts';
import { readPersonal, wordOf, writePersonal } from './personal.ts';

const KINDS: Readonly<Record<ResourceKind, true>> = {
  deployment: true,
  workspace: true,
  stream: true,
  notification: true,
  template: true,
  layout: true,
  partial: true,
  account: true,
  integration: true,
  api_key: true,
  jwt_provider: true,
};

type WireChange = {
  kind: string;
  workspace: string;
  name: string;
  based_on: number | null;
  body: string | null;
};
type WireConfigurationRecord = {
  id: string;
  at: string;
  changes: WireChange[];
  actor_kind: string | null;
  actor_id: string | null;
  origin: string | null;
  request_id: string | null;
  personal: Buffer;
};

/** Bodies are JSON text: their shape is that of the files, which grow without a new schema of the log. */
export const configurationRecord = {
  name: 'configuration-record',
  topic: 'carillon.config',
  owner: 'control',
  description: 'Every change of configuration; the position of a record is the number of the configuration.',
  key: 'the word configuration',
  partitions: 1,
  retention: 'forever',
  schema: {
    type: 'record',
    name: 'ConfigurationRecord',
    namespace: 'carillon',
    doc: 'Changes to configuration resources: applied whole, or void as a whole when any is based on an older number.',
    fields: [
      { name: 'id', type: 'string' },
      { name: 'at', type: 'string', doc: 'RFC 3339.' },
      {
        name: 'changes',
        type: {
          type: 'array',
          items: {
            type: 'record',
            name: 'ResourceChange',
            fields: [
              {
                name: 'kind',
                type: 'string',
                doc: 'deployment, workspace, stream, notification, template, account, integration, api_key or jwt_provider.',
              },
              { name: 'workspace', type: 'string', doc: 'Empty for the deployment.' },
              { name: 'name', type: 'string' },
              {
                name: 'based_on',
                type: ['null', 'long'],
                default: null,
                doc: 'Number that the author had seen; null: it did not exist.',
              },
              {
                name: 'body',
                type: ['null', 'string'],
                default: null,
                doc: 'JSON of the new body; null takes the resource away.',
              },
            ],
          },
        },
      },
      {
        name: 'actor_kind',
        type: ['null', 'string'],
        default: null,
        doc: 'person, token, cli or system; null: the owner, before it was written down.',
      },
      {
        name: 'actor_id',
        type: ['null', 'string'],
        default: null,
        doc: 'Stays when the person or the token is removed.',
      },
      {
        name: 'origin',
        type: ['null', 'string'],
        default: null,
        doc: 'portal, api, apply, rollback, promote or cli; null: cli.',
      },
      { name: 'request_id', type: ['null', 'string'], default: null },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {author, message}; author repeats actor_id for older readers, message may be missing. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (record) => ({
    id: record.id,
    at: record.at,
    changes: record.changes.map((change) => ({
      kind: change.ref.kind,
      workspace: change.ref.workspace,
      name: change.ref.name,
      based_on: change.based_on,
      body: change.body === null ? null : JSON.stringify(change.body),
    })),
    actor_kind: record.by.actor.kind,
    actor_id: record.by.actor.id,
    origin: record.by.origin,
    request_id: record.by.requestId,
    personal: writePersonal({
      author: record.by.actor.id,
      ...(record.by.message !== null && { message: record.by.message }),
    }),
  }),
  read: (wire) => ({
    id: wire.id,
    at: wire.at,
    by: readOrigin(wire),
    changes: wire.changes.map(readChange),
  }),
} satisfies RecordKind<ConfigurationRecord, WireConfigurationRecord>;

/** Values of a later version must not stop reading the configuration, so they are read as the nearest known value. */
function readOrigin(wire: WireConfigurationRecord): ChangeOrigin {
  const { message } = readPersonal(wire.personal);
  return {
    actor: readActor(wire),
    origin: wire.origin === null ? CHANGED_BY_OWNER.origin : (ORIGINS.find((one) => one === wire.origin) ?? 'api'),
    message: typeof message === 'string' ? message : null,
    requestId: wire.request_id,
  };
}

function readActor({ actor_kind, actor_id }: WireConfigurationRecord): Actor {
  if (actor_kind === null || actor_id === null) return CHANGED_BY_OWNER.actor;
  return { kind: ACTOR_KINDS.find((one) => one === actor_kind) ?? 'system', id: actor_id };
}

/** The body's inner shape is trusted: only `apply` and the API write this topic, and both check before they write. */
function readChange(wire: WireChange): ResourceChange {
  const kind = wordOf(wire.kind, KINDS, 'kind');
  const body: unknown = wire.body === null ? null : JSON.parse(wire.body);
  if (wire.body !== null && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw new InvalidRecord(`the body of ${kind} ${wire.name} is not an object`);
  }
  const change = { ref: { kind, workspace: wire.workspace, name: wire.name }, based_on: wire.based_on, body };
  return change as ResourceChange;
}
