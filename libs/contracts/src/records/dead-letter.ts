import type { DeadLetter } from '@carillon/domain/events';
import type { RecordKind } from './record-kind.ts';
import { InvalidRecord } from './codec.ts';
import { listOf, readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

const STAGES: Readonly<Record<DeadLetter['stage'], true>> = {
  append: true,
  evaluate: true,
  cohorts: true,
  ask: true,
  resolve: true,
  deliver: true,
  receipts: true,
  consents: true,
  project: true,
  configure: true,
};

type WireDeadLetter = {
  id: string;
  stage: string;
  workspace: string | null;
  topic: string;
  partition: number;
  offset: number;
  key: string;
  reason: string;
  at: number;
  personal: Buffer;
};

/** The record's own bytes and headers are personal; headers go as pairs, so that no name has a meaning of its own. */
export const deadLetterRecord = {
  name: 'dead-letter',
  topic: 'carillon.dead-letters',
  owner: 'every stage',
  description: 'Records that can never be processed, with the reason and their own bytes.',
  key: 'key of the record',
  partitions: 8,
  retention: '30d',
  embeddedRetention: 'forever',
  schema: {
    type: 'record',
    name: 'DeadLetter',
    namespace: 'carillon',
    doc: 'A record that can never be processed, with the reason and its own bytes.',
    fields: [
      { name: 'id', type: 'string' },
      { name: 'stage', type: 'string', doc: 'append, evaluate, ask, resolve, deliver, project or configure.' },
      { name: 'workspace', type: ['null', 'string'], default: null },
      { name: 'topic', type: 'string' },
      { name: 'partition', type: 'int' },
      { name: 'offset', type: 'long' },
      { name: 'key', type: 'string', doc: 'Key of the record: a keyed hash.' },
      { name: 'reason', type: 'string', doc: 'Class of the failure, such as invalid_json or unknown_schema.' },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {headers, value, detail}: headers as pairs, value as base64. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (letter) => ({
    id: letter.id,
    stage: letter.stage,
    workspace: letter.workspace,
    topic: letter.topic,
    partition: letter.partition,
    offset: letter.offset,
    key: letter.key,
    reason: letter.reason,
    at: letter.at,
    personal: writePersonal({
      headers: Object.entries(letter.headers),
      value: Buffer.from(letter.value).toString('base64'),
      detail: letter.detail,
    }),
  }),
  read: (wire) => {
    const personal = readPersonal(wire.personal);
    const pairs = listOf(personal['headers'], 'headers').map((pair) => {
      const [name, value] = listOf(pair, 'a header');
      return [textOf(name, 'the name of a header'), textOf(value, 'the value of a header')] as const;
    });
    return {
      id: wire.id,
      stage: wordOf(wire.stage, STAGES, 'stage'),
      workspace: wire.workspace,
      topic: wire.topic,
      partition: wire.partition,
      offset: wire.offset,
      key: wire.key,
      headers: Object.fromEntries(pairs),
      value: bytesOf(textOf(personal['value'], 'value')),
      reason: wire.reason,
      detail: textOf(personal['detail'], 'detail'),
      at: wire.at,
    };
  },
} satisfies RecordKind<DeadLetter, WireDeadLetter>;

function bytesOf(base64: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  if (Buffer.from(bytes).toString('base64') !== base64) throw new InvalidRecord('value is not base64');
  return bytes;
}
