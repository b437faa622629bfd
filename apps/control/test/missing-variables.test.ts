import type { EventId } from '@carillon/kernel';
import {
  givenLookup,
  integration,
  notification,
  ORDER_PAID,
  ORDERS,
  stream,
  template,
  workspaceSettings,
} from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

type Counted = {
  readonly status: number;
  readonly events: number;
  readonly sending: number;
  readonly failed: number;
  readonly variables: readonly { readonly variable: string; readonly missing: number; readonly event_id: string }[];
};
const MAIL = {
  subject: '{{default shop "We"}}: order {{order_id}}',
  text: '{{shown}} {{#if coupon}}{{coupon}}{{/if}}{{#each items}}{{name}}: {{price}} {{/each}}{{unsubscribe_url}}',
  locales: { de: { subject: 'Bestellung {{order_id}}', text: '{{anrede}} {{shown}} {{items}}' } },
};
const BUYER = { email: 'ada@example.com' };
const ITEMS = [{ name: 'Pen', price: 1 }];

let topology: Topology;
/** The notification as it is at first. */
let paid: typeof ORDER_PAID;
let control: Control;
let newest: EventId;
let priceless: EventId;
beforeAll(async () => {
  topology = await openTopology({ partitions: 2 });
  const [name = '', rule] = Object.entries(ORDER_PAID.rules)[0] ?? [];
  const recipients = {
    from: 'event',
    to: { email: 'event.customer.email' },
    unique_id: 'event_id',
    variables: { shown: '"Dear " + event.customer.email' },
  } as const;
  const rules = { [name]: { ...rule!, when: 'event.status == "paid"', recipients } };
  paid = { ...ORDER_PAID, rules };
  await topology.publish(
    workspaceSettings({}),
    stream('orders', ORDERS),
    template('order-paid', { email: MAIL }),
    template('unused', { email: MAIL }),
    notification('order-paid', paid),
  );
  /** One after the other: the newest is known by its time. */
  const event = async (body: Parameters<Topology['event']>[0]): Promise<EventId> => {
    topology.clock.pass(1000);
    return topology.event(body);
  };
  await event({ status: 'open', order_id: 'A-0', customer: BUYER });
  const lines = [{ name: 'Ink' }, ...ITEMS];
  priceless = await event({ status: 'paid', order_id: 'A-1', customer: BUYER, items: lines });
  await event({ status: 'paid', customer: BUYER, items: ITEMS, coupon: 'TEN' });
  newest = await event({ status: 'paid', customer: BUYER, items: ITEMS, locale: 'de' });
  await topology.projects();
  await untilFound('all four in the list of events', async () => {
    const { items } = await topology.data.readModels.events({ stream: 'shop/orders' }, 10);
    return items.length === 4 ? items : undefined;
  });
  control = await controlOf(['read']);
});
afterAll(async () => {
  await control.app.close();
  await topology.close();
});

const controlOf = async (permissions: readonly ('read' | 'bodies')[]): Promise<Control> =>
  (await openControl(accessOf(personWith('ann', permissions)), topology.ports as unknown as Partial<ControlPorts>))
    .control;
async function counted(name: string, query = ''): Promise<Counted> {
  const url = `/v1/workspaces/shop/templates/${name}/missing${query}`;
  const answer = await control.app.inject({ method: 'GET', url });
  return { status: answer.statusCode, ...answer.json<Omit<Counted, 'status'>>() };
}

describe('Variables that messages of a template lack', () => {
  it('are counted over the newest events that send the template, each with the newest event without the variable', async () => {
    const { variables, ...facts } = await counted('order-paid');
    expect(facts).toMatchObject({ status: 200, events: 4, sending: 3, failed: 0 });
    expect(variables).toEqual([
      { variable: 'order_id', missing: 2, event_id: newest },
      { variable: 'anrede', missing: 1, event_id: newest },
      { variable: 'items[].price', missing: 1, event_id: priceless },
    ]);
  });

  it('are shown to everyone with read permission, because they contain no event values', async () => {
    const answer = await control.app.inject({
      method: 'GET',
      url: '/v1/workspaces/shop/templates/order-paid/missing',
    });
    expect(answer.body).not.toMatch(/ada@|TEN|A-1/);
  });

  it('are an empty list for a template that no notification sends', async () => {
    expect(await counted('unused')).toMatchObject({ events: 0, sending: 0, variables: [] });
  });

  it('are all listed for a strict template, although the first one already fails the message', async () => {
    await topology.publish(template('order-paid', { email: { ...MAIL, strict: true } }));
    const { variables, failed } = await counted('order-paid');
    expect([variables.length, failed]).toEqual([3, 0]);
  });

  it('are unknown for a message that cannot be rendered, which is counted separately', async () => {
    await topology.publish(template('order-paid', { email: { ...MAIL, layout: 'gone' } }));
    expect(await counted('order-paid')).toMatchObject({ sending: 3, failed: 3, variables: [] });
    await topology.publish(template('order-paid', { email: MAIL }));
  });

  it('are limited to the requested channel, and an unknown channel or template is refused', async () => {
    expect(await counted('order-paid', '?channel=email')).toMatchObject({ status: 200, sending: 3 });
    expect(await counted('order-paid', '?channel=sms')).toMatchObject({ status: 400 });
    expect(await counted('order-payed')).toMatchObject({ status: 404 });
  });
});

