import type { RuleBody } from '@carillon/domain/configuration';
import { traceEvent } from '@carillon/insight';
import { ORDER_PAID, ORDERS, orderShop, stream, type Wish } from '@carillon/testing/given';
import { evaluateAll, openTopology, projectAll, settle, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const HOUR = 3_600_000;
const UNPAID: RuleBody = {
  stream: 'orders',
  when: 'event.status == "placed"',
  after: '1h',
  unless: 'event.status == "paid"',
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
};

const ENTERED: RuleBody = {
  cohort: { integration: 'amplitude', id: 'c1', on: 'entered' },
  after: '1h',
  recipients: { from: 'lookup', integration: 'crm' },
};

const workspace = (name: string): Wish => ({ ref: { kind: 'workspace', workspace: name, name: '' }, body: {} });

let topology: Topology;
let placed = '';
let deadline = '';
const opened: Control[] = [];
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, rules: { unpaid: UNPAID, entered: ENTERED } }),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
    stream('views', ORDERS),
    workspace('club'),
    workspace('shop'),
  );
  placed = await topology.event({ status: 'placed', order_id: 'A/1', customer: { email: 'ada@example.com' } });
  deadline = new Date(topology.clock.now() + HOUR).toISOString();
  await evaluateAll(topology);
});
afterAll(async () => {
  for (const { app } of opened) await app.close();
  await topology.close();
});

