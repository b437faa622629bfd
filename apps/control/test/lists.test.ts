import type { ResourceBodies } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { EventId } from '@carillon/kernel';
import type { DuplicateRow } from '@carillon/ports';
import { deliveryOf, type DeliveryFacts } from '@carillon/testing';
import { givenIds, orderShop, type Wish } from '@carillon/testing/given';
import { createDirectWire, createMemoryLedger, createMemoryReadModels } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { createCursors } from '../src/cursors.ts';
import { accessOf, openControl, type Fixture, publishWishes } from './control-fixture.ts';

const MINUTE = 60_000;
const wire = createDirectWire();
const ledger = createMemoryLedger().connect(wire);
const readModels = createMemoryReadModels().connect(wire);
const workspace = (name: string, body: ResourceBodies['workspace']): Wish => ({
  ref: { kind: 'workspace', workspace: name, name: '' },
  body,
});

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openControl(accessOf(deploymentOwner('session')), { ledger, readModels });
  const wishes = ['shop', 'club'].flatMap((name) => [workspace(name, {}), ...orderShop(undefined, name)]);
  await publishWishes(fixture, wishes);
});
afterEach(() => fixture.control.app.close());

type Answered = {
  readonly items: readonly { readonly id: string; readonly unique_id: string }[];
  readonly next: string | null;
  readonly code?: string;
  readonly detail?: string;
  readonly pointer?: string;
};

async function ask(url: string): Promise<Answered & { readonly status: number }> {
  const answer = await fixture.control.app.inject({ method: 'GET', url });
  return { status: answer.statusCode, ...answer.json<Answered>() };
}

let series = 0;
/** Adds deliveries, oldest first, one minute apart. Returns the name of their series. */
async function deliver(
  ...facts: readonly (Omit<DeliveryFacts, 'intent'> & { readonly to?: string; readonly rule?: string })[]
) {
  series += 1;
  const person = `p_${series}`;
  const now = fixture.clock.now();
  await ledger.insert(
    facts.map(({ to, rule = 'order-paid.paid', ...one }, at) =>
      deliveryOf({
        ...one,
        slot: { workspace: 'shop', uniqueId: `${person}-${at}`, ...one.slot },
        intent: { person, rule, notification: rule.split('.')[0] ?? '', ...(to !== undefined && { to }) },
        createdAt: now - MINUTE * (facts.length - at),
      }),
    ),
  );
  return person;
}
const placesOf = ({ items }: Answered): readonly string[] => items.map((one) => one.unique_id.split('-')[1] ?? '');

describe('the list of deliveries', () => {
  it('filters by several states, reasons and channels, as a comma list or repeated', async () => {
    const person = await deliver(
      { state: 'SENT', reason: 'accepted' },
      { state: 'FAILED', reason: 'refused_content' },
      { state: 'BOUNCED', reason: 'bounced', slot: { channel: 'sms' } },
    );
    const list = async (query: string) =>
      placesOf(await ask(`/v1/workspaces/shop/deliveries?person=${person}&${query}`));
    expect(await list('state=FAILED,BOUNCED')).toEqual(['2', '1']);
    expect(await list('state=FAILED&state=SENT')).toEqual(['1', '0']);
    expect(await list('reason=accepted,%20bounced')).toEqual(['2', '0']);
    expect(await list('channel=sms')).toEqual(['2']);
    expect(await list('channel=sms,email&state=SENT')).toEqual(['0']);
  });

  it.each([
    ['state=SENT,FAILD', '/state', 'state: there is no state FAILD; did you mean FAILED?'],
    ['state=', '/state', 'state: takes one state or several'],
    ['channel=fax', '/channel', 'channel: there is no channel fax'],
    ['last=24h&from=2h', '/last', 'last: already gives both ends of the time range: leave from out'],
    ['last=soon', '/last', 'last: expected a duration such as 30m, 24h or 7d; found soon'],
    ['to=ada@example.com', '/to', 'to: expected 2h, today'],
    ['from=1h&to=2h', '/to', 'to: must be later than `from`'],
    ['since=2h', undefined, 'since'],
  ])('refuses the filter %s with its pointer', async (query, pointer, detail) => {
    const answer = await ask(`/v1/workspaces/shop/deliveries?${query}`);
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request', ...(pointer !== undefined && { pointer }) });
    expect(answer.detail).toContain(detail);
  });

  it('covers a time range with inclusive start and exclusive end', async () => {
    const person = await deliver({}, {}, {}, {});
    const at = (minutes: number) => new Date(fixture.clock.now() - MINUTE * minutes).toISOString();
    const list = async (query: string) =>
      placesOf(await ask(`/v1/workspaces/shop/deliveries?person=${person}&${query}`));
    expect(await list(`from=${at(3)}&to=${at(1)}`)).toEqual(['2', '1']);
    expect(await list('last=2m')).toEqual(['3', '2']);
    expect(await list(`to=${at(2)}`)).toEqual(['1', '0']);
  });

  it('refuses an unknown rule, and finds deliveries of a removed one', async () => {
    const person = await deliver({ rule: 'gone.paid' });
    expect(placesOf(await ask(`/v1/workspaces/shop/deliveries?rule=gone.paid&person=${person}`))).toEqual(['0']);
    const unknown = await ask('/v1/workspaces/shop/deliveries?rule=gone.payed');
    expect(unknown.status).toBe(400);
    expect(unknown.detail).toContain('rule: there is no rule gone.payed');
  });
});

