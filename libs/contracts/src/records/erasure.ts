import { readPersonal, textOf, writePersonal } from './personal.ts';
import type { RecordKind } from './record-kind.ts';

/** An order to erase what is known of a person. */
type Erasure = {
  readonly id: string;
  readonly workspace: string;
  readonly person: string;
  readonly at: number;
};

type WireErasure = { id: string; workspace: string; at: number; personal: Buffer };

export const erasureRecord = {
  name: 'erasure',
  topic: 'carillon.erasures',
  owner: 'control',
  description: 'Orders to erase what is known of a person.',
  key: 'person',
  partitions: 8,
  retention: 'forever',
  schema: {
    type: 'record',
    name: 'Erasure',
    namespace: 'carillon',
    doc: 'An order to erase what is known of a person.',
    fields: [
      { name: 'id', type: 'string' },
      { name: 'workspace', type: 'string' },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      { name: 'personal', type: 'bytes', doc: 'JSON {person}. Clear text begins with `{`.' },
    ],
  },
  write: ({ id, workspace, person, at }) => ({ id, workspace, at, personal: writePersonal({ person }) }),
  read: ({ id, workspace, at, personal }) => ({
    id,
    workspace,
    person: textOf(readPersonal(personal)['person'], 'person'),
    at,
  }),
} satisfies RecordKind<Erasure, WireErasure>;
