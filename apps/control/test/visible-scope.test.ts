import type { ResourceBodies } from '@carillon/domain/configuration';
import { DELIVERY_STATES, type Delivery } from '@carillon/domain/deliveries';
import { deliveryOf } from '@carillon/testing';
import { ORDER_PAID, orderShop, type Wish } from '@carillon/testing/given';
import { createDirectWire, createMemoryLedger, createMemoryReadModels } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner, type Principal } from '../src/access/principal.ts';
import { accessOf, openControl, personWith, type Fixture, publishWishes } from './control-fixture.ts';

const HOUR = 3_600_000;
const WORKSPACES = ['acme', 'club', 'shop'] as const;
const workspace = (name: string, body: ResourceBodies['workspace'] | null): Wish => ({
  ref: { kind: 'workspace', workspace: name, name: '' },
  body,
});

const wire = createDirectWire();
let ledger = createMemoryLedger().connect(wire);
let readModels = createMemoryReadModels().connect(wire);
let opened: Fixture[] = [];
beforeEach(() => {
  ledger = createMemoryLedger().connect(wire);
  readModels = createMemoryReadModels().connect(wire);
});
afterEach(async () => {
  await Promise.all(opened.map(({ control }) => control.app.close()));
  opened = [];
});

type Answered = {
  readonly items: readonly { readonly id: string; readonly workspace: string; readonly state?: string }[];
  readonly next: string | null;
  readonly code: string;
  readonly detail: string;
};

const owner = deploymentOwner('session');
/** Reads and operates in these workspaces alone. */
const personIn = (...names: readonly string[]): Principal => ({
  ...personWith('ann', []),
  may: (permission, where) =>
    (permission === 'read' || permission === 'operate') && where !== null && names.includes(where),
});

