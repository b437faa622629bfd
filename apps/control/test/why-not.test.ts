import type { WhyNotBody } from '@carillon/contracts';
import { ORDER_PAID, orderShop, workspaceSettings } from '@carillon/testing/given';
import { createDirectWire, createMemoryLedger, createMemoryReadModels } from '@carillon/testing/memory';
import { evaluateAll, openTopology, projectAll } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import { deploymentOwner } from '../src/access/principal.ts';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith, type Fixture, publishWishes } from './control-fixture.ts';

let fixture: Fixture;
const readModels = createMemoryReadModels().connect(createDirectWire());
const HOUR = 3_600_000;

beforeEach(async () => {
  const ledger = createMemoryLedger().connect(createDirectWire());
  const slice = { isExpired: () => false, yield: async () => undefined } as never;
  const checkpoints = { load: async () => null } as never;
  fixture = await openControl(accessOf(deploymentOwner('session')), { ledger, readModels, slice, checkpoints });
  await publishWishes(fixture, [
    { ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: {} },
    ...orderShop(undefined, 'shop'),
  ]);
});
afterEach(() => fixture.control.app.close());

async function ask(payload: object, { app }: Control = fixture.control) {
  const url = '/v1/workspaces/shop/why-not';
  const answer = await app.inject({ method: 'POST', url, payload });
  return { status: answer.statusCode, body: answer.json<WhyNotBody & { detail: string; pointer?: string }>() };
}
const wanted = { who: 'ada@example.com', notification: 'order-paid' };

it('says that no event named the person, how many were read, and when the last one arrived', async () => {
  expect((await ask(wanted)).body).toMatchObject({
    verdict: 'no_event',
    gate: 'event',
    sentence: expect.stringContaining('No event has arrived at all.') as unknown,
    looked: { events: 0, complete: true },
    last: null,
  });
  const at = fixture.clock.now() - 2 * HOUR;
  const event = (offset: number) => ({
    id: `evt_${offset}`,
    workspace: 'shop',
    stream: 'shop/orders',
    partition: 0,
    offset,
    at: at + offset,
    bytes: 10,
    configNumber: 1,
    reused: false,
    traceId: null,
  });
  // These events are no longer on the log, so their people are unknown.
  await readModels.put({ events: Array.from({ length: 450 }, (_, offset) => event(offset)) });
  const first = await ask({ ...wanted, last: '3h' });
  expect(first.body).toMatchObject({ looked: { events: 300, complete: false }, last: { stream: 'shop/orders' } });
  expect(first.body.sentence).toContain('older ones of the span were not looked at yet');
  const rest = await ask({ ...wanted, last: '3h', cursor: first.body.next });
  expect(rest.body).toMatchObject({ from: first.body.from, looked: { events: 150, complete: true }, next: null });
  const other = await ask({ ...wanted, who: 'bob@example.com', last: '3h', cursor: first.body.next });
  expect(other).toMatchObject({ status: 400, body: { pointer: '/cursor' } });
});

it.each([
  [{ ...wanted, notification: 'order-payed' }, '/notification', 'did you mean order-paid?'],
  [{ ...wanted, event: 'dlv_1' }, '/event', 'expected the id of an event'],
  [{ ...wanted, last: '24h', from: '2h' }, '/last', 'already gives both ends'],
  [{ notification: 'order-paid' }, '/who', 'who'],
  [{ ...wanted, address: 'x' }, undefined, 'address'],
])('refuses %o with what is wrong', async (payload, pointer, detail) => {
  const { status, body } = await ask(payload);
  expect({ status, ...(pointer !== undefined && { pointer: body.pointer }) }).toEqual({
    status: 400,
    ...(pointer !== undefined && { pointer }),
  });
  expect(body.detail).toContain(detail);
});

it('shows values of a condition only to callers who may read bodies', async () => {
  const topology = await openTopology({ partitions: 1 });
  onTestFinished(() => topology.close());
  const when = 'event.status == "paid" && event.total > 100';
  const paid = { ...ORDER_PAID.rules['paid'], when } as (typeof ORDER_PAID)['rules'][string];
  await topology.publish(workspaceSettings({}), ...orderShop({ ...ORDER_PAID, rules: { paid } }));
  await topology.event({ status: 'paid', total: 40, order_id: 'A-1', customer: { email: wanted.who } });
  await evaluateAll(topology);
  await projectAll(topology);
  const readAs = async (...permissions: readonly Permission[]): Promise<WhyNotBody> => {
    const ports = topology.ports as unknown as Partial<ControlPorts>;
    const { control } = await openControl(accessOf(personWith('ann', permissions)), ports);
    onTestFinished(() => control.app.close());
    return (await ask(wanted, control)).body;
  };
  const condition = ({ gates }: WhyNotBody) => gates.find(({ gate }) => gate === 'condition');
  const seen = await readAs('read', 'bodies');
  expect(condition(seen)?.lines.join()).toContain('event.total > 100  →  false');
  const masked = await readAs('read');
  expect(condition(masked)).toEqual({ ...condition(seen), lines: [] });
  expect(JSON.stringify(masked)).not.toContain('event.total');
  // A viewer gets the same for the rest.
  expect(masked).toMatchObject({ verdict: 'stopped', gate: 'condition', event: seen.event, rule: seen.rule });
});
