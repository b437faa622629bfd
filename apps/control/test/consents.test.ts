import { optOutFor, personName, type Consents, type Decision } from '@carillon/domain/consent';
import { createCsvReader, unguardedCell } from '@carillon/kernel';
import type { ConsentStore, EventLog } from '@carillon/ports';
import { decideConsents } from '@carillon/stages';
import { givenIds, orderShop, type Wish } from '@carillon/testing/given';
import { createDirectWire, createMemoryStores, createMemoryLog } from '@carillon/testing/memory';
import type { LogId } from '@carillon/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessOf, openControl, personWith, type Fixture, publishWishes } from './control-fixture.ts';

let consents: ConsentStore;
let fixture: Fixture;
let url = '';
let troubles: string[] = [];
const ANN = personWith('ann', ['read', 'bodies', 'operate']);

async function open(
  who = ANN,
  more: { readonly log?: EventLog; readonly consents?: ConsentStore } = {},
): Promise<void> {
  const watch = { trouble: (where: string) => void troubles.push(where) } as never;
  fixture = await openControl(accessOf(who), { consents, watch, ...more });
  const categories = { orders: { was: ['purchases'] } };
  const workspace = (name: string): Wish => ({
    ref: { kind: 'workspace', workspace: name, name: '' },
    body: { categories },
  });
  const wishes = ['club', 'shop'].flatMap((name) => [workspace(name), ...orderShop(undefined, name)]);
  const changed = wishes.map((wish) =>
    wish.ref.kind === 'notification' && wish.body !== null
      ? { ...wish, body: { ...wish.body, id: `ntf_${wish.ref.workspace}`, category: 'orders' } }
      : wish,
  ) as readonly Wish[];
  const reset = { ...changed.find(({ ref }) => ref.kind === 'notification' && ref.workspace === 'shop') } as Wish;
  const transactional = {
    ref: { ...reset.ref, name: 'password-reset' },
    body: { ...reset.body, id: 'ntf_reset', transactional: true },
  } as Wish;
  await publishWishes(fixture, [...changed, transactional]);
  ({ address: url } = await fixture.control.listen());
}
beforeEach(async () => {
  troubles = [];
  consents = createMemoryStores().connect().consents;
  await open();
});
afterEach(() => fixture.control.close(0));

type Word = {
  readonly target: string;
  readonly name: string | null;
  readonly channel: string | null;
  readonly opted_out: boolean;
  readonly by: string | null;
};
type Shown = { readonly person: string; readonly words: readonly Word[]; readonly exempt: readonly string[] };
type Answered = Shown & {
  readonly items: readonly Shown[];
  readonly detail: string;
  readonly faults: readonly { readonly line: number; readonly message: string }[];
};
const SHOP = '/v1/workspaces/shop/consents';
/** Over a connection: what is injected has no socket to end where its body is not read. */
const call = async (method: 'GET' | 'POST', path: string, payload?: object | string, type = 'application/json') => {
  const isFile = typeof payload === 'string' || payload instanceof Buffer;
  const body = payload === undefined ? {} : { body: isFile ? payload : JSON.stringify(payload) };
  const headers = payload === undefined ? {} : { 'content-type': type };
  const answer = await fetch(`${url}${path}`, { method, headers, ...body });
  return { status: answer.status, body: (await answer.json()) as Answered };
};
const set = (body: object) => call('POST', SHOP, body);
const show = async (person: string) => (await call('GET', `${SHOP}/person?person=${encodeURIComponent(person)}`)).body;
const importing = (csv: string, query = '') => call('POST', `${SHOP}/import${query}`, csv, 'text/csv');
const held = (person: string) =>
  consents.find('shop', [personName(person, (...parts) => givenIds.keyed(...parts))]).then(([one]) => one);
/** Said on the page: by default that nothing is wanted any more. */
const saying = (person: string, said: Partial<Decision>, workspace = 'shop') =>
  decideConsents(
    workspace,
    person,
    [{ target: { kind: 'all' }, channel: null, optedOut: true, way: 'page', ...said }],
    { ...fixture, ids: givenIds, consents },
  );
const wordsOf = ({ words }: Shown) =>
  words.map(({ target, name, channel, opted_out: out, by }) => [target, name, channel, out ? 'out' : 'in', by]);

/** What the log of consents holds, as its readers see it. */
async function logged() {
  const records = await fixture.log.read('carillon.consents', 0, 0, 5000);
  return records.flatMap(({ value }) => {
    const decoded = fixture.codecs.consent.decode(value);
    return decoded.ok ? [decoded.value] : [];
  });
}

