import { CarillonError, isCarillonError } from '@carillon/kernel';
import type { DataKey, KeyRotation, RotationState, SealedSecret, WrappedKey } from '@carillon/ports';
import { wrapUnder, type DataKeyParts, type DataKeys } from './data-keys.ts';
import { masterKeyOf } from './sealer.ts';
import type { SealedValues } from './secret-vault.ts';

/** A data key that a newer one has followed so long ago, and that seals nothing, is removed (ms). */
const SPENT_AFTER = 60_000;

export type RotationParts = DataKeyParts & {
  readonly dataKeys: DataKeys;
  readonly values: SealedValues;
  /** Runs while no backup is made: a copy of the data and a copy of the keys have to fit. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
};

const conflict = (detail: string): CarillonError => new CarillonError('conflict', detail);
const ANOTHER_BEGUN = 'a rotation to another master key has begun: end it with --finish, or undo it with --cancel';
const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * The order is what makes a kill harmless. A second master key counts from the first write on, which is that of the deployment's
 * own data key; it stops counting with the last, which is that of the same one. In between each data key rests under one of the
 * two at least.
 */
export function createKeyRotation(parts: RotationParts): KeyRotation {
  const { masterKeys, dataKeys } = parts;
  const { rewrap, wrapAll, keysBeside } = createWraps(parts);
  const counting = async (): Promise<readonly string[]> => (await dataKeys.anchor()).wraps.map(({ master }) => master);

  const state = async (): Promise<RotationState> => readState(await counting(), parts);

  /** The second master key that counts already, where it is the one that is given. */
  function resumed(order: readonly string[], given: Uint8Array | null): string {
    const [newest = ''] = order.slice(-1);
    if (given !== null && masterKeyOf(given).id !== newest) throw conflict(ANOTHER_BEGUN);
    if (given !== null) return masterKeys.take(given).id;
    if (masterKeys.held().some(({ id }) => id === newest)) return newest;
    throw conflict(
      'two master keys are in use, and this process has only the old one: give the new one that the rotation began with',
    );
  }

  /** Takes a new master key and returns its id. Throws `conflict` if the key is in use already. */
  function begun(order: readonly string[], given: Uint8Array | null): string {
    if (given !== null && order.includes(masterKeyOf(given).id)) {
      throw conflict('this master key is already in use: give a new one (openssl rand -hex 32)');
    }
    return masterKeys.take(given).id;
  }

  /** Only this master key counts any more. */
  async function keepOnly(id: string): Promise<RotationState> {
    if (!masterKeys.held().some((one) => one.id === id)) {
      throw conflict(
        'this process does not have the master key that is to stay: restart it with that key, or rotate to it again',
      );
    }
    await wrapAll(id);
    await parts.alone(async () => masterKeys.settle(id));
    // Whoever holds the other key alone may make a data key until the last of these writes.
    for (let left = await keysBeside(id); left.length > 0; left = await keysBeside(id)) {
      await wrapAll(id);
      for (const key of left) {
        await rewrap(key, (now) => {
          const kept = now.wraps.filter((one) => one.master === id);
          return kept.length === 0 || kept.length === now.wraps.length ? null : kept;
        });
      }
    }
    masterKeys.keepOnly(id);
    return state();
  }

  const steps: KeyRotation = {
    state,
    async begin(given) {
      const order = await counting();
      const id = order.length > 1 ? resumed(order, given) : begun(order, given);
      await removeSpent(parts);
      await wrapAll(id);
      return state();
    },
    async renewValues() {
      if ((await counting()).some((id) => masterKeys.held().every((one) => one.id !== id))) {
        throw conflict(
          'two master keys are in use, and this process has only one of them: end the rotation first, with --finish',
        );
      }
      await removeSpent(parts);
      await makeNewKeys(parts);
      const { renewed, damaged } = await renewAll(parts);
      await removeSpent(parts);
      const now = await state();
      return {
        renewed,
        state: {
          ...now,
          // A value that was set again meanwhile already uses the new key.
          valuesBehind: Math.max(0, now.valuesBehind - damaged.length),
          unreadable: [...now.unreadable, ...damaged],
        },
      };
    },
    async finish() {
      const order = await counting();
      const [newest = ''] = order.slice(-1);
      return keepOnly(newest);
    },
    async cancel() {
      const [oldest = ''] = await counting();
      return keepOnly(oldest);
    },
  };
  return oneAtATime(steps);
}

/** The master keys under which each data key rests. */
function createWraps({ store, masterKeys, dataKeys }: RotationParts) {
  /** Writes other wraps for a data key; where somebody did meanwhile, what is there is looked at again. */
  async function rewrap(
    key: DataKey,
    next: (key: DataKey) => readonly WrappedKey[] | null | undefined,
  ): Promise<boolean> {
    for (let now: DataKey | undefined = key; now; now = await current(key)) {
      const wraps = next(now);
      if (wraps === undefined) return false;
      if (wraps === null || (await store.rewrapDataKey({ ...now, revision: now.revision + 1, wraps })) === 'done')
        return true;
    }
    return true;
  }

  const current = async ({ id }: DataKey): Promise<DataKey | undefined> =>
    (await store.dataKeys()).find((one) => one.id === id);

  /** The deployment's newest data key, then the others. */
  async function anchorFirst(): Promise<readonly DataKey[]> {
    const anchor = await dataKeys.anchor();
    return [anchor, ...(await store.dataKeys()).filter(({ id }) => id !== anchor.id)];
  }

  /** Every data key rests under this master key too, those that are made meanwhile as well. */
  async function wrapAll(id: string): Promise<void> {
    const master = masterKeys.held().find((one) => one.id === id);
    const lacking = (key: DataKey): boolean => key.wraps.every((one) => one.master !== id);
    const lost = new Set<string>();
    for (;;) {
      const found = (await anchorFirst()).filter((key) => lacking(key) && !lost.has(key.id));
      if (found.length === 0) break;
      for (const key of found) {
        const done = await rewrap(key, (now) => {
          if (!lacking(now)) return null;
          const open = dataKeys.open(now);
          return open && master ? [...now.wraps, wrapUnder(master, now, open)] : undefined;
        });
        if (!done) lost.add(key.id);
      }
    }
    if (lost.size === 0) return;
    throw conflict(
      `${plural(lost.size, 'data key')} can be opened only with a master key that this process does not hold: start it with that key, ` +
        'and run npx carillon secret rotate again with the other one',
    );
  }

  /** Data keys that rest under others too; the deployment's own comes last. */
  const keysBeside = async (id: string): Promise<readonly DataKey[]> =>
    (await anchorFirst()).filter(({ wraps }) => wraps.some(({ master }) => master !== id)).toReversed();

  return { rewrap, wrapAll, keysBeside };
}

async function readState(order: readonly string[], { store, masterKeys }: RotationParts): Promise<RotationState> {
  const [keys, secrets] = [await store.dataKeys(), await store.secrets()];
  const others = keys.flatMap(({ wraps }) => wraps.map(({ master }) => master)).filter((id) => !order.includes(id));
  const newest = new Map(keys.map(({ workspace, id }) => [workspace, id]));
  const isReadable = ({ dataKey }: SealedSecret): boolean => dataKey !== '';
  return {
    source: masterKeys.source,
    masterKeys: [...order, ...new Set(others)].map((id) => {
      const under = keys.filter(({ wraps }) => wraps.some(({ master }) => master === id));
      return {
        id,
        held: masterKeys.held().some((one) => one.id === id),
        starts: masterKeys.starting().id === id,
        dataKeys: under.length,
        alone: under.filter(({ wraps }) => wraps.length === 1).length,
      };
    }),
    dataKeys: keys.length,
    values: secrets.length,
    valuesBehind: secrets.filter((one) => isReadable(one) && newest.get(one.workspace) !== one.dataKey).length,
    unreadable: secrets.filter((one) => !isReadable(one)).map(({ workspace, name }) => ({ workspace, name })),
  };
}

/** Removes data keys that encrypt nothing any more. Young keys stay, because a writer may be about to use one. */
async function removeSpent({ store, clock }: RotationParts): Promise<void> {
  const keys = await store.dataKeys();
  const used = new Set((await store.secrets()).map(({ dataKey }) => dataKey));
  for (const key of keys) {
    const next = keys.find((one) => one.workspace === key.workspace && one.generation === key.generation + 1);
    if (next && next.madeAt + SPENT_AFTER < clock.now() && !used.has(key.id)) await store.removeDataKey(key);
  }
}

async function opens(secret: SealedSecret, { values }: RotationParts): Promise<boolean> {
  try {
    await values.open(secret);
    return true;
  } catch (error) {
    if (isCarillonError(error) && error.code === 'wrong_key') return false;
    throw error;
  }
}

/** Makes a data key for each workspace whose values are behind, unless it was made before a crash. */
async function makeNewKeys(parts: RotationParts): Promise<void> {
  const { store, dataKeys } = parts;
  const [keys, secrets] = [await store.dataKeys(), await store.secrets()];
  for (const workspace of new Set(keys.map((key) => key.workspace))) {
    const newest = keys.findLast((key) => key.workspace === workspace);
    const behind = secrets.filter((one) => one.workspace === workspace && isBehind(one, newest));
    // Begun and cut off: those that wait are encrypted under the key that was made for them. One that does not open waits for nothing.
    const isUnderWay = (await Promise.all(behind.map((one) => opens(one, parts)))).includes(true);
    if (newest && !isUnderWay) await dataKeys.makeAfter(workspace, newest.generation);
  }
}

/** Encrypts each value anew under the newest data key of its workspace. */
async function renewAll(parts: RotationParts) {
  const { store, values } = parts;
  let renewed = 0;
  const damaged: { readonly workspace: string; readonly name: string }[] = [];
  for (const secret of await store.secrets()) {
    if (secret.dataKey === '') continue;
    // A value that cannot be decrypted does not stop the others from being encrypted again.
    if (!(await opens(secret, parts))) damaged.push({ workspace: secret.workspace, name: secret.name });
    else if (await values.renew(secret)) renewed += 1;
  }
  return { renewed, damaged };
}

const isBehind = (secret: SealedSecret, newest: DataKey | undefined): boolean =>
  secret.dataKey !== '' && secret.dataKey !== newest?.id;

/** Two requests of this process do not step on each other; of two processes one is told that the other wrote. */
function oneAtATime(steps: KeyRotation): KeyRotation {
  let last: Promise<unknown> = Promise.resolve();
  const after = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work, work);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    state: () => steps.state(),
    begin: (newKey) => after(() => steps.begin(newKey)),
    renewValues: () => after(() => steps.renewValues()),
    finish: () => after(() => steps.finish()),
    cancel: () => after(() => steps.cancel()),
  };
}
