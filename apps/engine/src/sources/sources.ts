import { sourcesOf, type ConfiguredSource } from '@carillon/domain/configuration';
import type { SourceRef } from '@carillon/ports';
import { startLoop } from '@carillon/runtime';
import { DEFAULT_TIMING, nameOf, type SourcePorts, type SourceTiming } from './source-ports.ts';
import { runSource } from './source-run.ts';

export type SourceReaders = { stop(): Promise<void> };

/**
 * Reads the databases and topics that streams name, and those that they named before, each in a run of its own. Looks into the store only
 * at the start and after a new configuration, where sources may have been removed. Without sources it does nothing else.
 */
export function startSources(ports: SourcePorts, timing: SourceTiming = DEFAULT_TIMING): SourceReaders {
  const { configuration, sources, watch, ids } = ports;
  const holder = ids.random('request');
  const ending = new AbortController();
  const runs = new Map<string, Promise<void>>();
  let listedNumber: number | null = null;

  function configured({ workspace, integration }: SourceRef): ConfiguredSource | null {
    return (
      sourcesOf(configuration.current()).find(
        (source) => source.workspace === workspace && source.name === integration,
      ) ?? null
    );
  }

  function begin(ref: SourceRef): void {
    const name = nameOf(ref);
    if (runs.has(name)) return;
    const options = { ref, holder, signal: ending.signal, timing, configured: () => configured(ref) };
    runs.set(
      name,
      runSource(options, ports).finally(() => runs.delete(name)),
    );
  }

  async function round(): Promise<void> {
    const current = configuration.current();
    for (const { workspace, name, streams } of sourcesOf(current)) {
      if (streams.length > 0) begin({ workspace, integration: name });
    }
    if (listedNumber === current.number) return;
    for (const source of await sources.list()) if (!source.moved) begin(source);
    listedNumber = current.number;
  }

  const keeper = startLoop(timing.roundMs, round, (error) => watch.trouble('look for sources', error));
  return {
    async stop() {
      ending.abort();
      await keeper.stop();
      await Promise.all(runs.values());
    },
  };
}