describe('Variables of a rule with state', () => {
  it('do not include totals or deadline for events that fire the rule', async () => {
    const text = '{{totals.failed}} {{totals.fialed}} {{deadline}} {{gone}}';
    const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' } as const;
    const counting = {
      stream: 'logins',
      when: 'totals.failed >= 2',
      totals: { failed: { count: 'event.result == "failed"', within: '10m' } },
      after: '1h',
      recipients,
    };
    const sum = { subject: 'Logins', text: '{{#each items}}{{totals.failed}} {{deadline}} {{gone}} {{/each}}' };
    await topology.publish(
      stream('logins', { ...ORDERS, key: 'event.user' }),
      template('logins', { email: { subject: 'Failed', text } }),
      template('login-sum', { email: sum }),
      notification('logins', {
        ...ORDER_PAID,
        channels: { email: { template: 'logins' } },
        cadence: { digest: { when: 'over_limit', window: { fixed: '1h' }, template: 'login-sum' } },
        rules: { often: counting },
      }),
    );
    const ids: EventId[] = [];
    for (const user of ['ada', 'bob', 'ada']) {
      topology.clock.pass(1000);
      ids.push(
        await topology.event({ user, result: 'failed', email: `${user}@example.com` }, { stream: 'shop/logins' }),
      );
    }
    await topology.projects();
    await untilFound('all three in the list of events', async () => {
      const { items } = await topology.data.readModels.events({ stream: 'shop/logins' }, 10);
      return items.length === 3 ? items : undefined;
    });
    const { variables, ...facts } = await counted('logins');
    expect(facts).toMatchObject({ events: 3, sending: 1, failed: 0 });
    expect(variables).toEqual([
      { variable: 'gone', missing: 1, event_id: ids[2] },
      { variable: 'totals.fialed', missing: 1, event_id: ids[2] },
    ]);
    const ofSum = await counted('login-sum');
    expect(ofSum.variables.map(({ variable }) => variable)).toEqual(['items[].gone']);
  });
});

describe('Variables that items of a digest lack', () => {
  const digest = (when: 'always' | 'over_limit', of: string) =>
    notification('order-paid', { ...paid, cadence: { digest: { when, window: { fixed: '1h' }, template: of } } });
  const sum = { subject: '{{count}} orders', text: '{{#each items}}{{order_id}} {{shown}} {{gone}} {{/each}}' };

  it('are counted as if each event were sent in a digest, with the variables of the rule', async () => {
    await topology.publish(template('sum', { email: sum }), digest('always', 'sum'));
    const { variables, ...facts } = await counted('sum');
    expect(facts).toMatchObject({ events: 4, sending: 3, failed: 0 });
    expect(variables.map(({ variable, missing }) => [variable, missing])).toEqual([
      ['items[].gone', 3],
      ['items[].order_id', 2],
    ]);
  });

  it('are an empty list for a template that is now only sent in digests', async () => {
    expect(await counted('order-paid')).toMatchObject({ events: 0, sending: 0 });
    await topology.publish(digest('over_limit', 'sum'));
    expect(await counted('order-paid')).toMatchObject({ events: 4, sending: 3 });
    await topology.publish(notification('order-paid', paid));
  });
});

describe('What a partner answers', () => {
  const asked = async (from: Control): Promise<Record<string, unknown>> =>
    (await from.app.inject({ method: 'GET', url: '/v1/workspaces/shop/integrations/crm/fields' })).json();
  beforeAll(async () => {
    const recipients = {
      from: 'lookup',
      integration: 'crm',
      user_ids: '[event.customer.email]',
      unique_id: 'event_id',
    } as const;
    await topology.publish(
      integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
      notification('order-paid', {
        ...ORDER_PAID,
        rules: { paid: { stream: 'orders', when: 'event.status == "paid"', recipients } },
      }),
    );
  });

  it('is not missing in an event, while a field that events are known to have is', async () => {
    const { variables, sending } = await counted('order-paid');
    expect(sending).toBe(3);
    expect(variables.map(({ variable }) => variable)).toEqual(['order_id', 'items[].price']);
  });

  it('is known by its newest answers, with values for whoever may see bodies', async () => {
    expect(await asked(control)).toMatchObject({ integration: 'crm', people: 0, items: [] });
    const people = [{ first_name: 'Ada', cards: [{ last4: '1234' }] }, { first_name: 'Bob' }];
    const to = { email: 'a@example.com', phone: null, token: null };
    const lookup = givenLookup({ items: people.map((variables) => ({ userId: null, to, variables })) });
    const other = givenLookup({ trigger: { ...lookup.trigger, integration: 'another' } });
    for (const one of [lookup, other]) {
      const value = topology.ports.codecs.lookup.encode(one);
      await topology.data.log.append([{ topic: 'carillon.lookups', partition: 0, key: 'k', value, headers: {} }]);
    }
    const name = { path: 'first_name', types: ['string'], count: 2 };
    const seeing = await controlOf(['read', 'bodies']);
    const all = await asked(seeing);
    expect(all).toMatchObject({ people: 2, next: null });
    expect(all['items']).toContainEqual({ ...name, sample: '"Bob"' });
    expect(all['items']).toContainEqual({ path: 'cards[].last4', types: ['string'], sample: '"1234"', count: 1 });
    expect((await asked(control))['items']).toContainEqual({ ...name, sample: null });
    await seeing.app.close();
  });

  it('is not found for an integration that does not exist', async () => {
    const answer = await control.app.inject({ method: 'GET', url: '/v1/workspaces/shop/integrations/crn/fields' });
    expect(answer.statusCode).toBe(404);
  });
});
