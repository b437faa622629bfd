import { deliveryOf } from '@carillon/testing';
import type { Delivery, Outcome } from '@carillon/domain/deliveries';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SESSION_LASTS } from '../src/access/people/sessions.ts';
import { MAX_STREAMS_OF_ONE } from '../src/routes/operations/live.ts';
import { TOKEN } from './control-fixture.ts';
import type { Browser } from './people-fixture.ts';
import { follow, openLive, type Follower, type LiveFixture } from './live-fixture.ts';

let fixture: LiveFixture;
const followers: Follower[] = [];
beforeEach(async () => {
  fixture = await openLive();
});
afterEach(async () => {
  for (const one of followers.splice(0)) one.leave();
  await fixture.close();
});

async function open(query: string, headers: Readonly<Record<string, string>> = {}, workspace = 'shop') {
  const one = await follow(`${fixture.address}/v1/workspaces/${workspace}/live?${query}`, headers);
  followers.push(one);
  if (one.status === 200) await until(one, ({ told }) => told[0]?.event === 'open');
  return one;
}
const until = (one: Follower, is: (one: Follower) => boolean): Promise<unknown> =>
  vi.waitFor(() => (is(one) ? true : Promise.reject(new Error(JSON.stringify(one.told)))), { timeout: 60_000 });
/** As a browser shows the session at the port that listens: cookies are named after it. */
const sessionOf = (browser: Browser) => ({
  authorization: '',
  cookie: browser.cookie().replace(/session_\d+/, `session_${new URL(fixture.address).port}`),
});
const rows = ({ told }: Follower, event: string) => told.filter((one) => one.event === event).map(({ data }) => data);

const made = (facts: Parameters<typeof deliveryOf>[0] = {}): Delivery =>
  deliveryOf({ createdAt: Date.now(), updatedAt: Date.now(), ...facts });

/** A move of a delivery, in the ledger and then on the log. */
async function move(before: Delivery, state: Delivery['state'], reason: Delivery['reason']): Promise<Delivery> {
  const { ledger, log, codecs } = fixture;
  const next = { ...before, version: before.version + 1, state, reason, updatedAt: Date.now() };
  await ledger.replace(next);
  const outcome: Outcome = {
    id: `out_${next.id}_${next.version}`,
    deliveryId: next.id,
    intentId: next.intent.id,
    eventId: next.intent.eventId,
    workspace: next.slot.workspace,
    notification: next.intent.notification,
    state,
    reason,
    detail: '',
    attempt: 0,
    at: next.updatedAt,
    traceparent: null,
  };
  await log.append([
    { topic: 'carillon.outcomes', partition: 0, key: next.id, value: codecs.outcome.encode(outcome), headers: {} },
  ]);
  return next;
}

const message = (id: string, at = Date.now(), workspace = 'shop') => ({
  id,
  workspace,
  deliveryId: 'dlv_1',
  message: { channel: 'sms', to: '+4930123456', text: 'Paid' } as const,
  at,
});

