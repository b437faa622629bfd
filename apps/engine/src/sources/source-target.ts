import type { DatabaseSource } from '@carillon/domain/configuration';
import { err, ok, type Result } from '@carillon/kernel';
import type { Secrets, SourceRef, SourceSecrets, SourceTarget } from '@carillon/ports';

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
export const tableNamesOf = ({ streams }: DatabaseSource): readonly string[] =>
  [...new Set(streams.flatMap(({ tables }) => tables.map(({ table }) => table)))].toSorted();

/** Equal for configurations by which a reader reads the same in the same way. */
export const readingOf = ({ body, streams }: DatabaseSource): string =>
  JSON.stringify([body, streams.map(({ stream: { path, time }, tables }) => [path, time, tables])]);