describe('A choice set for a person', () => {
  it('is stored and on the log before the response, with its author', async () => {
    const answer = await set({ person: ' Ada@EXAMPLE.com', target: 'category', name: 'orders', opted_out: true });
    expect(answer.status).toBe(200);
    expect(wordsOf(answer.body)).toEqual([['category', 'orders', null, 'out', 'ann']]);
    expect(answer.body).toMatchObject({ person: 'ada@example.com', exempt: ['password-reset'] });
    expect((await held('ada@example.com'))?.unpublished).toEqual([]);
    expect(await logged()).toMatchObject([
      {
        person: expect.stringMatching(/^hashed:/) as unknown,
        target: { kind: 'category', name: 'orders' },
        way: 'api',
        by: 'ann',
        optedOut: true,
      },
    ]);
    expect(answer.body).toMatchObject(await show('ADA@example.com.'));
  });

  it('of a notification is stored by id and shown by name', async () => {
    const { body } = await set({
      person: 'user 42',
      target: 'notification',
      name: 'order-paid',
      channel: 'sms',
      opted_out: true,
    });
    expect(wordsOf(body)).toEqual([['notification', 'order-paid', 'sms', 'out', 'ann']]);
    expect((await held('user 42'))?.words).toMatchObject([{ target: { kind: 'notification', name: 'ntf_shop' } }]);
  });

  it('that allows all channels reverses the opt-outs of single channels', async () => {
    await set({ person: 'ada', target: 'all', channel: 'sms', opted_out: true });
    await set({ person: 'ada', target: 'all', opted_out: true });
    const { body } = await set({ person: 'ada', target: 'all', opted_out: false });
    expect(body.words.every((word) => !word.opted_out)).toBe(true);
    expect(body.words).toHaveLength(2);
  });

  it.each([
    [{ target: 'category', name: 'order' }, 'name: there is no category order; did you mean orders?'],
    [
      { target: 'notification', name: 'order-payed' },
      'name: there is no notification order-payed; did you mean order-paid?',
    ],
    [{ target: 'all', name: 'x' }, 'name: kind all takes no name'],
    [{ target: 'category' }, 'name: the name of the category is missing'],
    [{ target: 'everything' }, 'target: there is no target everything'],
    [{ target: 'all', channel: 'mail' }, 'channel: there is no channel mail; did you mean email?'],
    [{ target: 'all', person: ' ' }, 'person: '],
    [{ target: 'all', person: 'a\u0000b' }, 'person: has a control character'],
  ])('is refused if it is %j', async (wrong, words) => {
    const { status, body } = await set({ person: 'ada', opted_out: true, ...wrong });
    expect({ status, detail: body.detail }).toEqual({ status: 400, detail: expect.stringContaining(words) as unknown });
    expect(await held('ada')).toBeUndefined();
  });

  it('is stored while the log is unavailable, and published later', async () => {
    await fixture.control.close(0);
    const log = createMemoryLog({
      logId: 'log_0000000000000000000000000A' as LogId,
      partitions: 1,
      now: () => 1,
    }).connect(createDirectWire());
    let down = false;
    const failing: EventLog = {
      ...log,
      append: (records) =>
        down && records.some(({ topic }) => topic === 'carillon.consents')
          ? Promise.reject(new Error('the log is away'))
          : log.append(records),
    };
    await open(ANN, { log: failing });
    down = true;
    expect((await set({ person: 'ada', target: 'all', opted_out: true })).status).toBe(200);
    expect(troubles).toEqual(['tell consents']);
    expect((await held('ada'))?.unpublished).toHaveLength(1);
  });

  it('fails if the store is unavailable', async () => {
    await fixture.control.close(0);
    await open(ANN, { consents: { ...consents, replace: () => Promise.reject(new Error('away')) } });
    expect((await set({ person: 'ada', target: 'all', opted_out: true })).status).toBe(500);
    expect(await logged()).toEqual([]);
  });

  it('needs write permission, and reading needs permission to see addresses', async () => {
    await fixture.control.close(0);
    await open(personWith('eve', ['read']));
    for (const path of [SHOP, `${SHOP}/person?person=ada`, `${SHOP}/export`]) {
      expect(await call('GET', path)).toMatchObject({ status: 403 });
    }
    expect(await set({ person: 'ada', target: 'all', opted_out: true })).toMatchObject({ status: 403 });
    expect(await held('ada')).toBeUndefined();
  });
});