/** The API over three workspaces with the order shop in each, as somebody sees it. */
async function openFor(who: Principal) {
  const fixture = await openControl(accessOf(who), { ledger, readModels });
  opened.push(fixture);
  const wishes = WORKSPACES.flatMap((name) => [workspace(name, {}), ...orderShop(undefined, name)]);
  await publishWishes(fixture, wishes);
  const ask = async (url: string, method: 'GET' | 'POST' | 'PUT' = 'GET', payload?: object) => {
    const answer = await fixture.control.app.inject({ method, url, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.json<Answered>() };
  };
  const list = async (url: string) => (await ask(url)).body;
  return { ...fixture, ask, list };
}

/** Two deliveries of each workspace, the newest first. */
async function deliver({ clock }: Pick<Fixture, 'clock'>): Promise<readonly Delivery[]> {
  const made = [...WORKSPACES, ...WORKSPACES].map((name, at) =>
    deliveryOf({
      slot: { workspace: name },
      intent: { notification: 'order-paid', rule: 'order-paid.paid', to: `ada${at}@example.com` },
      createdAt: clock.now() - HOUR * (6 - at),
    }),
  );
  await ledger.insert(made);
  return made.toReversed();
}

const EVERYWHERE = '/v1/workspaces/-';

describe('A list over all workspaces', () => {
  it('covers all workspaces, newest first, in pages without gaps or repeats', async () => {
    const { list, clock } = await openFor(owner);
    const made = await deliver({ clock });
    const first = await list(`${EVERYWHERE}/deliveries?limit=4`);
    await ledger.insert([deliveryOf({ slot: { workspace: 'shop' }, createdAt: clock.now() })]);
    const second = await list(`${EVERYWHERE}/deliveries?limit=4&cursor=${first.next}`);
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made.map(({ id }) => id));
    expect(first.items.map((one) => one.workspace)).toEqual(['shop', 'club', 'acme', 'shop']);
    expect(second.next).toBeNull();
  });

  it('covers only the workspaces that the caller may read, on every page', async () => {
    const { list, ask, clock } = await openFor(personIn('acme', 'shop'));
    const made = await deliver({ clock });
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(`${EVERYWHERE}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next;
    }
    expect(seen).toEqual(made.filter(({ slot }) => slot.workspace !== 'club').map(({ id }) => id));
    const status = await ask('/v1/status');
    expect(status.body).toMatchObject({ workspaces: ['acme', 'shop'], deliveries: {} });
  });

  it('is refused to people who may read no workspace', async () => {
    const { ask } = await openFor(personIn());
    expect(await ask(`${EVERYWHERE}/deliveries`)).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
  });

  it('of events covers only the visible workspaces', async () => {
    const row = { stream: 'x/orders', partition: 0, bytes: 1, configNumber: 0, reused: false, traceId: null };
    await readModels.put({
      events: WORKSPACES.map((name, offset) => ({ ...row, id: `evt_${name}`, workspace: name, offset, at: offset })),
    });
    const { list } = await openFor(personIn('club'));
    expect((await list(`${EVERYWHERE}/events`)).items.map(({ id }) => id)).toEqual(['evt_club']);
    const { list: all } = await openFor(owner);
    expect((await all(`${EVERYWHERE}/events`)).items.map(({ id }) => id)).toEqual(['evt_shop', 'evt_club', 'evt_acme']);
  });

  it('of events finds a W3C trace by its id or its header, in visible workspaces only', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const row = { stream: 'x/orders', partition: 0, bytes: 1, configNumber: 0, reused: false };
    const rows = WORKSPACES.map((name, at) => ({
      ...row,
      id: `evt_${name}`,
      workspace: name,
      offset: at,
      at,
      traceId,
    }));
    await readModels.put({
      events: [...rows, { ...row, id: 'evt_b', workspace: 'club', offset: 9, at: 9, traceId: null }],
    });
    const { list, ask } = await openFor(personIn('club'));
    for (const said of [traceId, traceId.toUpperCase(), `00-${traceId}-00f067aa0ba902b7-01`]) {
      expect((await list(`${EVERYWHERE}/events?trace_id=${said}`)).items.map(({ id }) => id)).toEqual(['evt_club']);
    }
    expect((await list(`${EVERYWHERE}/events?trace_id=${'0'.repeat(31)}1`)).items).toEqual([]);
    const wrong = await ask(`${EVERYWHERE}/events?trace_id=4bf92f`);
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(wrong.body.detail).toContain('32 hex digits');
  });

  it('of dead letters shows those without a workspace to the deployment owner only', async () => {
    const row = { stage: 'evaluate', topic: 'carillon.events', partition: 0, offset: 1, reason: 'r', ownPartition: 0 };
    await readModels.put({
      deadLetters: [null, 'club', 'shop'].map((name, at) => ({
        ...row,
        id: `ddl_${name}`,
        workspace: name,
        at,
        ownOffset: at,
        redrivenAt: null,
        redrivenBy: null,
        dismissedAt: null,
        dismissedBy: null,
        receipt: null,
      })),
    });
    const { list } = await openFor(owner);
    const { list: limited, ask } = await openFor(personIn('shop'));
    for (const path of [`${EVERYWHERE}/dead-letters`, '/v1/dead-letters']) {
      expect((await list(path)).items).toHaveLength(3);
      expect((await limited(path)).items.map(({ id }) => id)).toEqual(['ddl_shop']);
    }
    expect(await ask('/v1/dead-letters/ddl_club/redrive', 'POST')).toMatchObject({ status: 404 });
  });
});

describe('A resource with an id', () => {
  it('is found without its workspace, and hidden from callers without access', async () => {
    const { ask, clock } = await openFor(owner);
    const [, delivery] = await deliver({ clock });
    if (!delivery) throw new Error('there are deliveries');
    const path = `/deliveries/${delivery.id}`;
    expect(await ask(`${EVERYWHERE}${path}`)).toMatchObject({ status: 200, body: { workspace: 'club' } });
    const { ask: limited } = await openFor(personIn('acme', 'shop'));
    const hidden = await limited(`${EVERYWHERE}${path}`);
    const missing = await limited(`${EVERYWHERE}/deliveries/dlv_none`);
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect(hidden.body.detail.replace(delivery.id, '*')).toBe(missing.body.detail.replace('dlv_none', '*'));
    expect((await limited(`${EVERYWHERE}${path}/cancel`, 'POST')).status).toBe(404);
    expect((await ledger.get(delivery.id))?.state).toBe('WAITING');
  });
});

describe('An unknown name', () => {
  it.each([
    ['/v1/workspaces/shpo/deliveries', 404, 'there is no workspace shpo; did you mean shop?'],
    ['/v1/workspaces/nowhere/deliveries', 404, 'there is no workspace nowhere; known: acme, club, shop'],
    [
      `${EVERYWHERE}/deliveries?notification=order-payed`,
      400,
      'notification: there is no notification order-payed; did you mean order-paid?',
    ],
    [
      '/v1/workspaces/shop/deliveries?rule=order-paid.payed',
      400,
      'rule: there is no rule order-paid.payed; did you mean order-paid.paid?',
    ],
    [`${EVERYWHERE}/deliveries?state=in_dout`, 400, 'state: there is no state in_dout; did you mean IN_DOUBT?'],
    [`${EVERYWHERE}/deliveries?reason=optedout`, 400, 'reason: there is no reason optedout; did you mean opted_out?'],
    [
      `${EVERYWHERE}/deliveries?event=dlv_1`,
      400,
      'event: expected the id of an event, evt_ and 26 characters; found dlv_1',
    ],
    [
      `${EVERYWHERE}/why?address=ada&notification=order-payed`,
      400,
      'notification order-payed; did you mean order-paid?',
    ],
    [
      `${EVERYWHERE}/why?address=ada&notification=order-paid.gone`,
      400,
      'there is no rule order-paid.gone; did you mean order-paid.paid?',
    ],
    [`${EVERYWHERE}/deliveries?channel=mail`, 400, 'channel: there is no channel mail; did you mean email?'],
    [`${EVERYWHERE}/events?stream=shop/order`, 400, 'stream: there is no stream shop/order; did you mean shop/orders?'],
    ['/v1/workspaces/shop/events?stream=order', 400, 'stream: there is no stream order; did you mean shop/orders?'],
    [`${EVERYWHERE}/streams/shop%2Forder/fields`, 404, 'there is no stream shop/order; did you mean shop/orders?'],
    [
      `${EVERYWHERE}/rules/order-paid.payed/sample`,
      404,
      'there is no rule order-paid.payed; did you mean order-paid.paid?',
    ],
    [`${EVERYWHERE}/deliveries?from=yesterdy`, 400, 'from: expected 2h, today, yesterday, a date'],
    [`${EVERYWHERE}/deliveries?limit=0`, 400, 'limit: takes a whole number from 1 to 500'],
  ])('%s gets %i, and the nearest name is suggested', async (url, status, detail) => {
    const { ask, clock } = await openFor(owner);
    await deliver({ clock });
    const answer = await ask(url);
    expect(answer).toMatchObject({ status });
    expect(answer.body.detail).toContain(detail);
  });

  it('is accepted as a filter if deliveries from before its removal have it', async () => {
    const { list, clock } = await openFor(owner);
    await ledger.insert([
      deliveryOf({
        slot: { workspace: 'shop' },
        intent: { notification: 'gone', rule: 'gone.paid' },
        createdAt: clock.now(),
      }),
    ]);
    expect((await list(`${EVERYWHERE}/deliveries?notification=gone`)).items).toHaveLength(1);
    expect((await list(`${EVERYWHERE}/deliveries?rule=gone.paid`)).items).toHaveLength(1);
    expect((await list(`${EVERYWHERE}/deliveries?notification=gone&state=SENT`)).items).toEqual([]);
  });

  it('is accepted by `why` if it existed before, for callers who may see it', async () => {
    const fixture = await openFor(personIn('shop', 'acme'));
    const { list, ask } = fixture;
    const gone: Wish = { ref: { kind: 'notification', workspace: 'shop', name: 'order-paid' }, body: null };
    const hidden: Wish = { ref: { kind: 'notification', workspace: 'club', name: 'secret' }, body: ORDER_PAID };
    for (const wish of [gone, hidden, { ...hidden, body: null }] as const) {
      await publishWishes(fixture, [wish]);
    }
    for (const name of ['order-paid', 'order-paid.paid']) {
      expect((await list(`/v1/workspaces/shop/why?address=ada@example.com&notification=${name}`)).items).toEqual([]);
    }
    for (const name of ['order-paid.other', 'secret']) {
      const { status, body } = await ask(`${EVERYWHERE}/why?address=ada@example.com&notification=${name}`);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
    }
  });

  it('is refused with suggestions that the caller may see only', async () => {
    const { ask } = await openFor(personIn('club'));
    const { status, body } = await ask(`${EVERYWHERE}/events?stream=shop/orders`);
    expect({ status, detail: body.detail }).toEqual({
      status: 400,
      detail: 'stream: there is no stream shop/orders in workspace club; known: club/orders',
    });
  });

  it('and a name in several workspaces are refused until the workspace is named', async () => {
    const { ask } = await openFor(owner);
    const { status, body } = await ask(`${EVERYWHERE}/rules/order-paid.paid/sample`);
    expect({ status, detail: body.detail }).toEqual({
      status: 400,
      detail: 'rule order-paid.paid is in acme and club and shop: name the workspace',
    });
  });
});

describe('A state', () => {
  it.each(DELIVERY_STATES)('%s is one to filter by, and finds what is in it', async (state) => {
    const { list, clock } = await openFor(owner);
    await deliver({ clock });
    await ledger.insert([deliveryOf({ slot: { workspace: 'shop', uniqueId: state }, state, createdAt: clock.now() })]);
    const { items } = await list(`${EVERYWHERE}/deliveries?state=${state}&unique_id=${state}`);
    expect(items.map((one) => one.state)).toEqual([state]);
  });
});

describe('An address', () => {
  it('is found whatever its case, and by how it begins', async () => {
    const { list, clock } = await openFor(owner);
    await deliver({ clock });
    for (const [to, many] of [
      ['Ada3@Example.COM', 1],
      ['ADA', 6],
      [' ada1', 1],
      ['bob', 0],
      ['example.com', 0],
    ] as const) {
      const { items } = await list(`${EVERYWHERE}/deliveries?recipient=${encodeURIComponent(to)}`);
      expect({ to, many: items.length }).toEqual({ to, many });
    }
  });

  it('is looked for since a time as people say it', async () => {
    const { list, clock } = await openFor(owner);
    await deliver({ clock });
    for (const [since, many] of [
      ['150m', 2],
      ['2h', 2],
      ['yesterday', 6],
      ['today', 6],
      [new Date(clock.now()).toISOString().slice(0, 10), 6],
    ] as const) {
      const { items } = await list(`${EVERYWHERE}/deliveries?from=${since}`);
      expect({ since, many: items.length }).toEqual({ since, many });
    }
  });
});

describe('A secret', () => {
  it('is not stored for a workspace that is not there', async () => {
    const { ask } = await openFor(owner);
    const refused = await ask('/v1/workspaces/shpo/secrets/CRM_KEY', 'PUT', { value: 'x' });
    expect(refused).toMatchObject({ status: 404, body: { detail: 'there is no workspace shpo; did you mean shop?' } });
  });
});

describe('An API key', () => {
  it('for a missing workspace is refused, and creates the workspace only on request', async () => {
    const { ask, configuration } = await openFor({ ...owner, may: () => true });
    const refused = await ask('/v1/workspaces/shpo/api-keys', 'POST', { name: 'backend' });
    expect(refused).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(refused.body.detail).toBe(
      'there is no workspace shpo; did you mean shop? A new one is made with --new-workspace (new_workspace: true)',
    );
    const before = configuration.current().number;
    expect((await ask('/v1/workspaces/blog/api-keys', 'POST', { name: 'backend', new_workspace: true })).status).toBe(
      201,
    );
    expect(configuration.current().number).toBe(before + 1);
    expect((await ask('/v1/workspaces/-/api-keys', 'POST', { name: 'backend', new_workspace: true })).status).toBe(400);
  });
});
