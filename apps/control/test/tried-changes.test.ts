import { beforeAll, describe, expect, it } from 'vitest';
import { useDrafts } from './draft-fixture.ts';

const under = useDrafts();
const NEW = { 'if-none-match': '*' };
const save = (kind: string, name: string, body: object) =>
  under.ask('PUT', `${kind}/${name}/draft`, { body, based_on: null }, NEW);

beforeAll(async () => {
  await save('integrations', 'shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } });
  await save('streams', 'rows', { from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } } });
  await save('templates', 'changed', {
    email: { subject: 'was {{previous.status}}', text: 'x', from: 'a@example.com' },
  });
  const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: 'string(event.id)' };
  const saved = await save('notifications', 'row-paid', {
    channels: { email: { template: 'changed' } },
    rules: { paid: { stream: 'rows', when: 'changedTo(event.status, "paid")', recipients } },
  });
  expect(saved).toMatchObject({ status: 200, body: { faults: [] } });
});

const ROW = { id: 1, email: 'ada@example.com' };
const tried = (event: unknown) =>
  under.ask('POST', 'rules/row-paid.paid/test', { event: JSON.stringify(event), drafts: true });

describe('a try of a rule on a stream that reads a database', () => {
  it('takes a change, and shows both values and the message', async () => {
    const change = { op: 'update', event: { ...ROW, status: 'paid' }, previous: { ...ROW, status: 'open' } };
    expect(await tried(change)).toMatchObject({
      status: 200,
      body: {
        fired: true,
        explained: [
          { source: 'changedTo(event.status, "paid")', depth: 0, value: 'true' },
          { source: 'event.status', depth: 1, value: '"paid"' },
          { source: 'previous.status', depth: 1, value: '"open"' },
        ],
        recipients: [{ messages: [{ subject: 'was open' }] }],
      },
    });
  });

  it('says why nothing fires: a change of another sort, or a row that the database did not send', async () => {
    const row = { ...ROW, status: 'paid' };
    expect(await tried({ op: 'delete', event: row })).toMatchObject({
      body: { fired: false, outcome: 'other_change' },
    });
    const { body } = await tried({ op: 'update', event: row });
    expect(body).toMatchObject({ fired: false, outcome: 'failed' });
    expect(JSON.stringify(body)).toContain(
      'before_unknown: the database did not send the row before. ALTER TABLE public',
    );
  });

  it('refuses an event that is no change, and says how to write one', async () => {
    const answer = await tried({ ...ROW, status: 'paid' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(JSON.stringify(answer.body)).toContain('Write a change: {\\"op\\": \\"update\\"');
  });

  it('fires for its own sample', async () => {
    const { body } = await under.ask('GET', 'rules/row-paid.paid/sample?drafts=true');
    const sample = body as unknown as {
      readonly change: string;
      readonly fires: boolean;
      readonly code: { curl: string };
    };
    expect(sample.fires).toBe(true);
    expect(sample.code.curl).toContain('carillon rule test row-paid.paid --event -');
    expect(await tried(JSON.parse(sample.change))).toMatchObject({ body: { fired: true } });
  });
});
