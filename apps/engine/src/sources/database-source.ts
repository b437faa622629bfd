import { postgresPosition } from '@carillon/domain/changes';
import type { DatabaseSource } from '@carillon/domain/configuration';
import { err, ok, type Result } from '@carillon/kernel';
import type { Secrets, SourceRef, SourceSecrets, SourceTarget } from '@carillon/ports';
import { prepareChange } from '@carillon/stages';
import { prepareEach, type OpenedSource } from './opened-source.ts';
import type { SourcePorts } from './source-ports.ts';

export const secretsOf = ({ body: { url, tls } }: DatabaseSource): SourceSecrets => ({
  url: url.secret,
  ca: tls?.ca.secret ?? null,
});

/** Returns the database behind a source, or the name of a secret that is not set. */
export async function resolveTarget(
  { workspace, integration }: SourceRef,
  names: SourceSecrets,
  secrets: Secrets,
): Promise<Result<SourceTarget, string>> {
  const url = await secrets.resolve(workspace, names.url);
  if (url === null) return err(names.url);
  const ca = names.ca === null ? null : await secrets.resolve(workspace, names.ca);
  if (names.ca !== null && ca === null) return err(names.ca);
  return ok({ workspace, integration, url, ca });
}

/** Tables that streams take from a source, each once. */
const tableNamesOf = ({ streams }: DatabaseSource): readonly string[] =>
  [...new Set(streams.flatMap(({ tables }) => tables.map(({ table }) => table)))].toSorted();

/** Opens a database with its secrets, or returns the name of a secret that is not set. */
export async function openDatabase(source: DatabaseSource, ports: SourcePorts): Promise<Result<OpenedSource, string>> {
  const ref = { workspace: source.workspace, integration: source.name };
  const target = await resolveTarget(ref, secretsOf(source), ports.secrets);
  if (!target.ok) return target;
  const adapter = await ports.changeSources();
  const tables = tableNamesOf(source);
  return ok({
    database: target.value,
    open(from, { take, mostChanges, report }) {
      const reader = adapter.open(target.value, tables, postgresPosition(from), {
        take: ({ changes, position }) =>
          take({
            position,
            count: changes.length,
            prepare: () => prepareEach(changes, (change) => prepareChange(change, source.streams, ports)),
          }),
        mostChanges,
        report,
      });
      return {
        close: () => reader.close(),
        ended: reader.ended.then((end) => (end.kind === 'stopped' ? { ...end, lagRecords: null } : end)),
      };
    },
    async reset({ from, reason }) {
      const slot = postgresPosition(from);
      if (slot === null || reason === null)
        throw new TypeError('only a database source that stopped can be reset, at the position where it stopped');
      const begun = await adapter.reset(target.value, tables, slot, reason);
      if (!begun.ok) return begun;
      // Carillon does not know how to reach the old server any more.
      const left =
        slot.systemId === begun.value.systemId
          ? ''
          : `the slot of the server with system id ${slot.systemId} keeps WAL until somebody runs there: ${adapter.dropSql(slot).replaceAll('\n', ' ')}`;
      return ok({ position: begun.value, left });
    },
  });
}
