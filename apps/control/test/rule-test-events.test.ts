import type { RuleBody } from '@carillon/domain/configuration';
import {
  givenTemplates,
  notification,
  ORDER_PAID,
  ORDERS,
  stream,
  template,
  workspaceSettings,
} from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const templates = givenTemplates();
let topology: Topology;
let control: Control;
let viewer: Control;
const opened = async (name: string, permissions: readonly Permission[]): Promise<Control> =>
  (await openControl(accessOf(personWith(name, permissions)), topology.ports as unknown as Partial<ControlPorts>))
    .control;
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  control = await opened('ann', ['read', 'configure', 'bodies']);
  viewer = await opened('vic', ['read']);
});
afterAll(async () => {
  await viewer.app.close();
  await control.app.close();
  await topology.close();
  await templates.close();
});

const { paid: PAID } = ORDER_PAID.rules;
const UNPAID = {
  when: 'event.type == "placed"',
  after: '1h',
  unless: 'event.type == "paid"',
  recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.order_id' },
} as const;

async function publish(keys: Partial<RuleBody>, others: Readonly<Record<string, RuleBody>> = {}): Promise<void> {
  if (!PAID) throw new Error('there is a rule');
  await topology.publish(
    workspaceSettings({}),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
    template('order-paid', { email: { subject: 'Order {{order_id}} at {{deadline}}', text: 'x' } }),
    notification('order-paid', { ...ORDER_PAID, rules: { paid: { ...PAID, ...keys }, ...others } }),
  );
}

const order = (type: string, id = 'A-1'): string =>
  JSON.stringify({ type, order_id: id, email: `${id.toLowerCase()}@example.com` });
const DAY = '2026-01-31T';

type Step = {
  readonly at: string;
  readonly kind: string;
  readonly fired: boolean;
  readonly event: number | null;
  readonly entity: string | null;
  readonly decisions: readonly string[];
  readonly explained: readonly { readonly field: string; readonly source: string; readonly value: string }[];
  readonly waits_until: string | null;
  readonly recipients: readonly { readonly notified_already: boolean; readonly messages: { subject: string }[] }[];
};
type Answer = { readonly status: number; readonly body: { timeline: Step[]; fired: boolean; detail: string } };
async function ask(payload: object, of: Control = control): Promise<Answer> {
  const url = '/v1/workspaces/shop/rules/order-paid.paid/test';
  const answer = await of.app.inject({ method: 'POST', url, payload });
  return { status: answer.statusCode, body: answer.json() };
}
const shown = ({ body }: Answer) =>
  body.timeline.map((step) => [
    step.kind,
    step.at.slice(11, 16),
    step.entity,
    step.waits_until?.slice(11, 16) ?? null,
    step.recipients.flatMap(({ messages }) => messages.map(({ subject }) => subject)),
  ]);