describe('A choice under a former name of a category', () => {
  const say = (person: string, name: string, optedOut: boolean, channel: 'sms' | null = null) =>
    saying(person, { target: { kind: 'category', name }, channel, optedOut });
  const isOut = async (person: string) => {
    const document = await held(person);
    const question = { notificationId: 'ntf_shop', categories: ['orders', 'purchases'], channel: 'sms' } as const;
    return document !== undefined && optOutFor([document], question) !== null;
  };

  it('is reversed by the current and the former name, on each channel', async () => {
    for (const [person, name] of [
      ['ada', 'orders'],
      ['bob', 'purchases'],
    ] as const) {
      await say(person, 'purchases', true);
      await say(person, 'purchases', true, 'sms');
      expect(await isOut(person)).toBe(true);
      expect((await set({ person, target: 'category', name, opted_out: false })).status).toBe(200);
      expect(await isOut(person)).toBe(false);
    }
  });

  it('is reversed by a file with either name', async () => {
    for (const person of ['ada', 'bob']) await say(person, 'purchases', true);
    const csv = 'person,target,name,opted_out\nada,category,orders,false\nbob,category,purchases,false\n';
    expect((await importing(csv)).body).toMatchObject({ taken: 2, refused: 0 });
    expect([await isOut('ada'), await isOut('bob')]).toEqual([false, false]);
  });

  it('gets the current name if a file or an operator repeats it', async () => {
    await importing('person\nada\n', '?category=purchases');
    await set({ person: 'bob', target: 'category', name: 'purchases', opted_out: true });
    for (const person of ['ada', 'bob']) {
      expect((await held(person))?.words).toMatchObject([{ target: { kind: 'category', name: 'orders' } }]);
    }
  });

  it('still applies after export and import, whatever was chosen under the current name', async () => {
    // Out under the name of then counts, however late somebody wanted it again under the name of now.
    await say('ada', 'orders', true);
    await say('ada', 'purchases', true);
    await say('ada', 'orders', false);
    await say('bob', 'purchases', true);
    await say('bob', 'orders', true);
    await say('bob', 'orders', false);
    await say('bob', 'purchases', false);
    await say('carl', 'orders', true);
    await say('carl', 'purchases', true);
    await say('carl', 'purchases', false);
    const people = ['ada', 'bob', 'carl'];
    const before = await Promise.all(people.map(isOut));
    expect(before).toEqual([true, false, true]);
    const text = await (await fetch(`${url}${SHOP}/export`)).text();
    expect((await importing(text)).body).toMatchObject({ refused: 0, added: 0 });
    expect(await Promise.all(people.map(isOut))).toEqual(before);
    await fixture.control.close(0);
    consents = createMemoryStores().connect().consents;
    await open();
    expect((await importing(text)).body).toMatchObject({ refused: 0 });
    expect(await Promise.all(people.map(isOut))).toEqual(before);
  });
});

describe('A choice about a removed notification', () => {
  it('is exported by id, which an import accepts', async () => {
    const gone = 'ntf_0123456789ABCDEFGHJKMNPQRS';
    const target = { kind: 'notification', name: gone } as const;
    await saying('ada', { target });
    const text = await (await fetch(`${url}${SHOP}/export`)).text();
    await fixture.control.close(0);
    consents = createMemoryStores().connect().consents;
    await open();
    expect((await importing(text)).body).toMatchObject({ rows: 1, taken: 1, added: 1, refused: 0 });
    expect((await held('ada'))?.words).toMatchObject([{ target, optedOut: true }]);
    expect((await importing('person,target,name\nada,notification,ntf_short\n')).body).toMatchObject({ refused: 1 });
  });
});

describe('The list of choices', () => {
  it('has pages, covers one or all workspaces, and finds a person by any form of an address', async () => {
    for (const person of ['ada@example.com', 'bob', 'carl']) await set({ person, target: 'all', opted_out: true });
    await saying('ada@example.com', {}, 'club');
    const persons = async (path: string) => (await call('GET', path)).body.items.map(({ person }) => person).toSorted();
    expect(await persons(SHOP)).toEqual(['ada@example.com', 'bob', 'carl']);
    expect(await persons('/v1/workspaces/-/consents?person=ADA@Example.com')).toEqual([
      'ada@example.com',
      'ada@example.com',
    ]);
    expect(await persons('/v1/workspaces/-/consents')).toHaveLength(4);
    expect(await persons(`${SHOP}?person=nobody`)).toEqual([]);
    expect(await show('nobody')).toMatchObject({ person: 'nobody', words: [], updated_at: null });
  });
});

