import type { DeliveryBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from './operations.ts';
import { openShop, shopFiles, type Shop } from './shop.ts';

/*
 * Addresses that nothing else looks like, in every place that an event can bring them to: the address of each channel, the person, the
 * unique_id and the variables of the message. Whoever may only read asks everything that there is to ask.
 */

const EMAIL = 'canary.qzx7@canary-qzx7.example.com';
const PHONE = '+4915199977731';
const DEVICE = 'canaryQ7ZX9:APA91bH0pUq3f7Lk2xVw8TtR5sYy6mNnB4cDdE1eFfGgHhIiJjKkLlMmNnOoPpQq0123456789';
const CANARIES = [EMAIL, PHONE, DEVICE];
/** As an answer may write it: as it is, in an address, or without its sign. */
const forms = (canary: string): readonly string[] => [canary, encodeURIComponent(canary), canary.replace('+', '')];

type Operation = { readonly 'x-carillon-permission': unknown };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

let shop: Shop & { close(): Promise<void> };
let viewer: string;
let deliveries: readonly DeliveryBody[];
let event: string;

const notification = `name: Order paid
channels:
  email: { template: order-paid }
  sms: { template: order-paid }
  push: { template: order-paid }
rules:
  paid:
    stream: orders
    when: event.status == "paid"
    recipients:
      from: event
      to: { email: event.email, phone: event.phone, token: event.device }
      person: event.email
      unique_id: event.order_id + " of " + event.email
      variables: { order_id: event.order_id, name: event.email }
`;

beforeAll(async () => {
  const files = {
    ...shopFiles(),
    'workspaces/shop/notifications/order-paid.yaml': notification,
    'workspaces/shop/templates/order-paid/sms.txt': 'Order {{ order_id }} of {{ name }} is paid.\n',
    'workspaces/shop/templates/order-paid/push.yaml': 'title: "{{ order_id }}"\nbody: "{{ name }} has paid."\n',
  };
  shop = await openShop({ files });
  const body = { order_id: 'A-1', status: 'paid', total: 120, email: EMAIL, phone: PHONE, device: DEVICE };
  event = await shop.send(body);
  // One that is dropped, and one that comes again.
  await shop.send({ ...body, order_id: 'A-2', phone: `${PHONE} is none` });
  await shop.send(body);
  deliveries = await untilFound('a message on each channel was sent', async () => {
    const found = (await shop.deliveries(`&event=${event}`)).filter(({ state }) => state === 'SENT');
    return found.length === CANARIES.length ? found : undefined;
  });
  await shop.api('POST', '/v1/workspaces/shop/suppressions', { channel: 'email', address: EMAIL });
  await shop.api('POST', '/v1/workspaces/shop/consents', { person: EMAIL, target: 'all', opted_out: true });
  const made = await shop.api<{ token: string }>('POST', '/v1/tokens', {
    name: 'viewer',
    scopes: ['read'],
    workspaces: ['shop'],
  });
  viewer = made.body.token;
});
afterAll(() => shop.close());

async function ask(
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${shop.product.controlUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Every address of an operation that leads somewhere: of each thing that has an id, in the workspace and in all. */
async function addressesOf(path: string): Promise<readonly string[]> {
  const ids = path.includes('/events/')
    ? [event]
    : path.includes('/inbox/')
      ? (await shop.api<{ items: { id: string }[] }>('GET', '/v1/inbox')).body.items.map(({ id }) => id)
      : deliveries.map(({ id }) => id);
  const name = path.includes('/rules/') ? 'order-paid.paid' : path.includes('/streams/') ? 'orders' : 'order-paid';
  const named = path
    .replace('{name}', name)
    .replace('{kind}', 'notifications')
    .replace('{number}', '1')
    .replace('{key}', encodeURIComponent(EMAIL));
  const each = named.includes('{id}') ? ids.map((id) => named.replace('{id}', id)) : [named];
  return each.flatMap((one) => ['shop', '-'].map((workspace) => one.replace('{workspace}', workspace)));
}

const seen = (text: string): readonly string[] =>
  CANARIES.filter((canary) => forms(canary).some((form) => text.toLowerCase().includes(form.toLowerCase())));

describe('A person with read permission only', () => {
  it('finds no whole address in any answer of the API', async () => {
    const document = (await shop.api<Document>('GET', '/v1/openapi.json')).body;
    const leaks: unknown[] = [];
    const answered = new Set<string>();
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { 'x-carillon-permission': permission }] of Object.entries(methods)) {
        const operation = `${method.toUpperCase()} ${path}`;
        if (method !== 'get' && !(method === 'post' && permission === 'read')) continue;
        const { body, query = '' } = OPERATIONS[operation] ?? {};
        const own = query.replace('ada@example.com', encodeURIComponent(EMAIL));
        for (const address of new Set(await addressesOf(path))) {
          const { status, text } = await ask(viewer, method.toUpperCase(), `${address}?${own}`, body);
          if (status === 200) answered.add(operation);
          if (seen(text).length > 0 || status >= 500) leaks.push({ operation, status, leaks: seen(text), text });
        }
      }
    }
    expect(leaks).toEqual([]);
    // That it looked: stories, lists and what is tried out were answered.
    for (const [method, what] of [
      ['GET', 'deliveries'],
      ['GET', 'deliveries/{id}'],
      ['GET', 'deliveries/{id}/trace'],
      ['GET', 'events/{id}/trace'],
      ['GET', 'why'],
      ['GET', 'dropped'],
      ['GET', 'streams/{name}/fields'],
      ['GET', 'streams/{name}/entities/{key}'],
      ['POST', 'cadence/simulate'],
      ['GET', 'notifications/{name}'],
    ] as const) {
      expect([...answered]).toContain(`${method} /v1/workspaces/{workspace}/${what}`);
    }
  });

  it('sees masked recipients, while an operator sees the address', async () => {
    const list = '/v1/workspaces/shop/deliveries?limit=500';
    const masked = JSON.parse((await ask(viewer, 'GET', list)).text) as { items: DeliveryBody[] };
    const told = ({ items }: { items: readonly DeliveryBody[] }): readonly string[] =>
      [...new Set(items.map(({ to }) => to ?? ''))].toSorted();
    expect(told(masked)).toEqual(['+49•••31', 'c•••@c•••.com', '•••6789']);
    const whole = (await shop.api<{ items: DeliveryBody[] }>('GET', list)).body;
    expect(told(whole)).toEqual(expect.arrayContaining([...CANARIES]) as unknown);
    expect(masked.items.map(({ id }) => id).toSorted()).toEqual(whole.items.map(({ id }) => id).toSorted());
    expect(masked.items.map(({ unique_id: id }) => id)).toContain('A-1 of c•••@c•••.com');
  });

  it('finds a person by the whole address only, because a prefix search would reveal it letter by letter', async () => {
    const found = async (token: string, path: string): Promise<number> => {
      const { status, text } = await ask(token, 'GET', `/v1/workspaces/shop/${path}`);
      expect({ path, status }).toEqual({ path, status: 200 });
      const body = JSON.parse(text) as { items?: unknown[]; people?: { items: unknown[] } };
      return (body.items ?? body.people?.items ?? []).length;
    };
    const parts = ['canary.qzx7@', 'canary.qzx7@canary-qzx7.example.co', 'qzx7.example'];
    for (const place of [
      'deliveries?recipient=',
      `deliveries?event=${event}&recipient=`,
      'why?address=',
      `events/${event}/trace?recipient=`,
    ]) {
      expect(await found(viewer, place + encodeURIComponent(EMAIL)), place).toBeGreaterThan(0);
      for (const part of parts)
        expect({ place, part, found: await found(viewer, place + part) }).toMatchObject({ found: 0 });
      expect(await found(shop.product.token, place + parts[0]), place).toBeGreaterThan(0);
    }
  });

  it('cannot export lists, because they contain addresses', async () => {
    for (const list of ['suppressions', 'consents']) {
      const { status, text } = await ask(viewer, 'GET', `/v1/workspaces/shop/${list}/export`);
      expect({ list, status, leaks: seen(text) }).toEqual({ list, status: 403, leaks: [] });
    }
  });
});
