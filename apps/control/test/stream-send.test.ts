import { readSourceRecord } from '@carillon/stages';
import { describe, expect, it } from 'vitest';
import { useDrafts } from './draft-fixture.ts';
import { ORDERS, PAID } from './resource-fixture.ts';

const EVENT = { order_id: 'A-1', status: 'paid', total: 120, email: 'ada@example.com' };

describe('an event sent by hand', () => {
  const under = useDrafts();
  const send = (event: string, stream = 'orders', as = under) => as.ask('POST', `streams/${stream}/send`, { event });

  it('is logged unchanged, with its sender', async () => {
    const text = ` ${JSON.stringify(EVENT)} `;
    const { status, body } = await send(text);
    expect(status).toBe(202);
    expect(body['stream']).toBe('shop/orders');
    expect(body['id']).toMatch(/^evt_/);
    const records = await under.fixture.topology.records('carillon.events');
    const record = records.find(({ headers }) => headers['event_id'] === body['id']);
    expect(new TextDecoder().decode(record?.value ?? new Uint8Array())).toBe(text);
    expect(record?.headers).toMatchObject({
      workspace: 'shop',
      stream: 'shop/orders',
      principal: 'person:ada',
      key: 'A-1',
    });
    const read = record && readSourceRecord(record, under.fixture.ports.log.logId);
    expect(read).toMatchObject({ ok: true });
  });

  it('is refused with the codes of the intake and the position of the mistake', async () => {
    expect(await send('{"order_id": "A-1",')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(await send('[]')).toMatchObject({ status: 400, body: { code: 'not_an_object' } });
    expect(await send('{"total": 1}')).toMatchObject({ status: 400, body: { code: 'missing_entity_key' } });
    expect(await send('{}', 'nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('is refused on a stream that reads a database, and appends nothing', async () => {
    await under.apply('integration', 'shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } });
    await under.apply('stream', 'changes', {
      from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } },
    });
    const before = (await under.fixture.topology.records('carillon.events')).length;
    expect(await send('{"id":1}', 'changes')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(await under.fixture.topology.records('carillon.events')).toHaveLength(before);
  });

  it('needs the permission to configure, and a stream of the same workspace', async () => {
    const viewer = { ...under, ask: await under.as('vera', ['read', 'operate', 'bodies']) };
    expect(await send(JSON.stringify(EVENT), 'orders', viewer)).toMatchObject({ status: 403 });
    await under.apply('workspace', '', { name: 'Lab' }, 'lab');
    await under.apply('stream', 'probes', ORDERS, 'lab');
    expect(await send(JSON.stringify(EVENT), 'lab%2Fprobes')).toMatchObject({ status: 404 });
  });

  it('is limited to 60 a minute per person', async () => {
    const bob = { ...under, ask: await under.as('bob') };
    const answers = await Promise.all(Array.from({ length: 62 }, () => send(JSON.stringify(EVENT), 'orders', bob)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(60);
    expect(answers.find(({ status }) => status !== 202)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });
});

describe('a rule in a draft', () => {
  const under = useDrafts();
  const body = (when: string) => ({
    ...PAID,
    rules: { ...PAID.rules, big: { ...Object.values(PAID.rules)[0], when } },
  });
  const none = { 'if-none-match': '*' };
  const test = (drafts: boolean) =>
    under.ask('POST', 'rules/order-paid.big/test', { event: JSON.stringify(EVENT), drafts });

  it('can be tested, and has a sample, before it is published', async () => {
    const { number } = (await under.ask('GET', 'notifications/order-paid')).body;
    const wish = { body: body('event.total > 1000'), based_on: number };
    const saved = await under.ask('PUT', 'notifications/order-paid/draft', wish, none);
    expect(saved).toMatchObject({ status: 200, body: { faults: [] } });
    expect(await test(false)).toMatchObject({ status: 404 });
    expect(await test(true)).toMatchObject({ status: 200, body: { fired: false, rule: 'order-paid.big' } });
    const sample = await under.ask('GET', 'rules/order-paid.big/sample?drafts=true');
    expect(sample).toMatchObject({ status: 200, body: { fires: true } });
    expect(JSON.parse(String(sample.body['event']))).toMatchObject({ total: 1001 });
    expect(await under.ask('GET', 'rules/order-paid.big/sample')).toMatchObject({ status: 404 });
  });

  it('can be tested although other drafts have mistakes, but not with own mistakes', async () => {
    const wrong = { body: { security: { api_keys: ['nobody'] } }, based_on: null };
    expect(await under.ask('PUT', 'streams/other/draft', wrong, none)).toMatchObject({ status: 200 });
    expect(await test(true)).toMatchObject({ status: 200 });
    const { etag } = await under.ask('GET', 'notifications/order-paid/draft');
    await under.ask('PUT', 'notifications/order-paid/draft', { body: body('event.total >') }, { 'if-match': etag });
    expect(await test(true)).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
  });

  it('is tested with files or with drafts, not with both', async () => {
    const both = { event: '{}', drafts: true, files: {} };
    expect(await under.ask('POST', 'rules/order-paid.big/test', both)).toMatchObject({ status: 400 });
  });
});
