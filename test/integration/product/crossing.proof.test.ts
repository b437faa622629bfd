import { setTimeout as pause } from 'node:timers/promises';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES_WITH, SCOPE_PERMISSIONS } from '../../../apps/control/src/access/permission.ts';
import { OPERATIONS } from './operations.ts';
import { ACROSS, neededBy } from './permissions-table.ts';
import { openShop, order, shopFiles, type Shop } from './shop.ts';

/*
 * Every operation of the description, asked by everybody who there can be, about what is their own, what belongs to another workspace, and what
 * is not there. What is written is asked with a header that is refused once everything else was let through, so that nothing is done.
 */

type Permission = keyof typeof ROLES_WITH;
type Asker = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In which workspace somebody may what; `everywhere` is the deployment and all of them. */
  readonly may: readonly Permission[];
  readonly where: 'shop' | 'club' | 'everywhere' | 'nowhere';
};
type Operation = {
  readonly 'x-carillon-permission': string | readonly string[];
  readonly 'x-carillon-audit'?: string;
};
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const PASSWORD = 'correct horse battery staple';
const CANARY = 'canary.qzx7@canary-qzx7.example.com';
/** Refused with 400, behind the permission and before anything is done. */
const REFUSED_KEY = 'k'.repeat(300);
/** Names that somebody may have meant. */
const MEANT = /; (?:did you mean|known:)[^"]*/;

let shop: Shop & { close(): Promise<void> };
let askers: readonly Asker[];
let operations: readonly { readonly method: string; readonly path: string; readonly writes: boolean }[];
/** For each list of things that have an id, one of `shop` and one of `club`. */
const ids: Record<string, { shop: string; club: string }> = {};

const files = () => {
  const own = { ...shopFiles(), 'workspaces/club/workspace.yaml': 'name: Club\n' };
  const clubs = Object.entries(shopFiles())
    .filter(([path]) => path.startsWith('workspaces/shop/') && !path.endsWith('workspace.yaml'))
    .map(([path, text]) => [path.replace('/shop/', '/club/').replace('order-paid', 'club-paid'), text] as const);
  return {
    ...own,
    ...Object.fromEntries(clubs.map(([path, text]) => [path, text.replaceAll('order-paid', 'club-paid')])),
  };
};

beforeAll(async () => {
  shop = await openShop({ files: files() });
  const { body: key } = await shop.api<{ key: string }>('POST', '/v1/workspaces/club/api-keys', { name: 'backend' });
  ids['events'] = { shop: await shop.send(order('A-1', { email: CANARY, name: CANARY })), club: '' };
  const posted = await untilFound('the club takes an event', async () => {
    const answer = await shop.post('club/orders', order('B-1'), { authorization: `Bearer ${key.key}` });
    return answer.status === 202 ? answer.body.id : undefined;
  });
  ids['events'].club = posted;
  const first = (workspace: string, list: string): Promise<string> =>
    untilFound(`one of ${list} in ${workspace}`, async () => {
      const { body } = await shop.api<{ items: readonly { readonly id: string }[] }>(
        'GET',
        `/v1/workspaces/${workspace}/${list}`,
      );
      return body.items[0]?.id;
    });
  for (const workspace of ['shop', 'club']) {
    const started = await shop.api('POST', `/v1/workspaces/${workspace}/runs`, {
      folder: { files: files(), prune: false },
    });
    if (started.status !== 202) throw new Error(`no run in ${workspace}: ${JSON.stringify(started.body)}`);
  }
  for (const list of ['deliveries', 'inbox', 'runs', 'jobs'])
    ids[list] = { shop: await first('shop', list), club: await first('club', list) };
  askers = await everybody();
  const { paths } = (await shop.api<Document>('GET', '/v1/openapi.json')).body;
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      writes: operation['x-carillon-audit'] !== undefined && method !== 'get',
    })),
  );
}, 600_000);
afterAll(() => shop.close());

