import type { DeadLetter } from '@carillon/domain';
import type { RecordShape } from './codec.ts';
import { InvalidRecord } from './codec.ts';
import { listOf, readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

const STAGES: Readonly<Record<DeadLetter['stage'], true>> = {
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
export const deadLetterShape: RecordShape<DeadLetter, WireDeadLetter> = {
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
};

function bytesOf(base64: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  if (Buffer.from(bytes).toString('base64') !== base64) throw new InvalidRecord('value is not base64');
  return bytes;
}
