import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCarillonError } from '@carillon/kernel';
import type { SecretStore } from '@carillon/ports';
import { settableClock } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIds, createSealing, createSecrets, loadKeys, refuseStrangeMasterKey } from '../src/index.ts';

const BY = { kind: 'cli', id: 'owner' } as const;
const OLD = 'a1'.repeat(32);
const NEW = 'b2'.repeat(32);
const THIRD = 'c3'.repeat(32);
const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
/** Of two workspaces and of the deployment. */
const VALUES = [
  ['', 'SMTP', 'the deployment’s'],
  ['shop', 'CRM_KEY', 'of the shop'],
  ['shop', 'SMTP', 'also of the shop'],
  ['club', 'SMTP', 'of the club'],
] as const;

let folder = '';
let memory: ReturnType<typeof createMemoryStores>;
const clock = settableClock();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-rotation-'));
  memory = createMemoryStores();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const store = (): SecretStore => memory.connect().secretStore;

/** A start of a process over what is stored. `master`: the key that its environment gives; left out: that of the file. */
async function start(master?: string, over: SecretStore = store()) {
  const keys = loadKeys(folder, { CARILLON_MASTER_KEY: master });
  const ids = createIds(keys.ledgerKey);
  const parts = { store: over, masterKeys: keys.masterKeys, ids, clock };
  await refuseStrangeMasterKey(parts);
  const sealing = createSealing({ ...parts, ledgerKey: keys.ledgerKey, alone: (work) => work() });
  const secrets = createSecrets(over, sealing.values, {}, { listed: [], own: () => new Set() });
  return { ...sealing, secrets, keys };
}

type Started = Awaited<ReturnType<typeof start>>;
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isCarillonError(error) ? error.code : 'another error'),
  );

async function fill({ vault }: Started): Promise<void> {
  for (const [workspace, name, value] of VALUES) await vault.set(workspace, name, value, BY);
}
async function expectAll({ secrets }: Pick<Started, 'secrets'>): Promise<void> {
  for (const [workspace, name, value] of VALUES) expect(await secrets.resolve(workspace, name)).toBe(value);
}

describe('Stored secrets', () => {
  it('can be read after a restart by every process with the master key, under one data key per workspace', async () => {
    const first = await start(OLD);
    await fill(first);
    await expectAll(first);
    await expectAll(await start(OLD));
    const keys = await store().dataKeys();
    expect(keys.map(({ workspace }) => workspace)).toEqual(['', 'club', 'shop']);
    expect(JSON.stringify([keys, await store().secrets()])).not.toMatch(/of the/);
  });

  it('of a workspace are never read for another workspace or the deployment', async () => {
    const { vault, secrets } = await start(OLD);
    await vault.set('', 'OWN', 'the deployment’s', BY);
    await vault.set('shop', 'OWN', 'of the shop', BY);
    expect(await secrets.resolve('club', 'OWN')).toBeNull();
    expect(await secrets.resolve('', 'OWN')).toBe('the deployment’s');
    // Whoever moves what is sealed to another name or workspace, or brings back an older one, gets nothing out of it.
    const own = await store().secret('', 'OWN');
    if (!own) throw new Error('not stored');
    await store().putSecret({ ...own, workspace: 'club' }, null);
    expect(await codeOf(secrets.resolve('club', 'OWN'))).toBe('wrong_key');
    await vault.set('', 'OWN', 'a newer one', BY);
    const newer = await store().secret('', 'OWN');
    await store().putSecret({ ...own, version: 2 }, newer?.sealed ?? null);
    expect(await codeOf(secrets.resolve('', 'OWN'))).toBe('wrong_key');
  });

  it('increment their version with each value, and name the author', async () => {
    const { vault } = await start(OLD);
    await vault.set('shop', 'A', 'one', BY);
    const second = await vault.set('shop', 'A', 'two', { kind: 'person', id: 'per_1' });
    expect(second).toMatchObject({ version: 2, updatedBy: { kind: 'person', id: 'per_1' } });
    const again = await vault.set('shop', 'A', 'two', BY);
    expect([again.version, again.fingerprint]).toEqual([3, second.fingerprint]);
    const many = await Promise.all(Array.from({ length: 8 }, (_, at) => vault.set('shop', 'A', `value ${at}`, BY)));
    expect(new Set(many.map(({ version }) => version)).size).toBe(8);
  });

  it('share one data key if many processes set the first secret at once', async () => {
    const started = await Promise.all(Array.from({ length: 6 }, () => start(OLD)));
    await Promise.all(started.map(({ vault }, at) => vault.set('shop', `KEY_${at}`, `value ${at}`, BY)));
    expect((await store().dataKeys()).map(({ workspace }) => workspace)).toEqual(['', 'shop']);
    const { secrets } = await start(OLD);
    for (const at of started.keys()) expect(await secrets.resolve('shop', `KEY_${at}`)).toBe(`value ${at}`);
  });

  it('of an early version are listed as unreadable, with the instruction to set them again', async () => {
    const started = await start(OLD);
    const rest = { version: 1, dataKey: '', sealed: 'v1.a.b.c', fingerprint: 'ABCD', updatedAt: 1, updatedBy: BY };
    await store().putSecret({ workspace: 'shop', name: 'EARLY', ...rest }, null);
    await expect(started.secrets.resolve('shop', 'EARLY')).rejects.toThrow('set it again');
    expect((await started.rotation.state()).unreadable).toEqual([{ workspace: 'shop', name: 'EARLY' }]);
    expect((await started.rotation.renewValues()).renewed).toBe(0);
    await started.vault.set('shop', 'EARLY', 'again', BY);
    expect(await started.secrets.resolve('shop', 'EARLY')).toBe('again');
  });

  it('cannot be read by a process with another master key, which does not start', async () => {
    await fill(await start(OLD));
    expect(await codeOf(start(NEW))).toBe('wrong_key');
    await expectAll(await start(OLD));
  });
});

