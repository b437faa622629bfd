import type { ConfigurationRecord, ResourceChange, ResourceKind } from '@carillon/domain';
import type { RecordShape } from './codec.ts';
import { InvalidRecord } from './codec.ts';
import { readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

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
type WireConfigurationRecord = { id: string; at: string; changes: WireChange[]; personal: Buffer };

/** Bodies are JSON text: their shape is that of the files, which grow without a new schema of the log. */
export const configurationShape: RecordShape<ConfigurationRecord, WireConfigurationRecord> = {
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
    personal: writePersonal({ author: record.author }),
  }),
  read: (wire) => ({
    id: wire.id,
    at: wire.at,
    author: textOf(readPersonal(wire.personal)['author'], 'author'),
    changes: wire.changes.map(readChange),
  }),
};

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