describe('a test of a rule with several events', () => {
  beforeAll(() => publish(UNPAID));

  it('shows each event and each deadline, with the wait and the messages', async () => {
    const answer = await ask({
      events: [
        { at: `${DAY}10:00:00Z`, event: order('placed') },
        { at: '10:20', event: order('viewed') },
        { at: '+30m', event: order('placed', 'A-2') },
        { event: order('paid', 'A-2') },
      ],
    });
    expect(answer.status).toBe(200);
    expect(shown(answer)).toEqual([
      ['event', '10:00', 'A-1', '11:00', []],
      ['event', '10:20', 'A-1', '11:00', []],
      ['event', '10:30', 'A-2', '11:30', []],
      ['event', '10:30', 'A-2', null, []],
      ['deadline', '11:00', 'A-1', null, [`Order A-1 at ${DAY}11:00:00.000Z`]],
    ]);
    expect(answer.body).toMatchObject({ fired: true, outcome: `fired by its deadline ${DAY}11:00:00.000Z` });
    expect(answer.body.timeline.map(({ event }) => event)).toEqual([0, 1, 2, 3, 0]);
    expect(answer.body.timeline.map(({ decisions }) => decisions)).toEqual([
      [`waits until ${DAY}11:00:00.000Z`],
      [],
      [`waits until ${DAY}11:30:00.000Z`],
      ['wait cancelled: `unless` is true'],
      [`fired by its deadline ${DAY}11:00:00.000Z`],
    ]);
  });

  it('shows the parts of each expression with their values', async () => {
    const { body } = await ask({ events: [{ event: order('paid') }] });
    expect(body.timeline[0]?.explained.map(({ field, source, value }) => [field, source, value])).toEqual([
      ['when', 'event.type == "placed"', 'false'],
      ['when', 'event.type', '"paid"'],
      ['unless', 'event.type == "paid"', 'true'],
      ['unless', 'event.type', '"paid"'],
    ]);
    expect(body).toMatchObject({ explained: [{ source: 'event.type == "placed"' }, { source: 'event.type' }] });
  });

  it('lets no deadline after `until` pass', async () => {
    const first = { at: `${DAY}10:00:00Z`, event: order('placed') };
    expect((await ask({ events: [first], until: '10:59' })).body.timeline).toHaveLength(1);
    expect((await ask({ events: [first], until: '+1h' })).body.timeline).toHaveLength(2);
  });

  it('shows that a second message has the slot of an earlier step', async () => {
    const { body } = await ask({ events: [{ event: order('placed') }, { at: '+2h', event: order('placed') }] });
    const fired = body.timeline.filter((step) => step.fired);
    expect(fired.map(({ recipients }) => recipients.map((one) => one.notified_already))).toEqual([[false], [true]]);
  });

  it.each([
    [{ events: [{ at: 'soon', event: order('placed') }] }, 'events.0.at: write 10:00, an RFC 3339 time, or +26h'],
    [{ events: [{ at: '+2x', event: order('placed') }] }, 'events.0.at: write +90s, +30m, +26h or +1d'],
    [
      {
        events: [
          { at: '10:00', event: order('a') },
          { at: '09:00', event: order('b') },
        ],
      },
      /events\.1\.at: .*T09:00:00\.000Z is before the event above/,
    ],
    [{ events: [{ event: order('a') }, { at: '10:00' }] }, 'events.1.event: give the event, or the event_id'],
    [{ events: [{ event: '{"type":' }] }, /events\.0\.event: /],
    [{ events: [{ event: '{"type":"placed"}' }] }, 'events.0.event: this stream needs its key at event.order_id'],
    [{ events: [{ op: 'update', event: order('a') }] }, 'events.0.op: only a stream of changes has it'],
    [{ events: [{ at: '10:00', event: order('a') }], until: '09:00' }, /until: .* is before the last event/],
    [{ events: [{ event: order('a') }], event: order('a') }, 'event: give the event, the event_id'],
    [{ events: [] }, /events: /],
  ])('refuses %j by its field', async (request, detail) => {
    const { status, body } = await ask(request);
    expect(status).toBe(400);
    if (typeof detail === 'string') expect(body.detail).toContain(detail);
    else expect(body.detail).toMatch(detail);
  });

  it('begins with the stored state of the entity, if the caller may see contents', async () => {
    // The entity also waits by another rule, which is no part of the test.
    await publish(UNPAID, { other: { stream: 'orders', ...UNPAID, after: '2h' } });
    const id = await topology.event({ type: 'placed', order_id: 'A-9', email: 'a-9@example.com' });
    await evaluateAll(topology);
    const request = { entity: 'A-9', events: [{ at: '+30m', event: order('viewed', 'A-9') }] };
    const { body } = await ask(request);
    expect(body.timeline).toMatchObject([
      { kind: 'event', event: 0, fired: false, decisions: [] },
      { kind: 'deadline', event: null, event_id: id, fired: true, recipients: [{ to: { email: 'a-9@example.com' } }] },
    ]);
    expect((await ask({ entity: 'A-9', events: [{ at: '+30m', event: order('paid', 'A-9') }] })).body).toMatchObject({
      fired: false,
      timeline: [{ decisions: ['wait cancelled: `unless` is true'] }],
    });
    expect((await ask(request, viewer)).status).toBe(403);
  });
});

describe('a test of a rule on a stream of changes', () => {
  it('takes the row with op and previous', async () => {
    if (!PAID) throw new Error('there is a rule');
    const from = { integration: 'shop-db', tables: { 'public.orders': 'event.id' } };
    const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' } as const;
    const rule = { stream: 'rows', when: 'changedTo(event.status, "paid")', after: '1h', recipients } as const;
    await topology.publish(
      stream('rows', { from }),
      notification('order-paid', { ...ORDER_PAID, rules: { paid: rule } }),
    );
    const row = (status: string): string => JSON.stringify({ id: 7, status, email: 'ada@example.com' });
    const { body } = await ask({
      events: [
        { at: '10:00', op: 'create', event: row('open') },
        { at: '+5m', op: 'update', event: row('paid'), previous: row('open') },
        { at: '+6m', event: `{"op":"update","event":${row('paid')},"previous":${row('paid')}}` },
      ],
    });
    expect(body.timeline.map(({ entity, kind, decisions }) => [kind, entity, decisions.length])).toEqual([
      ['event', '7', 0],
      ['event', '7', 1],
      ['event', '7', 0],
      ['deadline', '7', 1],
    ]);
    const { body: refused } = await ask({ events: [{ op: 'update', event: row('paid'), previous: '[]' }] });
    expect(refused.detail).toMatch(/^events\.0\.previous: /);
    const { body: without } = await ask({ events: [{ event: row('paid'), previous: row('open') }] });
    expect(without.detail).toContain('events.0.op: write the kind of change');
  });
});