describe('The master key', () => {
  it('is rotated while a process runs: both keys are accepted, then only the new one', async () => {
    const running = await start(OLD);
    await fill(running);
    const both = await running.rotation.begin(bytes(NEW));
    expect(both.masterKeys).toMatchObject([
      { held: true, starts: true, dataKeys: 3, alone: 0 },
      { held: true, starts: false, dataKeys: 3, alone: 0 },
    ]);
    await expectAll(await start(OLD));
    await expectAll(await start(NEW));
    // The next start of this process would take the old key: what would lock it out is refused.
    expect(await codeOf(running.rotation.finish())).toBe('conflict');
    await running.vault.set('new', 'A', 'under both', BY);
    const role = await start(OLD);
    await expectAll(role);
    const restarted = await start(NEW);
    const done = await restarted.rotation.finish();
    expect(done.masterKeys).toMatchObject([{ held: true, starts: true, dataKeys: 4, alone: 4 }]);
    expect(await codeOf(start(OLD))).toBe('wrong_key');
    await expectAll(await start(NEW));
    // A process that still runs with the old key opens what it opened, and seals nothing that others could not open.
    await expectAll(role);
    expect(await codeOf(role.vault.set('newer', 'A', 'x', BY))).toBe('wrong_key');
  });

  it('in a file is created, stays beside the old one with mode 600, and replaces it at the end', async () => {
    const running = await start();
    await fill(running);
    const file = (name: string): string => join(folder, 'keys', name);
    const old = readFileSync(file('master.key'), 'utf8');
    await running.rotation.begin(null);
    const next = readFileSync(file('master-next.key'), 'utf8');
    expect(next).not.toBe(old);
    expect(statSync(file('master-next.key')).mode & 0o777).toBe(0o600);
    await expectAll(await start());
    await running.rotation.finish();
    expect(readFileSync(file('master.key'), 'utf8')).toBe(next);
    expect(() => statSync(file('master-next.key'))).toThrow('ENOENT');
    await expectAll(await start());
    expect((await running.rotation.state()).masterKeys).toHaveLength(1);
    expect(await codeOf(start(old.trim()))).toBe('wrong_key');
  });

  it('that a rotation began with can be cancelled', async () => {
    const running = await start();
    await fill(running);
    await running.rotation.begin(bytes(NEW));
    await running.rotation.cancel();
    expect(await codeOf(start(NEW))).toBe('wrong_key');
    await expectAll(await start());
    await running.rotation.begin(bytes(THIRD));
    await running.rotation.finish();
    await expectAll(await start(THIRD));
  });

  it('is refused if it is the current key, or if a rotation to another key has begun', async () => {
    const running = await start(OLD);
    await fill(running);
    expect(await codeOf(running.rotation.begin(null))).toBe('invalid_request');
    expect(await codeOf(running.rotation.begin(bytes(OLD)))).toBe('conflict');
    await running.rotation.begin(bytes(NEW));
    expect(await codeOf(running.rotation.begin(bytes(THIRD)))).toBe('conflict');
    expect(await codeOf(running.rotation.begin(bytes(OLD)))).toBe('conflict');
    expect((await running.rotation.begin(bytes(NEW))).masterKeys).toHaveLength(2);
    expect((await (await start(OLD)).rotation.begin(bytes(NEW))).masterKeys).toHaveLength(2);
    await expectAll(await start(NEW));
  });

  it('that alone wraps some data keys is not removed, whichever process made them', async () => {
    const old = await start(OLD);
    await fill(old);
    await old.rotation.begin(bytes(NEW));
    // A process that holds the old key alone makes a data key meanwhile.
    const other = await start(OLD);
    await other.vault.set('late', 'A', 'of a late workspace', BY);
    const restarted = await start(NEW);
    expect((await restarted.rotation.state()).masterKeys[0]?.alone).toBe(1);
    expect(await codeOf(restarted.rotation.finish())).toBe('conflict');
    await old.rotation.begin(bytes(NEW));
    await restarted.rotation.finish();
    expect(await (await start(NEW)).secrets.resolve('late', 'A')).toBe('of a late workspace');
  });
});

