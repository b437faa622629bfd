import type { ConfigurationStore } from '@carillon/ports';
import type { Wire } from './wire.ts';

type Identity = Parameters<ConfigurationStore['identity']>[0];

/** The identity that was given first. */
export function createMemoryConfigurationStore() {
  let identity: Identity | null = null;
  return {
    connect: (wire: Wire): ConfigurationStore => ({
      identity: (fresh) => wire.ask('configuration.identity', () => (identity ??= fresh), { writes: true }),
    }),
  };
}