describe('An import of opt-outs', () => {
  it('with only addresses opts each person out of everything, once even if repeated', async () => {
    const csv = "\ufeffAddress\r\nAda@Example.com\r\n'+49 30 123456\r\n\r\n0171 123\r\nada@example.com\r\n";
    const first = await importing(csv);
    expect(first).toMatchObject({ status: 200, body: { rows: 4, taken: 3, added: 2, refused: 1 } });
    expect(first.body.faults).toEqual([
      { line: 5, message: expect.stringContaining('no phone number in international form') as unknown },
    ]);
    expect((await importing(csv)).body).toMatchObject({ rows: 4, taken: 3, added: 0, refused: 1 });
    for (const person of ['ada@example.com', '+4930123456']) {
      expect(wordsOf(await show(person))).toEqual([['all', null, null, 'out', 'ann']]);
    }
    expect((await logged()).every(({ way, by }) => way === 'import' && by === 'ann')).toBe(true);
  });

  it('with category and channel opts out of these only', async () => {
    await importing('person\nuser 42\n', '?category=orders&channel=email');
    expect(wordsOf(await show('user 42'))).toEqual([['category', 'orders', 'email', 'out', 'ann']]);
    const wrong = await importing('person\nuser 42\n', '?category=order');
    expect(wrong).toMatchObject({
      status: 400,
      body: { detail: 'category: there is no category order; did you mean orders?' },
    });
  });

  it('reports each wrong row', async () => {
    const csv = [
      'person,target,name,channel,opted_out,at,workspace',
      'ada,category,order,,,,',
      'ada,everything,,,,,',
      'ada,all,,fax,,,',
      'ada,all,,,maybe,,',
      'ada,all,,,,yesterday,',
      'ada,all,,,,2999-01-01T00:00:00Z,',
      ',all,,,,,',
      'ada,all,,,,,club',
    ].join('\n');
    const { body } = await importing(csv);
    expect(body).toMatchObject({ rows: 8, taken: 0, refused: 8 });
    expect(body.faults.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '2 name: there is no category order; did you mean orders?',
      '3 target: takes all, category, notification',
      '4 channel: takes email, sms, push, or nothing for all',
      '5 opted_out: takes true or false',
      '6 at: takes an RFC 3339 time, such as 2026-01-31T09:00:00Z',
      '7 at: it is in the future',
      '8 person: it is empty',
      '9 workspace: it is of another workspace, club',
    ]);
    expect(await held('ada')).toBeUndefined();
  });

  it('with times does not override newer choices', async () => {
    const old = new Date(fixture.clock.now() - 3_600_000).toISOString();
    const csv = `person,at\nada,${old}\nbob,${old}\n`;
    await importing(csv);
    await set({ person: 'ada', target: 'all', opted_out: false });
    expect((await importing(csv)).body).toMatchObject({ taken: 2, added: 0 });
    expect((await show('ada')).words).toMatchObject([{ opted_out: false }]);
    expect((await show('bob')).words).toMatchObject([{ opted_out: true, at: old }]);
    // Without a time it is said now.
    await importing('person\nada\n');
    expect((await show('ada')).words).toMatchObject([{ opted_out: true }]);
  });

  it('exports equal rows with escaped formulas, and importing them again changes nothing', async () => {
    await set({ person: '=cmd', target: 'notification', name: 'order-paid', opted_out: true });
    await set({ person: '+4930123456', target: 'category', name: 'orders', channel: 'sms', opted_out: true });
    await set({ person: '+4930123456', target: 'category', name: 'orders', channel: 'sms', opted_out: false });
    const text = await (await fetch(`${url}${SHOP}/export`)).text();
    expect(text).not.toMatch(/(?:^|,)"[=+\-@]/m);
    const reader = createCsvReader();
    const rows = [...reader.push(text), ...reader.end()].map(({ cells }) => cells.map(unguardedCell).slice(0, 8));
    expect(rows.slice(1)).toEqual(
      expect.arrayContaining([
        ['shop', '+4930123456', 'category', 'orders', 'sms', 'false', 'api', 'ann'],
        ['shop', '=cmd', 'notification', 'order-paid', '', 'true', 'api', 'ann'],
      ]),
    );
    const before = await Promise.all(['=cmd', '+4930123456'].map(show));
    expect((await importing(text)).body).toMatchObject({ rows: 2, taken: 2, added: 0, refused: 0 });
    expect(await Promise.all(['=cmd', '+4930123456'].map(show))).toEqual(before);
  });

  it('writes a person once even if another writer changes them concurrently', async () => {
    await fixture.control.close(0);
    let raced = false;
    const racing: ConsentStore = {
      ...consents,
      async replace(next: Consents) {
        if (!raced && next.person === 'ada') {
          raced = true;
          await decideConsents(
            'shop',
            'ada',
            [{ target: { kind: 'category', name: 'orders' }, channel: null, optedOut: true, way: 'page' }],
            { consents, ids: givenIds, clock: fixture.clock },
          );
        }
        return consents.replace(next);
      },
    };
    await open(ANN, { consents: racing });
    await importing('person\nada\nbob\n');
    expect(wordsOf(await show('ada')).map(([target]) => target)).toEqual(['all', 'category']);
    expect(await held('bob')).toBeDefined();
  });
});