describe('A live stream', () => {
  it('sends each new delivery and state change as the list shows it, and nothing from other workspaces', async () => {
    const old = made();
    await fixture.ledger.insert([old, ...Array.from({ length: 40 }, () => made())]);
    const one = await open('topics=deliveries,events');
    expect(one.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(one.headers.get('cache-control')).toBe('no-store');
    const [fresh, foreign] = [made(), made({ slot: { workspace: 'club' } })];
    await fixture.ledger.insert([fresh, foreign]);
    await until(one, () => rows(one, 'deliveries').length === 1);
    const sent = await move(fresh, 'SENT', 'accepted');
    // Far behind the newest rows: that it moved stands on the log alone.
    await move(old, 'FAILED', 'refused_content');
    await move(foreign, 'SENT', 'accepted');
    await until(one, () => rows(one, 'deliveries').length === 3);
    const list = await fetch(`${fixture.address}/v1/workspaces/shop/deliveries?state=SENT`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { items } = (await list.json()) as { items: unknown[] };
    const told = rows(one, 'deliveries');
    expect(told.map(({ id }) => id)).toEqual(expect.arrayContaining([fresh.id, old.id]));
    expect(told.filter(({ id }) => id === fresh.id)).toHaveLength(2);
    expect(told.find(({ id, state }) => id === sent.id && state === 'SENT')).toEqual(items[0]);
    expect(one.told.some(({ event }) => event === 'reset')).toBe(false);
    expect(fixture.troubles).toEqual([]);
  });

  it('goes on after the last event that was read', async () => {
    const first = await open('topics=inbox');
    await fixture.inbox.put(message('msg_1'));
    await until(first, () => rows(first, 'inbox').length === 1);
    first.leave();
    const cursor = first.told.at(-1)?.id ?? '';
    await fixture.inbox.put(message('msg_2'));
    const again = await open('topics=inbox', { 'last-event-id': cursor });
    await until(again, () => rows(again, 'inbox').some(({ id }) => id === 'msg_2'));
    expect(again.told.some(({ event }) => event === 'reset')).toBe(false);
  });

  it.each([
    ['of another list', 'not-a-cursor'],
    ['that nobody made', ''],
  ])('sends a reset after a cursor %s, and starts at the present without a cursor', async (_words, cursor) => {
    const one = await open('topics=inbox,drafts', cursor === '' ? {} : { 'last-event-id': cursor });
    if (cursor !== '') await until(one, () => rows(one, 'reset').length === 2);
    await fixture.inbox.put(message('msg_3'));
    await until(one, () => rows(one, 'inbox').length === 1);
    expect(rows(one, 'reset').map(({ topic }) => topic)).toEqual(cursor === '' ? [] : ['inbox', 'drafts']);
  });

  it('sends a reset instead of more rows than it reads at once, and continues with later rows', async () => {
    const one = await open('topics=inbox');
    const now = Date.now();
    await Promise.all(Array.from({ length: 300 }, (_, at) => fixture.inbox.put(message(`msg_${at}`, now + at))));
    await until(one, () => rows(one, 'reset').length > 0);
    await fixture.inbox.put(message('msg_last', now + 1_000));
    await until(one, () => rows(one, 'inbox').some(({ id }) => id === 'msg_last'));
  });

  it('shows addresses masked to a viewer, and no inbox at all', async () => {
    await fixture.addPerson('vera@example.com', { shop: 'viewer' });
    const vera = await fixture.signedIn('vera@example.com');
    const headers = sessionOf(vera);
    expect((await open('topics=deliveries,inbox', headers)).status).toBe(403);
    const one = await open('topics=deliveries', headers);
    await fixture.ledger.insert([made({ intent: { to: 'ada@example.com' } })]);
    await until(one, () => rows(one, 'deliveries').length === 1);
    expect(JSON.stringify(one.told)).not.toContain('ada@example.com');
    const [row] = rows(one, 'deliveries');
    expect(row?.['to']).toMatch(/^a.*@/);
  });

  it('sends each subscriber a row with that subscriber’s masking, in any order of delivery', async () => {
    await fixture.addPerson('vera@example.com', { shop: 'viewer' });
    const vera = await fixture.signedIn('vera@example.com');
    const all = [
      await open('topics=deliveries'),
      await open('topics=deliveries', sessionOf(vera)),
      await open('topics=deliveries'),
      await open('topics=deliveries', sessionOf(vera)),
    ];
    await fixture.ledger.insert([made({ intent: { to: 'ada@example.com' } })]);
    for (const one of all) await until(one, () => rows(one, 'deliveries').length === 1);
    const [first, second, third, fourth] = all.map((one) => rows(one, 'deliveries')[0]?.['to']);
    expect([first, third]).toEqual(['ada@example.com', 'ada@example.com']);
    expect(second).toMatch(/^a.*@/);
    expect(second).not.toBe('ada@example.com');
    expect(fourth).toBe(second);
  });

  it('ends with the session, with a role that changed, and with the process', async () => {
    const id = await fixture.addPerson('olga@example.com', { shop: 'operator' });
    const [first, second] = [await fixture.signedIn('olga@example.com'), await fixture.signedIn('olga@example.com')];
    const of = (browser: Browser) => open('topics=deliveries,inbox', sessionOf(browser));
    const [left, changed, own] = [await of(first), await of(second), await open('topics=inbox')];
    const ends = async (one: Follower, act: () => Promise<unknown>): Promise<void> => {
      await act();
      await until(one, () => one.endedAt() !== null);
    };
    await ends(left, () => first.call('DELETE', '/v1/session'));
    expect(changed.endedAt()).toBeNull();
    await ends(changed, () =>
      fixture.directory.changePerson(id, (person) => ({
        ...person,
        memberships: [{ workspace: 'shop', role: 'viewer' }],
      })),
    );
    await ends(own, async () => void fixture.close());
  });

  it('does not keep an unused session alive', async () => {
    await fixture.addPerson('ada@example.com', { shop: 'viewer' });
    const ada = await fixture.signedIn('ada@example.com');
    const one = await open('topics=deliveries', sessionOf(ada));
    const usedAt = async () => (await fixture.directory.all('session'))[0]?.body.usedAt ?? 0;
    const before = await usedAt();
    let asked = 0;
    const { people } = fixture;
    const findByKey = people.findByKey.bind(people);
    Object.assign(people, {
      findByKey: async (...given: Parameters<typeof findByKey>) => {
        asked += 1;
        return findByKey(...given);
      },
    });
    fixture.clock.pass(SESSION_LASTS.idle / 2);
    await vi.waitFor(() => expect(asked).toBeGreaterThan(1), { timeout: 60_000 });
    await until(one, (stream) => stream.endedAt() === null);
    expect(await usedAt()).toBe(before);
    fixture.clock.pass(SESSION_LASTS.idle / 2);
    await until(one, (stream) => stream.endedAt() !== null);
  });

  it('counts towards a limit per person until it is closed', async () => {
    const many = [];
    for (let at = 0; at < MAX_STREAMS_OF_ONE; at += 1) many.push(await open('topics=events'));
    expect((await open('topics=events')).status).toBe(429);
    many[0]?.leave();
    await vi.waitFor(async () => expect((await open('topics=events')).status).toBe(200), { timeout: 60_000 });
  });

  it('ends after a time that is asked for', async () => {
    const one = await open('topics=events&for=1s');
    await until(one, () => one.endedAt() !== null);
  });

  it.each([
    ['', '/topics'],
    ['topics=deliverys', '/topics'],
    ['topics=events&for=soon', '/for'],
    ['topics=events&limit=3', undefined],
  ])('is refused with what is wrong: %s', async (query, pointer) => {
    const answer = await fixture.control.app.inject({
      url: `/v1/workspaces/shop/live?${query}`,
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(answer.statusCode).toBe(400);
    if (pointer !== undefined) expect(answer.json()).toMatchObject({ pointer });
  });
});
