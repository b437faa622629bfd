import { isDeepStrictEqual } from 'node:util';
import type { DataKey, SealedSecret, SecretStore } from '@carillon/ports';
import type { Wire } from './wire.ts';

const byWords = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** Sealed secrets and wrapped data keys. */
export function createMemorySecretStore() {
  const secrets = new Map<string, SealedSecret>();
  const keys = new Map<string, DataKey>();
  const nameOf = (workspace: string, name: string | number): string => JSON.stringify([workspace, name]);

  function put(secret: SealedSecret, replacing: string | null): 'done' | 'stale' {
    const name = nameOf(secret.workspace, secret.name);
    const there = secrets.get(name)?.sealed ?? null;
    if (there !== replacing && there !== secret.sealed) return 'stale';
    secrets.set(name, secret);
    return 'done';
  }

  function insert(key: DataKey): boolean {
    const name = nameOf(key.workspace, key.generation);
    const there = keys.get(name);
    if (there) return there.id === key.id;
    keys.set(name, key);
    return true;
  }

  function rewrap(key: DataKey): 'done' | 'stale' {
    const name = nameOf(key.workspace, key.generation);
    const there = keys.get(name);
    if (there?.id !== key.id) return 'stale';
    if (there.revision === key.revision) return isDeepStrictEqual(there.wraps, key.wraps) ? 'done' : 'stale';
    if (there.revision !== key.revision - 1) return 'stale';
    keys.set(name, key);
    return 'done';
  }

  function remove(key: DataKey): boolean {
    if ([...secrets.values()].some(({ dataKey }) => dataKey === key.id)) return false;
    return keys.delete(nameOf(key.workspace, key.generation));
  }

  const writes = { writes: true };
  return {
    connect: (wire: Wire): SecretStore => ({
      secret: (workspace, name) => wire.ask('secrets.one', () => secrets.get(nameOf(workspace, name)) ?? null),
      secrets: (workspace) =>
        wire.ask('secrets.all', () =>
          [...secrets.values()]
            .filter((one) => workspace === undefined || one.workspace === workspace)
            .toSorted((left, right) => byWords(left.workspace, right.workspace) || byWords(left.name, right.name)),
        ),
      putSecret: (secret, replacing) => wire.ask('secrets.put', () => put(secret, replacing), writes),
      removeSecret: (workspace, name) =>
        wire.ask('secrets.remove', () => secrets.delete(nameOf(workspace, name)), writes),
      dataKeys: () =>
        wire.ask('secrets.dataKeys', () =>
          [...keys.values()].toSorted(
            (left, right) => byWords(left.workspace, right.workspace) || left.generation - right.generation,
          ),
        ),
      insertDataKey: (key) => wire.ask('secrets.insertDataKey', () => insert(key), writes),
      rewrapDataKey: (key) => wire.ask('secrets.rewrapDataKey', () => rewrap(key), writes),
      removeDataKey: (key) => wire.ask('secrets.removeDataKey', () => remove(key), writes),
    }),
  };
}
