import type { ConfigurationStore, SealedSecret } from '@carillon/ports';
import type { Wire } from './wire.ts';

type Identity = Parameters<ConfigurationStore['identity']>[0];

/** The identity that was given first, and sealed secrets. */
export function createMemoryConfigurationStore() {
  const secrets = new Map<string, SealedSecret>();
  let identity: Identity | null = null;
  const nameOf = (workspace: string, name: string): string => JSON.stringify([workspace, name]);

  return {
    connect: (wire: Wire): ConfigurationStore => ({
      identity: (fresh) => wire.ask('configuration.identity', () => (identity ??= fresh), { writes: true }),
      putSecret: (secret) =>
        wire.ask('configuration.putSecret', () => void secrets.set(nameOf(secret.workspace, secret.name), secret), {
          writes: true,
        }),
      removeSecret: (workspace, name) =>
        wire.ask('configuration.removeSecret', () => secrets.delete(nameOf(workspace, name)), { writes: true }),
      secret: (workspace, name) => wire.ask('configuration.secret', () => secrets.get(nameOf(workspace, name)) ?? null),
      secrets: (workspace) =>
        wire.ask('configuration.secrets', () =>
          [...secrets.values()].filter((one) => workspace === undefined || one.workspace === workspace),
        ),
    }),
  };
}
