import type { KeyObject } from 'node:crypto';
import { CarillonError } from '@carillon/kernel';
import type { Clock, DataKey, Ids, SecretStore, WrappedKey } from '@carillon/ports';
import type { MasterKeys } from './master-keys.ts';
import { freshDataKey, unwrapKey, wrapKey, type MasterKey } from './sealer.ts';

/** A data key that is open. */
export type OpenKey = { readonly id: string; readonly generation: number; readonly key: KeyObject };

export type DataKeys = {
  /** Null where no master key that this process holds opens it. */
  open(key: DataKey): KeyObject | null;
  /** The open key of this id; null where there is none, or none that opens. */
  byId(id: string): Promise<KeyObject | null>;
  /**
   * Returns the newest data key of a workspace. Creates one if there is none. Rejects with `wrong_key` if the key
   * cannot be decrypted.
   */
  newest(workspace: string): Promise<OpenKey>;
  /** Makes the generation after this one, unless somebody else did. */
  makeAfter(workspace: string, generation: number): Promise<void>;
  /** The data key of the deployment: the master keys that wrap it are those that count. Made at the first start. */
  anchor(): Promise<DataKey>;
};

export type DataKeyParts = {
  readonly store: SecretStore;
  readonly masterKeys: MasterKeys;
  readonly ids: Pick<Ids, 'token'>;
  readonly clock: Clock;
};

const DEPLOYMENT = '';

export const wrapUnder = (master: MasterKey, key: Pick<DataKey, 'id' | 'workspace'>, open: KeyObject): WrappedKey => ({
  master: master.id,
  wrapped: wrapKey(master, key, open),
});

/** Opens data keys and remembers those that it opened. */
export function createDataKeys({ store, masterKeys, ids, clock }: DataKeyParts): DataKeys {
  const opened = new Map<string, KeyObject>();

  function open(key: DataKey): KeyObject | null {
    const known = opened.get(key.id);
    if (known) return known;
    for (const { master, wrapped } of key.wraps) {
      const held = masterKeys.held().find(({ id }) => id === master);
      const found = held && unwrapKey(held, key, wrapped);
      if (!found) continue;
      opened.set(key.id, found);
      return found;
    }
    return null;
  }

  const newestOf = async (workspace: string): Promise<DataKey | null> =>
    (await store.dataKeys()).findLast((one) => one.workspace === workspace) ?? null;

  /** Under each master key that counts and is held here. Whoever holds the others too adds them. */
  async function make(workspace: string, generation: number): Promise<void> {
    const anchor = await newestOf(DEPLOYMENT);
    const counting = anchor ? anchor.wraps.map(({ master }) => master) : [masterKeys.starting().id];
    const under = counting.flatMap((id) => masterKeys.held().find((one) => one.id === id) ?? []);
    if (under.length === 0) throw new CarillonError('wrong_key', notOurs);
    const fresh = freshDataKey();
    const name = { id: `dk_${ids.token()}`, workspace };
    const wraps = under.map((master) => wrapUnder(master, name, fresh));
    await store.insertDataKey({ ...name, generation, revision: 1, wraps, madeAt: clock.now() });
  }

  async function present(workspace: string): Promise<DataKey> {
    for (;;) {
      const found = await newestOf(workspace);
      if (found) return found;
      await make(workspace, 1);
    }
  }

  return {
    open,
    async byId(id) {
      const known = opened.get(id);
      if (known) return known;
      const found = (await store.dataKeys()).find((one) => one.id === id);
      return found ? open(found) : null;
    },
    async newest(workspace) {
      const found = await present(workspace);
      const key = open(found);
      if (!key) throw new CarillonError('wrong_key', notOurs);
      return { id: found.id, generation: found.generation, key };
    },
    makeAfter: (workspace, generation) => make(workspace, generation + 1),
    anchor: () => present(DEPLOYMENT),
  };
}

export const notOurs =
  'the stored secrets cannot be decrypted with the master key of this process. If the key was rotated (npx carillon secret rotate), give ' +
  'the current one: in keys/master.key, CARILLON_MASTER_KEY or by CARILLON_MASTER_KEY_COMMAND. If it is lost, restore it from a backup';

/**
 * Holds the master key of this process against what is sealed, once at the start. Rejects with `wrong_key` where it does not
 * count, or does no longer.
 */
export async function refuseStrangeMasterKey(parts: DataKeyParts): Promise<void> {
  const keys = createDataKeys(parts);
  if (!keys.open(await keys.anchor())) throw new CarillonError('wrong_key', notOurs);
}
