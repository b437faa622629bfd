import { startProduct, untilFound, type Product } from '@carillon/testing';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request, scratch, shopFiles, type Answered } from '../../integration/product/shop.ts';
import { KILLED_WRITES, type KillOrder } from '../killed-writes.ts';
import { planting } from '../../harness/planting.ts';

/*
 * Publishing, rolling back, promoting and exchanging the master key, each killed after each write that it makes: by SIGKILL, in
 * the running product. Every write of the audit is among them.
 */

type Json = Record<string, unknown>;
const KILLABLE = planting(KILLED_WRITES);
const A_MINUTE = 60_000;

let place: Awaited<ReturnType<typeof scratch>>;
let product: Product;
let round = 0;
const orderFile = (): string => join(place.folder, 'kill-order.json');
const start = async (): Promise<void> => {
  product = await startProduct({
    dataDir: join(place.folder, 'data'),
    env: { ...KILLABLE, KILL_ORDER: orderFile() },
  });
};

const call = (method: string, path: string, body?: object, more: Readonly<Record<string, string>> = {}) =>
  request<Json>(`${product.controlUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${product.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...more,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
/** The answer of what has to be done. */
async function done(answer: Promise<Answered<Json>>): Promise<Json> {
  const { status, body } = await answer;
  expect([status, body]).toEqual([expect.toSatisfy((one: number) => one >= 200 && one < 300), body]);
  return body;
}
const ask = (method: string, path: string, body?: object, more?: Readonly<Record<string, string>>) =>
  done(call(method, path, body, more));
const apply = (files: Readonly<Record<string, string>>) =>
  ask('POST', '/v1/configuration/apply', { files: { ...files }, prune: false });

const template = (name: string, workspace = 'shop'): string => `/v1/workspaces/${workspace}/templates/${name}`;
const bodyOf = (text: string) => ({ email: { subject: 'Words', text } });
async function textOf(name: string, workspace = 'shop'): Promise<string> {
  const { body } = await ask('GET', template(name, workspace));
  return (body as { email: { text: string } }).email.text.trim();
}
const numberOf = async (name: string): Promise<number> => Number((await ask('GET', template(name)))['number']);
async function write(name: string, text: string, workspace = 'shop'): Promise<void> {
  const etag = (await call('GET', template(name, workspace))).headers.get('etag');
  const condition = etag === null ? { 'if-none-match': '*' } : { 'if-match': etag };
  await ask('PUT', template(name, workspace), bodyOf(text), condition);
}
const drafts = async (): Promise<readonly Json[]> =>
  (await ask('GET', '/v1/workspaces/shop/drafts'))['items'] as readonly Json[];
const publishAll = async (): Promise<void> => {
  const named = (await drafts()).map(({ kind, name }) => ({ kind, name }));
  if (named.length > 0) await ask('POST', '/v1/workspaces/shop/drafts/publish', { drafts: named });
};

/** A process that answers this once the order is gone is killed no more. */
const lives = (): Promise<boolean> =>
  call('GET', '/livez').then(
    () => true,
    () => false,
  );

/**
 * Kills the product after no write, after one, after two of what `act` does, until it lives on: a write of the audit's seals may come after
 * the answer. `check` looks at what is there once the product was started again, and makes it good. Answers how often it was killed.
 */
async function killedAtEachWrite(
  prepare: (text: string) => Promise<void>,
  act: (text: string) => Promise<Answered<Json>>,
  check: (text: string) => Promise<void>,
): Promise<number> {
  for (let after = 0; ; after += 1) {
    const text = `round ${(round += 1)}`;
    await prepare(text);
    writeFileSync(orderFile(), JSON.stringify({ round, after } satisfies KillOrder));
    const answer = await act(text).catch(() => null);
    rmSync(orderFile());
    if (answer) expect([answer.status, answer.body]).toEqual([200, answer.body]);
    const ended = answer !== null && (await lives());
    if (!ended) {
      await product.exited;
      await start();
    }
    await check(text);
    expect(await ask('POST', '/v1/audit/verify', {})).toMatchObject({ ok: true, fault: null });
    if (ended) return after;
  }
}

describe('A kill at any write leaves all or nothing, and the audit verifies, for', () => {
  beforeAll(async () => {
    place = await scratch();
    await start();
    await apply({
      ...shopFiles(),
      'workspaces/shop-test/workspace.yaml': 'name: Test\nenvironment: test\nof: shop\n',
    });
    for (const name of ['one', 'two']) {
      for (const workspace of ['shop', 'shop-test']) await write(name, 'first', workspace);
    }
  }, 5 * A_MINUTE);
  afterAll(async () => {
    await product.kill('SIGTERM');
    await place.remove();
  });

  it(
    'publishing two drafts',
    async () => {
      const kills = await killedAtEachWrite(
        async (text) => {
          for (const name of ['one', 'two']) {
            const wish = { body: bodyOf(text), based_on: await numberOf(name) };
            await ask('PUT', `${template(name)}/draft`, wish, { 'if-none-match': '*' });
          }
        },
        () =>
          call('POST', '/v1/workspaces/shop/drafts/publish', {
            drafts: ['one', 'two'].map((name) => ({ kind: 'template', name })),
          }),
        async (text) => {
          const texts = new Set([await textOf('one'), await textOf('two')]);
          expect(texts.size).toBe(1);
          const state = texts.has(text) ? 'published' : 'open';
          for (const draft of await drafts()) expect(draft['state']).toBe(state);
          await publishAll();
          expect([await textOf('one'), await textOf('two'), await drafts()]).toEqual([text, text, []]);
        },
      );
      expect(kills).toBeGreaterThan(4);
    },
    20 * A_MINUTE,
  );

  it(
    'a rollback',
    async () => {
      const first = await numberOf('one');
      const wanted = await textOf('one');
      const rollBack = async () =>
        call('POST', `${template('one')}/rollback`, { number: first }, { 'if-match': `"${await numberOf('one')}"` });
      const kills = await killedAtEachWrite(
        (text) => write('one', text),
        rollBack,
        async (text) => {
          expect([text, wanted]).toContain(await textOf('one'));
          await done(rollBack());
          expect(await textOf('one')).toBe(wanted);
        },
      );
      expect(kills).toBeGreaterThan(2);
    },
    20 * A_MINUTE,
  );

  it(
    'a promotion',
    async () => {
      const promote = () => call('POST', '/v1/workspaces/shop-test/promote', {});
      const kills = await killedAtEachWrite(
        async (text) => {
          for (const name of ['one', 'two']) await write(name, text, 'shop-test');
        },
        promote,
        async (text) => {
          const before = await textOf('one');
          expect(before).not.toBe(text);
          for (const draft of await drafts())
            expect(draft).toMatchObject({ state: 'open', promoted_from: 'shop-test' });
          await done(promote());
          await publishAll();
          expect([await textOf('one'), await textOf('two')]).toEqual([text, text]);
        },
      );
      expect(kills).toBeGreaterThan(2);
    },
    20 * A_MINUTE,
  );

  it.each([
    ['beginning', '/v1/master-key/rotate'],
    ['encrypting values anew with', '/v1/master-key/renew-values'],
    ['ending', '/v1/master-key/finish'],
  ])(
    '%s an exchange of the master key',
    async (_what, path) => {
      const key = (): string => String(round).padStart(64, 'a');
      const secrets = async () => (await ask('GET', '/v1/workspaces/shop/secrets'))['items'] as readonly Json[];
      const begin = () => call('POST', '/v1/master-key/rotate', { master_key: key() });
      const act = (): Promise<Answered<Json>> => (path.endsWith('rotate') ? begin() : call('POST', path));
      const kills = await killedAtEachWrite(
        async (text) => {
          await ask('PUT', '/v1/workspaces/shop/secrets/WORD', { value: text });
          if (!path.endsWith('rotate')) await done(begin());
        },
        act,
        async () => {
          for (const secret of await secrets()) expect(secret).toMatchObject({ readable: true });
          const { master_keys: keys } = await ask('GET', '/v1/master-key');
          const count = (keys as readonly Json[]).length;
          expect([1, 2]).toContain(count);
          if (count === 1 && path.endsWith('rotate')) await done(begin());
          if (path.endsWith('renew-values')) await done(act());
          if (!(count === 1 && path.endsWith('finish'))) await ask('POST', '/v1/master-key/finish');
          expect((await ask('GET', '/v1/master-key'))['master_keys']).toHaveLength(1);
          await product.kill('SIGTERM');
          await start();
          const doctor = (await ask('POST', '/v1/doctor', {}))['steps'] as readonly Json[];
          expect(doctor.filter(({ step, ok }) => /secret|master/i.test(String(step)) && ok !== true)).toEqual([]);
        },
      );
      expect(kills).toBeGreaterThan(0);
    },
    20 * A_MINUTE,
  );

  it(
    'each version, audited under the configuration number that it got',
    async () => {
      const versions = async (name: string) =>
        ((await ask('GET', `${template(name)}/versions?limit=200`))['items'] as readonly Json[]).map(
          (one) => one['number'],
        );
      const wanted = [...(await versions('one')), ...(await versions('two'))];
      const told = async (): Promise<ReadonlySet<unknown>> => {
        const all: Json[] = [];
        for (let cursor = ''; ;) {
          const page = await ask('GET', `/v1/audit?limit=200${cursor}`);
          all.push(...(page['items'] as readonly Json[]));
          if (typeof page['next'] !== 'string') return new Set(all.map(({ number }) => number));
          cursor = `&cursor=${encodeURIComponent(page['next'])}`;
        }
      };
      // What a crash left out is made good half a minute later.
      const areTold = async (): Promise<true | undefined> => {
        const numbers = await told();
        return wanted.every((one) => numbers.has(one)) ? true : undefined;
      };
      await untilFound('every number on the audit', areTold, 3 * A_MINUTE);
      expect(await ask('POST', '/v1/audit/verify', {})).toMatchObject({ ok: true });
    },
    5 * A_MINUTE,
  );
});