async function everybody(): Promise<readonly Asker[]> {
  const origin = { 'x-carillon': '1', origin: shop.product.controlUrl };
  async function session(email: string, membership: object): Promise<Readonly<Record<string, string>>> {
    const made = await shop.api<{ link: string }>('POST', '/v1/invitations', { email, memberships: [membership] });
    const word = made.body.link.split('#').at(-1);
    const page = { ...origin, 'content-type': 'application/json' };
    const call = (path: string, body: object) =>
      fetch(`${shop.product.controlUrl}${path}`, { method: 'POST', headers: page, body: JSON.stringify(body) });
    await call('/v1/invitations/accept', { word, name: 'Somebody', password: PASSWORD });
    const opened = await call('/v1/session', { email, password: PASSWORD });
    if (opened.status !== 200) throw new Error(`${email} is not signed in: ${await opened.text()}`);
    return { ...origin, cookie: opened.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  }
  const roles = ['owner', 'editor', 'operator', 'viewer'] as const;
  const permissions = Object.keys(ROLES_WITH) as Permission[];
  const people = [];
  for (const role of roles) {
    people.push({
      name: `${role} of the shop`,
      headers: await session(`${role}@example.com`, { workspace: 'shop', role }),
      may: permissions.filter((one) => ROLES_WITH[one].includes(role)),
      where: 'shop',
    } as const);
  }
  const ended = await session('left@example.com', { workspace: 'shop', role: 'owner' });
  await fetch(`${shop.product.controlUrl}/v1/session`, { method: 'DELETE', headers: ended });
  const token = async (wish: object): Promise<Readonly<Record<string, string>>> => {
    const { body } = await shop.api<{ token: string }>('POST', '/v1/tokens', { name: 'crossing', ...wish });
    return { authorization: `Bearer ${body.token}` };
  };
  const scopes = ['read', 'configure', 'operate', 'people'] as const;
  const tokens = [];
  for (const scope of scopes) {
    tokens.push({
      name: `token of scope ${scope}`,
      headers: await token({ scopes: [scope], workspaces: ['shop'] }),
      may: SCOPE_PERMISSIONS[scope],
      where: 'shop',
    } as const);
  }
  return [
    { name: 'nobody', headers: {}, may: [], where: 'nowhere' },
    { name: 'ended session', headers: ended, may: [], where: 'nowhere' },
    ...people,
    ...tokens,
    {
      name: 'owner of the club',
      headers: await session('club@example.com', { workspace: 'club', role: 'owner' }),
      may: permissions,
      where: 'club',
    },
    {
      name: 'machine',
      headers: { authorization: `Bearer ${shop.product.token}` },
      may: permissions,
      where: 'everywhere',
    },
  ];
}

const NAMES: Readonly<Record<string, { readonly shop: string; readonly club: string }>> = {
  '/notifications/': { shop: 'order-paid', club: 'club-paid' },
  '/rules/': { shop: 'order-paid.paid', club: 'club-paid.paid' },
  '/templates/': { shop: 'order-paid', club: 'club-paid' },
  '/streams/': { shop: 'orders', club: 'none' },
  '/api-keys/': { shop: 'backend', club: 'none' },
};

/** Names that are missing, of the same form as those that are there. */
const NOT_THERE: Readonly<Record<string, string>> = { '/rules/': 'club-said.paid' };

type About = 'own' | 'foreign' | 'missing';

/** The address of an operation, about one of three things; null: it is about nothing that belongs to anybody. */
function addressed(path: string, about: About): string | null {
  const kind = Object.keys(ids).find((list) => path.includes(`/${list}/{id}`));
  const named = Object.keys(NAMES).find((part) => path.includes(`${part}{name}`));
  const of = about === 'foreign' ? 'club' : 'shop';
  const hasPlace = kind !== undefined || named !== undefined;
  if (about !== 'own' && !hasPlace) return null;
  const id = about === 'missing' || !kind ? missingOf(kind) : (ids[kind]?.[of] ?? '');
  const name = about === 'missing' || !named ? (NOT_THERE[named ?? ''] ?? 'none') : (NAMES[named]?.[of] ?? 'none');
  return path
    .replace('{workspace}', 'shop')
    .replace('{kind}', 'notifications')
    .replace('{number}', '1')
    .replace('/secrets/{name}', '/secrets/NONE')
    .replace('{id}', id)
    .replace('{name}', name)
    .replace('{key}', 'none');
}

const PREFIXES: Readonly<Record<string, string>> = {
  events: 'evt',
  deliveries: 'dlv',
  inbox: 'msg',
  runs: 'run',
  jobs: 'job',
};
const missingOf = (kind: string | undefined): string => `${PREFIXES[kind ?? ''] ?? 'non'}_00000000000000000000000000`;

/** Whoever asks too often waits as long as they are told to. */
async function ask(asker: Asker, method: string, path: string, address: string, isHarmless: boolean) {
  const { body, csv, query } = OPERATIONS[`${method} ${path}`] ?? {};
  const sent = csv ?? (body && JSON.stringify(body));
  const asked = `${address}${query === undefined ? '' : `?${query}`}`;
  for (;;) {
    const answer = await fetch(`${shop.product.controlUrl}${asked}`, {
      method,
      headers: {
        ...asker.headers,
        ...(sent !== undefined && { 'content-type': csv === undefined ? 'application/json' : 'text/csv' }),
        ...(isHarmless && { 'idempotency-key': REFUSED_KEY }),
        ...(method !== 'GET' && { 'if-match': '"999999"' }),
      },
      ...(sent !== undefined && { body: sent }),
    });
    const text = await answer.text();
    if (answer.status !== 429) return { status: answer.status, text };
    await pause(Number(answer.headers.get('retry-after') ?? 1) * 1_000);
  }
}

/** Whether the table says that somebody may. */
function isAllowed({ may, where }: Asker, method: string, path: string): boolean {
  const needed = neededBy(method, path);
  if (needed === undefined || typeof needed === 'string') return true;
  if (!needed.some((one) => may.includes(one))) return false;
  if (where === 'everywhere') return true;
  if (path.includes('{workspace}')) return where === 'shop';
  return ACROSS.includes(`${method} ${path}`) && where !== 'nowhere';
}

describe('Every operation of the description', () => {
  it('is in the hand-written table of permissions', () => {
    const unknown = operations.filter(({ method, path }) => neededBy(method, path) === undefined);
    expect(unknown).toEqual([]);
  });

  it('follows the permission table for every caller, on own, foreign and missing resources', async () => {
    const wrong: unknown[] = [];
    let asked = 0;
    for (const { method, path, writes } of operations) {
      const needed = neededBy(method, path);
      if (needed === 'anybody' || path.endsWith('/live')) continue;
      for (const asker of askers) {
        for (const about of ['own', 'foreign', 'missing'] as const) {
          const address = addressed(path, about);
          if (address === null) continue;
          asked += 1;
          const { status, text } = await ask(asker, method, path, address, writes);
          const place = { asker: asker.name, operation: `${method} ${path}`, about, status };
          const expected = asker.where === 'nowhere' ? 401 : isAllowed(asker, method, path) ? 'allowed' : 403;
          // What is about whoever asks says itself to whom it is no use, such as a password of a token.
          const isRefused = status === 401 || (status === 403 && needed !== 'self');
          const isRight = expected === 'allowed' ? !isRefused && status < 500 : status === expected;
          if (!isRight) wrong.push({ ...place, expected, text: text.slice(0, 200) });
          const isTold = asker.where === 'shop' && asker.may.includes('bodies');
          if (!isTold && asker.where !== 'everywhere' && text.includes('canary')) wrong.push({ ...place, leaks: text });
          // Nothing was done: only then is what comes after asked about the same.
          if (writes && status < 300) wrong.push({ ...place, done: text });
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(2_500);
  }, 3_600_000);

  it('answers the same for resources of another workspace as for missing ones', async () => {
    const different: unknown[] = [];
    // Which of their own names somebody may have meant goes by how the wrong one is spelled.
    const without = (text: string, ...words: string[]): string =>
      words.reduce(
        (all, word) => all.replaceAll(word, '…'),
        text.replace(/"request_id":"[^"]*"/, '').replace(MEANT, ''),
      );
    let compared = 0;
    for (const { method, path } of operations) {
      const [foreign, missing] = [addressed(path, 'foreign'), addressed(path, 'missing')];
      // What somebody may make under any name is not about what is there.
      if (foreign === null || missing === null || (method === 'PUT' && path.includes('{name}'))) continue;
      for (const asker of askers.filter(({ where }) => where === 'shop')) {
        if (!isAllowed(asker, method, path)) continue;
        const [one, other] = [
          await ask(asker, method, path, foreign, false),
          await ask(asker, method, path, missing, false),
        ];
        compared += 1;
        const [theirs, nobodys] = [foreign.split('/'), missing.split('/')];
        const words = [...theirs, ...nobodys].filter(
          (part, at) => part !== nobodys[at % nobodys.length] || !theirs.includes(part),
        );
        const [a, b] = [without(one.text, ...words), without(other.text, ...words)];
        const isNamed = [one, other].some(({ text }) => MEANT.exec(text)?.[0].includes('club') === true);
        if (one.status !== other.status || a !== b || isNamed)
          different.push({ asker: asker.name, method, path, one, other });
      }
    }
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(100);
  }, 3_600_000);
});