describe('Encryption of values under new data keys', () => {
  it('is complete for all values; old data keys are removed once no process can use them', async () => {
    const running = await start(OLD);
    await fill(running);
    const before = await store().secrets();
    expect(await running.rotation.renewValues()).toMatchObject({ renewed: 4, state: { valuesBehind: 0 } });
    const after = await store().secrets();
    for (const [at, one] of after.entries()) {
      expect(one).toEqual({ ...before[at], dataKey: one.dataKey, sealed: one.sealed });
      expect(one.dataKey).not.toBe(before[at]?.dataKey);
    }
    await expectAll(await start(OLD));
    expect(await store().dataKeys()).toHaveLength(6);
    clock.pass(120_000);
    await running.rotation.renewValues();
    expect((await store().dataKeys()).map(({ generation }) => generation)).toEqual([2, 3, 2, 3, 2, 3]);
    await expectAll(await start(OLD));
  });

  it('lists values that cannot be read, and continues with the others', async () => {
    const running = await start(OLD);
    await fill(running);
    const [first, ...rest] = await store().secrets();
    if (!first) throw new Error('nothing is stored');
    await store().putSecret({ ...first, version: first.version + 1 }, first.sealed);
    const { renewed, state } = await running.rotation.renewValues();
    expect({ renewed, behind: state.valuesBehind }).toEqual({ renewed: rest.length, behind: 0 });
    expect(state.unreadable).toEqual([{ workspace: first.workspace, name: first.name }]);
    // It is no run that was cut off: the next one makes new data keys again.
    expect((await running.rotation.renewValues()).renewed).toBe(rest.length);
    await running.vault.set(first.workspace, first.name, 'set again', BY);
    expect(await running.rotation.renewValues()).toMatchObject({ renewed: 4, state: { unreadable: [] } });
  });

  it('includes values that are set meanwhile', async () => {
    const running = await start(OLD);
    await fill(running);
    await Promise.all([
      running.rotation.renewValues(),
      ...Array.from({ length: 20 }, (_, at) => running.vault.set('shop', `KEY_${at}`, `value ${at}`, BY)),
    ]);
    expect((await running.rotation.state()).valuesBehind).toBe(0);
    const { secrets } = await start(OLD);
    for (let at = 0; at < 20; at += 1) expect(await secrets.resolve('shop', `KEY_${at}`)).toBe(`value ${at}`);
    await expectAll({ secrets });
  });
});