type Asking = { readonly of?: string; readonly method?: 'GET' | 'POST'; readonly payload?: object };
async function ask(
  permissions: readonly Permission[],
  where: string | undefined,
  path: string,
  { of = 'shop', method = 'GET', payload }: Asking = {},
) {
  const { control } = await openControl(
    accessOf(personWith('ann', permissions, where)),
    topology.ports as unknown as Partial<ControlPorts>,
  );
  opened.push(control);
  const answer = await control.app.inject({
    method,
    url: `/v1/workspaces/${of}/streams/${path}`,
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
}
const contentReads = async (): Promise<number> => {
  const records = await topology.records('carillon.audit');
  return records.filter(({ value }) => new TextDecoder().decode(value).includes('content.read')).length;
};
const OF_ORDER = 'orders/entities/A%2F1';

describe('the state of an entity', () => {
  it('is described for each rule in words, with the newest decisions', async () => {
    const { status, body } = await ask(['read', 'bodies'], undefined, OF_ORDER);
    expect(status).toBe(200);
    const words = [`waits until ${deadline}`];
    expect(body).toMatchObject({
      stream: 'shop/orders',
      key: 'A/1',
      rules: [
        {
          rule: 'order-paid.unpaid',
          words,
          sentence: '1h after the first such event, unless event.status == "paid"',
          waits_until: deadline,
          event: placed,
        },
      ],
      decisions: [{ rule: 'order-paid.unpaid', event: placed, waited_for: null, words }],
      events: [{ id: placed, body: expect.stringContaining('ada@example.com') as string }],
    });
  });

  it('shows no body without the permission for contents, and audits who read it', async () => {
    const before = await contentReads();
    const { status, body } = await ask(['read'], undefined, OF_ORDER);
    expect(status).toBe(200);
    expect(body).toMatchObject({ rules: [{ waits_until: deadline }], events: [{ id: placed, body: null }] });
    expect(JSON.stringify(body)).not.toContain('ada@example.com');
    expect(await contentReads()).toBe(before);
    await ask(['read', 'bodies'], undefined, OF_ORDER);
    expect(await contentReads()).toBe(before + 1);
  });

  it('is empty if nothing is kept', async () => {
    const { status, body } = await ask(['read'], undefined, 'orders/entities/A-2');
    expect({ status, body }).toEqual({
      status: 200,
      body: { stream: 'shop/orders', key: 'A-2', rules: [], decisions: [], events: [] },
    });
  });

  it('is shown of a member of a cohort', async () => {
    expect(await ask(['read'], undefined, 'shop%2Fcohorts%2Famplitude%2Fc1/entities/u-17')).toMatchObject({
      status: 200,
      body: { stream: 'shop/cohorts/amplitude/c1', key: 'u-17', rules: [] },
    });
  });

  it('is not found on an unknown stream, and for a person of another workspace', async () => {
    expect(await ask(['read'], undefined, 'refunds/entities/A-1')).toMatchObject({ status: 404 });
    expect(await ask(['read'], 'club', 'shop%2Forders/entities/A%2F1', { of: 'club' })).toMatchObject({ status: 404 });
    expect(await ask(['read'], 'club', OF_ORDER)).toMatchObject({ status: 403 });
    expect(await ask(['configure'], undefined, OF_ORDER)).toMatchObject({ status: 403 });
  });
});

describe('forgetting an entity', () => {
  const forget = (permissions: readonly Permission[], where?: string, path = OF_ORDER, of = 'shop') =>
    ask(permissions, where, `${path}/forget`, { method: 'POST', of, payload: {} });

  it('needs the permission operate on the workspace of a known stream', async () => {
    expect(await forget(['read', 'configure'])).toMatchObject({ status: 403 });
    expect(await forget(['operate'], 'club')).toMatchObject({ status: 403 });
    expect(await forget(['operate'], 'club', 'shop%2Forders/entities/A%2F1', 'club')).toMatchObject({ status: 404 });
    expect(await forget(['operate'], undefined, 'refunds/entities/A-1')).toMatchObject({ status: 404 });
  });

  it('ends the wait, is audited without the key, and appears in the trace of the event', async () => {
    const before = await ask(['read'], undefined, OF_ORDER);
    expect(before.body).toMatchObject({ rules: [{ waits_until: deadline }] });
    expect(await forget(['operate'])).toEqual({ status: 202, body: { stream: 'shop/orders', key: 'A/1' } });
    await evaluateAll(topology);
    const after = await ask(['read'], undefined, OF_ORDER);
    expect(after.body).toEqual({ stream: 'shop/orders', key: 'A/1', rules: [], decisions: [], events: [] });
    const audits = (await topology.records('carillon.audit')).map(({ value }) => new TextDecoder().decode(value));
    const ofForgetting = audits.filter((text) => text.includes('entity.forget'));
    expect(ofForgetting.length).toBeGreaterThan(1);
    expect(ofForgetting.join()).toContain('shop/orders');
    expect(ofForgetting.join()).not.toContain('A/1');
    expect(ofForgetting.join()).not.toContain('A%2F1');
    await projectAll(topology);
    const story = await traceEvent(placed, topology.tracePorts);
    expect(JSON.stringify(story)).toContain('the entity was forgotten (carillon state forget)');
  });

  it('is refused on a stream without a key, whose events have no entity', async () => {
    expect(await forget(['operate'], undefined, 'views/entities/A-1')).toMatchObject({
      status: 400,
      body: { detail: 'name: stream shop/views has no key, so rules remember nothing of its events' },
    });
  });

  it('says which body to send if there is none', async () => {
    expect(await ask(['operate'], undefined, `${OF_ORDER}/forget`, { method: 'POST' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', detail: 'the body is missing: send a JSON object, such as {}' },
    });
  });

  it('keeps the message of a wait that has already fired, and the trace shows that it fired', async () => {
    const fired = await topology.event({ status: 'placed', order_id: 'A-3', customer: { email: 'ada@example.com' } });
    topology.clock.pass(2 * HOUR);
    expect(await forget(['operate'], undefined, 'orders/entities/A-3')).toMatchObject({ status: 202 });
    await settle(topology);
    const story = JSON.stringify(await traceEvent(fired, topology.tracePorts));
    expect(story).toContain('fired; the entity was forgotten later');
    expect(story).not.toContain('without a message');
  });
});
