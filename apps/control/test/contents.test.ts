import type { DeliveryId, EventId } from '@carillon/kernel';
import { orderShop, template, type Wish } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { createCustodyStage } from '@carillon/stages';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

type Json = { readonly [name: string]: unknown };
const NOTE = '<script>alert(1)</script>\u202e';
const HTML = '<p>Hello {{customer.name}}</p><link rel=preconnect href=//x><iframe src=//x></iframe>';

const workspace = (name: string): Wish => ({ ref: { kind: 'workspace', workspace: name, name: '' }, body: {} });

let topology: Topology;
let control: Control;
let limited: Control;
let event: EventId;
let silent: EventId;
let delivery = '';
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  const mail = { subject: 'Order {{order_id}}', html: HTML, text: '{{note}}' };
  await topology.publish(...orderShop(), template('order-paid', { email: mail }), workspace('club'), workspace('shop'));
  const customer = { email: 'ada@example.com' };
  event = await topology.event({ status: 'paid', order_id: 'A-1', customer, note: NOTE.repeat(3000) });
  silent = await topology.event({ status: 'a status of its own' });
  await topology.evaluates();
  await topology.projects();
  const custody = createCustodyStage({ ...topology.ports, due: () => undefined });
  delivery = await untilFound('a delivery', async () => {
    await custody.handle(await topology.records('carillon.intents'), { partition: 0, configNumber: -1, watermark: 0 });
    const { items } = await topology.data.ledger.list({ eventId: event }, 1);
    return items[0]?.id;
  });
  control = await controlOf(['read', 'bodies']);
  limited = await controlOf(['read', 'configure', 'operate', 'people']);
});
afterAll(async () => {
  await control.app.close();
  await limited.app.close();
  await topology.close();
});

const controlOf = async (permissions: readonly Permission[], where?: string): Promise<Control> => {
  const ports = topology.ports as unknown as Partial<ControlPorts>;
  return (await openControl(accessOf(personWith('ann', permissions, where)), ports)).control;
};
const ask = async (from: Control, url: string) => {
  const answer = await from.app.inject({ method: 'GET', url });
  const isJson = String(answer.headers['content-type']).includes('json');
  return { status: answer.statusCode, answer, body: isJson ? answer.json<Json>() : {} };
};
const send = async (from: Control, url: string, payload: object) => {
  const answer = await from.app.inject({ method: 'POST', url, payload });
  return { status: answer.statusCode, answer, body: answer.json<Json>() };
};
const ofEvent = (more = ''): string => `/v1/workspaces/shop/events/${event}/${more}`;
const ofDelivery = (more = ''): string => `/v1/workspaces/shop/deliveries/${delivery}/${more}`;