/** The store of a process that is killed before or after its n-th write, counted from 0. */
function killedAt(
  step: number,
  when: 'before' | 'after',
): { readonly store: SecretStore; readonly isDead: () => boolean } {
  let writes = 0;
  let dead = false;
  const kill = (): never => {
    dead = true;
    throw new Error('killed');
  };
  const real = store();
  const mortal = new Proxy(real, {
    get:
      (_, name: keyof SecretStore) =>
      async (...given: readonly unknown[]) => {
        if (dead) return kill();
        const isWrite = !['secret', 'secrets', 'dataKeys'].includes(name);
        const isLast = isWrite && writes === step;
        if (isLast && when === 'before') return kill();
        if (isWrite) writes += 1;
        const done: unknown = await (real[name] as (...all: readonly unknown[]) => Promise<unknown>)(...given);
        return isLast ? kill() : done;
      },
  });
  return { store: mortal, isDead: () => dead };
}

describe.each(['before', 'after'] as const)('A rotation whose process is killed %s a write', (when) => {
  /** Asks a step of a process that dies in it, at each of its writes, and answers how many there were. */
  async function eachWrite(
    prepare: () => Promise<void>,
    step: (rotation: Started['rotation']) => Promise<unknown>,
    afterwards: () => Promise<void>,
    master: () => string | undefined,
  ): Promise<number> {
    for (let at = 0; ; at += 1) {
      rmSync(folder, { recursive: true, force: true });
      memory = createMemoryStores();
      await prepare();
      const mortal = killedAt(at, when);
      const doomed = await start(master(), mortal.store);
      await step(doomed.rotation).catch(() => undefined);
      await afterwards();
      if (!mortal.isDead()) return at;
    }
  }
  const filled = async (): Promise<void> => fill(await start());

  it('at its beginning keeps all values readable, and continues when it is repeated', async () => {
    const writes = await eachWrite(
      filled,
      (rotation) => rotation.begin(null),
      async () => {
        const next = await start();
        await expectAll(next);
        expect((await next.rotation.begin(null)).masterKeys).toMatchObject([{ alone: 0 }, { dataKeys: 3, alone: 0 }]);
        await next.rotation.finish();
        await expectAll(await start());
      },
      () => undefined,
    );
    expect(writes).toBe(3);
  });

  it('at its end keeps values readable with the new key, and continues when it is repeated', async () => {
    const writes = await eachWrite(
      async () => {
        await filled();
        await (await start()).rotation.begin(null);
      },
      (rotation) => rotation.finish(),
      async () => {
        const next = await start();
        await expectAll(next);
        expect((await next.rotation.finish()).masterKeys).toMatchObject([{ dataKeys: 3, alone: 3, starts: true }]);
        await expectAll(await start());
      },
      () => undefined,
    );
    expect(writes).toBe(3);
  });

  it('during a cancel keeps values readable with the old key, and continues when it is repeated', async () => {
    const writes = await eachWrite(
      async () => {
        await filled();
        await (await start()).rotation.begin(null);
      },
      (rotation) => rotation.cancel(),
      async () => {
        const next = await start();
        await expectAll(next);
        expect((await next.rotation.cancel()).masterKeys).toMatchObject([{ dataKeys: 3, alone: 3, starts: true }]);
        await expectAll(await start());
      },
      () => undefined,
    );
    expect(writes).toBe(3);
  });

  it('during re-encryption keeps values readable, and continues when it is repeated', async () => {
    const writes = await eachWrite(
      filled,
      (rotation) => rotation.renewValues(),
      async () => {
        const next = await start();
        await expectAll(next);
        expect((await next.rotation.renewValues()).state.valuesBehind).toBe(0);
        await expectAll(await start());
      },
      () => undefined,
    );
    // Three new data keys, four values.
    expect(writes).toBe(7);
  });
});