describe('the list of duplicates', () => {
  const duplicate = (id: string, holder: Delivery, eventId: string, minutes: number): DuplicateRow => ({
    id,
    workspace: 'shop',
    notification: holder.intent.notification,
    intentId: `int_${id}`,
    eventId,
    deliveryId: holder.id,
    at: fixture.clock.now() - MINUTE * minutes,
    detail: 'the order was told already',
  });
  async function pages(url: string): Promise<readonly (readonly string[])[]> {
    const seen: (readonly string[])[] = [];
    // A cursor that goes nowhere ends the test, and does not keep it.
    for (let cursor: string | null = ''; cursor !== null && seen.length < 50;) {
      const { items, next } = await ask(`${url}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(items.map(({ id }) => id));
      cursor = next;
    }
    return seen;
  }

  it('joins every page of an event, each once, within its time range', async () => {
    const eventId = 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD' as EventId;
    const [holder] = (await holders({ event: 'other' })) as [Delivery];
    const made = await holders({ event: eventId }, { event: eventId }, { event: eventId }, { event: eventId });
    // The deliveries are 4, 3, 2 and 1 minutes old.
    const rows = [0.5, 1.5, 1.6, 3.5, 5].map((minutes, at) => duplicate(`out_${at}`, holder, eventId, minutes));
    await readModels.put({ duplicates: [...rows, duplicate('out_strange', holder, 'evt_strange', 1)] });
    const [oldest, third, second, newest] = made.map(({ id }) => id);
    const url = `/v1/workspaces/shop/deliveries?event=${eventId}`;
    expect(await pages(`${url}&limit=3`)).toEqual([
      ['out_0', newest, 'out_1', 'out_2', second, third],
      ['out_3', oldest, 'out_4'],
    ]);
    // More of them than a page takes go on with the next.
    const single = (await pages(`${url}&limit=1`)).flat();
    expect(single).toHaveLength(9);
    expect(new Set(single)).toEqual(new Set((await pages(`${url}&limit=500`)).flat()));
    expect((await pages(`${url}&limit=1&state=SUPPRESSED`)).flat()).toEqual(rows.map(({ id }) => id));
    expect((await pages(`${url}&limit=1&state=SENT`)).flat()).not.toContain('out_0');
  });

  it('reads only duplicates of a person’s own deliveries', async () => {
    const [, stranger] = await holders({ event: 'strange' }, { event: 'strange too' });
    const person = await deliver({ duplicates: 3 }, {}, { duplicates: 1 });
    const [newest, , oldest] = (await ledger.list({ person }, 3)).items;
    if (!stranger || !newest || !oldest) throw new Error('they were not made');
    await readModels.put({
      duplicates: [
        ...Array.from({ length: 500 }, (_, at) => duplicate(`out_far_${at}`, stranger, 'evt_far', 0.001 * at)),
        ...['a', 'b', 'c'].map((name, at) => duplicate(`out_old_${name}`, oldest, 'evt_old', 2.5 - at / 2)),
        duplicate('out_new', newest, 'evt_new', 0.5),
      ],
    });
    const list = async (query: string) =>
      (await pages(`/v1/workspaces/shop/deliveries?person=${person}&${query}`)).map((page) =>
        page.map((id) => (id.startsWith('out_') ? id : 'a delivery')),
      );
    const one = 'a delivery';
    expect(await list('limit=2')).toEqual([
      ['out_new', one, one],
      ['out_old_c', 'out_old_b', one],
    ]);
    expect((await list('limit=50')).flat()).toHaveLength(7);
    expect((await list('limit=50&last=1m')).flat()).toEqual(['out_new', one]);
    // Duplicates that are asked for as such are found one by one.
    const suppressed = (await list('limit=50&state=SUPPRESSED')).flat();
    expect(suppressed).toEqual(['out_new', 'out_old_c', 'out_old_b', 'out_old_a']);
  });

  async function holders(...events: readonly { readonly event: string }[]): Promise<readonly Delivery[]> {
    const now = fixture.clock.now();
    const made = events.map(({ event }, at) =>
      deliveryOf({
        state: 'SENT',
        slot: { workspace: 'shop', uniqueId: `${event}-${at}` },
        intent: { person: 'ada', eventId: event as EventId },
        createdAt: now - MINUTE * (events.length - at),
      }),
    );
    await ledger.insert(made);
    return made;
  }
});

describe('a cursor', () => {
  it('continues at the end of its page while rows are added, and is opaque', async () => {
    const person = await deliver({}, {}, {}, {}, {});
    const url = `/v1/workspaces/shop/deliveries?person=${person}&limit=2`;
    const first = await ask(url);
    expect(Buffer.from(first.next ?? '', 'base64url').toString('latin1')).not.toMatch(/dlv_|\d{6}/);
    await ledger.insert([
      deliveryOf({
        slot: { workspace: 'shop', uniqueId: `${person}-new` },
        intent: { person },
        createdAt: fixture.clock.now(),
      }),
    ]);
    const second = await ask(`${url}&cursor=${first.next}`);
    const third = await ask(`/v1/workspaces/shop/deliveries?cursor=${second.next}&limit=5&person=${person}`);
    expect([first, second, third].map(placesOf)).toEqual([['4', '3'], ['2', '1'], ['0']]);
    expect(third.next).toBeNull();
  });

  it('works only for its list, workspace and filters', async () => {
    const person = await deliver({}, {}, {});
    const { next } = await ask(`/v1/workspaces/shop/deliveries?person=${person}&limit=1`);
    const forged = Buffer.from(JSON.stringify([1, 'dlv_1'])).toString('base64url');
    for (const url of [
      `/v1/workspaces/club/deliveries?person=${person}&limit=1&cursor=${next}`,
      `/v1/workspaces/-/deliveries?person=${person}&limit=1&cursor=${next}`,
      `/v1/workspaces/shop/deliveries?limit=1&cursor=${next}`,
      `/v1/workspaces/shop/deliveries?person=${person}&state=SENT&cursor=${next}`,
      `/v1/workspaces/shop/events?cursor=${next}`,
      `/v1/workspaces/shop/deliveries?cursor=${forged}`,
      `/v1/workspaces/shop/deliveries?cursor=`,
      `/v1/workspaces/shop/deliveries?person=${person}&cursor=${next?.slice(0, -2)}AA`,
      `/v1/workspaces/shop/deliveries?person=${person}&cursor=${next}&cursor=${next}`,
    ]) {
      expect(await ask(url), url).toMatchObject({ status: 400, code: 'invalid_request', pointer: '/cursor' });
    }
  });

  it('works in all processes of a deployment, and in no other deployment', () => {
    const [one, same, other] = ['own_1', 'own_1', 'own_2'].map((ownerToken) =>
      createCursors({ ownerToken }, { ids: givenIds }),
    );
    const sealed = one?.seal('["a"]', 'here') ?? '';
    expect(sealed).not.toBe(one?.seal('["a"]', 'here'));
    expect(same?.open(sealed, 'here')).toBe('["a"]');
    expect(() => other?.open(sealed, 'here')).toThrow('cursor');
    expect(() => same?.open(sealed, 'there')).toThrow('cursor');
  });
});