describe('The right to see contents', () => {
  it('opens the body of an event and the message of a delivery', async () => {
    const came = await ask(control, ofEvent('content'));
    expect(came).toMatchObject({ status: 200, body: { id: event, stream: 'shop/orders', gone: null, copies: 1 } });
    const went = await ask(control, ofDelivery('content'));
    expect(went).toMatchObject({ status: 200, body: { id: delivery, missing: ['customer.name'], problem: null } });
  });

  it('lists events with a distinguishing label, and people without that right get no label', async () => {
    const labels = async (from: Control, more: string) => {
      const { body } = await ask(from, `/v1/workspaces/shop/events?${more}`);
      return (body as { items: readonly { id: string; label: string | null }[] }).items.map(({ label }) => label);
    };
    expect(await labels(control, 'labels=true')).toEqual(['status: a status of its own', 'A-1 · ada@example.com']);
    expect(await labels(control, '')).toEqual([null, null]);
    expect(await labels(limited, 'labels=true')).toEqual([null, null]);
  });

  it('needs a permission of its own: people with every other permission see no contents', async () => {
    const pages = [
      ofEvent('content'),
      ofDelivery('content'),
      `/messages/${delivery}/html`,
      '/v1/inbox',
      '/inbox/messages/msg_1/html',
    ];
    for (const url of pages) {
      const { status, body, answer } = await ask(limited, url);
      expect({ url, status, code: body['code'] }).toEqual({ url, status: 403, code: 'forbidden_role' });
      expect(answer.body).not.toMatch(/script|A-1|Hello/);
    }
    const story = `/v1/workspaces/shop/events/${silent}/trace`;
    expect((await ask(control, story)).answer.body).toContain('a status of its own');
    for (const url of [story, ofEvent('trace'), ofDelivery('trace')]) {
      const { status, answer } = await ask(limited, url);
      expect(status).toBe(200);
      expect(answer.body).not.toMatch(/script|a status of its own/);
    }
  });

  it('tests a rule on a logged event; callers without that right get none of its contents', async () => {
    const reader = await controlOf(['read']);
    for (const where of ['shop', '-']) {
      const url = `/v1/workspaces/${where}/rules/order-paid.paid/test`;
      expect(await send(control, url, { event_id: event })).toMatchObject({ status: 200, body: { fired: true } });
      for (const from of [reader, limited]) {
        const { status, body, answer } = await send(from, url, { event_id: event });
        expect({ where, status, code: body['code'] }).toEqual({ where, status: 403, code: 'forbidden_role' });
        expect(answer.body).not.toMatch(/script|A-1|ada@/);
      }
    }
    await reader.app.close();
  });

  it('leaves an audit record for each logged event shown by a test, preview or timeline, and no other record', async () => {
    const read = async (): Promise<readonly (string | null)[]> => {
      const records = await topology.records('carillon.audit');
      return records.flatMap(({ value }) => {
        const record = topology.ports.codecs.audit.decode(value);
        const entry = record.ok && record.value.kind === 'entry' ? record.value : null;
        return entry?.what === 'content.read' ? [`${entry.workspace} ${entry.target} ${entry.outcome}`] : [];
      });
    };
    const rule = '/v1/workspaces/shop/rules/order-paid.paid/test';
    const preview = '/v1/workspaces/shop/templates/order-paid/preview';
    const own = { event: JSON.stringify({ order_id: 'A-2' }) };
    const ofEventRead = `shop ${event} done`;
    const ways: readonly [string, () => Promise<{ readonly status: number }>, readonly string[]][] = [
      ['a try of a rule', () => send(control, rule, { event_id: event }), [ofEventRead]],
      ['a try across workspaces', () => send(control, rule.replace('shop', '-'), { event_id: event }), [ofEventRead]],
      ['a preview', () => send(control, preview, { event_id: event }), [ofEventRead]],
      ['the page of a preview', () => ask(control, `/previews/shop/order-paid/html?event_id=${event}`), [ofEventRead]],
      ['the story of an event', () => ask(control, ofEvent('trace')), [ofEventRead]],
      ['the story of a delivery', () => ask(control, ofDelivery('trace')), [`shop ${delivery} done`]],
      ['a try of an own event', () => send(control, rule, own), []],
      ['a preview of an own event', () => send(control, preview, own), []],
      ['a story without what bodies hold', () => ask(limited, ofEvent('trace')), []],
    ];
    for (const [way, look, expected] of ways) {
      const before = (await read()).length;
      expect({ way, status: (await look()).status }).toEqual({ way, status: 200 });
      expect({ way, read: (await read()).slice(before) }).toEqual({ way, read: expected });
    }
  });

  it('reports a recipient as notified already, unless the earlier delivery ended without being sent', async () => {
    const url = '/v1/workspaces/shop/rules/order-paid.paid/test';
    const same = { status: 'paid', order_id: 'A-1', customer: { name: 'Ada', email: 'ada@example.com' } };
    const tried = async (facts: object) => {
      const { body } = await send(control, url, { event: JSON.stringify({ ...same, ...facts }) });
      return (body['recipients'] as Json[])[0];
    };
    const already = { name: 'Ada', already_told: delivery, notified_already: true };
    expect(await tried({})).toMatchObject(already);
    const other = { order_id: 'A-2', customer: { name: 'Bo', email: 'bo@example.com' } };
    expect(await tried(other)).toMatchObject({ name: 'Bo', already_told: null, notified_already: false });
    const { ledger } = topology.data;
    const holder = await ledger.get(delivery as DeliveryId);
    if (!holder) throw new Error('no delivery');
    await ledger.replace({ ...holder, version: holder.version + 1, state: 'SUPPRESSED', reason: 'no_address' });
    expect(await tried({})).toMatchObject({ name: 'Ada', already_told: null, notified_already: false });
  });

  it('is not checked when a person tests a rule on an event of their own; testing a folder needs permission to publish or see contents', async () => {
    const reader = await controlOf(['read']);
    const url = '/v1/workspaces/shop/rules/order-paid.paid/test';
    const own = { event: JSON.stringify({ status: 'open' }) };
    const files = { 'workspaces/shop/workspace.yaml': 'name: Shop' };
    expect(await send(reader, url, own)).toMatchObject({ status: 200, body: { fired: false } });
    expect(await send(reader, url, { ...own, files })).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    for (const from of [control, limited]) expect((await send(from, url, { ...own, files })).status).toBe(200);
    // A partner is called by whoever may check its credentials, and not where its answer is given.
    const asking = { ...own, ask_partner: true };
    expect(await send(reader, url, asking)).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    expect(await send(limited, url, { ...asking, answer: '[]' })).toMatchObject({ status: 400 });
    expect(await send(limited, url, asking)).toMatchObject({ status: 200, body: { answered: null } });
    // A folder says where a partner is, and a key of the workspace goes there.
    const operator = await controlOf(['read', 'bodies', 'operate']);
    expect(await send(operator, url, asking)).toMatchObject({ status: 200 });
    expect(await send(operator, url, { ...asking, files })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_role' },
    });
    expect(await send(limited, url, { ...asking, files })).toMatchObject({ status: 200 });
    await operator.app.close();
    await reader.app.close();
  });

  it('shows samples of the fields of a stream', async () => {
    const url = '/v1/workspaces/-/streams/shop%2Forders/fields';
    const samplesOf = (body: Json) =>
      (body['items'] as Json[]).filter(({ path }) => path === 'order_id').map(({ sample }) => sample);
    expect(samplesOf((await ask(control, url)).body)).toEqual(['"A-1"']);
    const { status, body, answer } = await ask(limited, url);
    expect({ status, samples: samplesOf(body) }).toEqual({ status: 200, samples: [null] });
    expect(answer.body).not.toMatch(/script|A-1|ada@/);
  });

  it('shows them in the workspaces of the person only', async () => {
    for (const url of [ofEvent('content'), ofDelivery('content')]) {
      expect(await ask(control, url.replace('/shop/', '/club/'))).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    }
    const stranger = await controlOf(['read', 'bodies'], 'club');
    const inAll = (url: string): string => url.replace('/shop/', '/-/');
    for (const url of [inAll(ofEvent('content')), inAll(ofDelivery('content')), `/messages/${delivery}/html`]) {
      expect(await ask(control, url)).toMatchObject({ status: 200 });
      expect(await ask(stranger, url)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    await stranger.app.close();
    expect(await ask(control, ofEvent('content?position=elsewhere'))).toMatchObject({ status: 404 });
  });
});

describe('A body', () => {
  it('is returned in pages of lines with the rules that read them, without invisible characters', async () => {
    const { body } = await ask(control, ofEvent('content?limit=3'));
    expect(body['next']).toBe('3');
    expect(body['lines']).toEqual([
      { text: '{', read_by: [] },
      { text: '  "status": "paid",', read_by: ['order-paid.paid when'] },
      { text: '  "order_id": "A-1",', read_by: ['order-paid.paid unique_id', 'order-paid.paid template'] },
    ]);
    const rest = await ask(control, ofEvent('content?cursor=3&limit=2000'));
    expect(rest.body['next']).toBeNull();
    expect(rest.answer.body).not.toContain('\u202e');
    expect(rest.answer.body).toContain(String.raw`\\u202e`);
  });

  it('of a message comes part by part, a long one piece by piece', async () => {
    const first = (await ask(control, ofDelivery('content?part=text'))).body['parts'] as {
      text: string;
      next: string | null;
    }[];
    expect(first).toHaveLength(1);
    let text = '';
    for (let next: string | null = '0'; next !== null;) {
      const [piece] = (await ask(control, ofDelivery(`content?part=text&cursor=${next}`))).body[
        'parts'
      ] as typeof first;
      expect(piece?.text.length).toBeLessThanOrEqual(20_000);
      text += piece?.text ?? '';
      next = piece?.next ?? null;
    }
    expect(text.length).toBe(first[0]?.text.length === undefined ? 0 : 26 * 3000);
  });

  it('in HTML is shown in a sandboxed frame without scripts and requests', async () => {
    const { status, answer } = await ask(control, `/messages/${delivery}/html`);
    expect(status).toBe(200);
    expect(answer.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
    expect(answer.body).toContain('<p>Hello </p>');
    expect(answer.body).not.toMatch(/<(link|iframe)/);
  });
});
