import type { SourceState } from '@carillon/domain/changes';
import { isDatabaseSource, isTopicsSource, type ConfiguredSource } from '@carillon/domain/configuration';
import type { Result } from '@carillon/kernel';
import type { SourceSecrets } from '@carillon/ports';
import { openDatabase, secretsOf } from './database-source.ts';
import type { OpenedSource } from './opened-source.ts';
import type { SourcePorts } from './source-ports.ts';
import { openTopics } from './topics-source.ts';

/** Opens a source with its secrets, or returns the name of a secret that is not set. Connects to nothing. */
export function openSource(source: ConfiguredSource, ports: SourcePorts): Promise<Result<OpenedSource, string>> {
  if (isDatabaseSource(source)) return openDatabase(source, ports);
  if (isTopicsSource(source)) return openTopics(source, ports);
  throw new TypeError(`Carillon cannot read a source of the kind ${source.body.kind}`);
}

/** Names of the secrets that a source needs once its integration is gone. */
export const secretsToKeep = (source: ConfiguredSource): SourceSecrets | null =>
  isDatabaseSource(source) ? secretsOf(source) : null;

/** The state of a source before anything was read. */
export const firstState = (source: ConfiguredSource): SourceState => ({
  kind: 'waiting',
  reason: isDatabaseSource(source) ? 'making_slot' : 'unreachable',
  detail: null,
  fix: null,
});

/** Equal for configurations by which a reader reads the same in the same way. */
export const readingOf = ({ body, streams }: ConfiguredSource): string =>
  JSON.stringify([
    body,
    streams.map(({ stream: { path, time, format }, tables, topics }) => [path, time, format, tables, topics]),
  ]);
