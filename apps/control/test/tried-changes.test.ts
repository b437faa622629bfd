import { writeChange, type Change } from '@carillon/domain/changes';
import { beforeAll, describe, expect, it } from 'vitest';
import { accessOf, openControl, personWith } from './control-fixture.ts';
import { useDrafts } from './draft-fixture.ts';

const under = useDrafts();
const RULE_ID = 'rul_4HJSY0JPM18WMM0XCCC3D165WW';
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
    rules: {
      paid: { stream: 'rows', when: 'changedTo(event.status, "paid")', recipients },
      matched: { id: RULE_ID, stream: 'rows', when: 'event.status.matches("^p.*d$")', recipients },
    },
  });
  expect(saved).toMatchObject({ status: 200, body: { faults: [] } });
});

const ROW = { id: 1, email: 'ada@example.com' };
const tried = (event: unknown, rule = 'row-paid.paid') =>
  under.ask('POST', `rules/${rule}/test`, { event: JSON.stringify(event), drafts: true });

describe('a test of a rule on a database stream', () => {
  it('accepts a change, and shows both values and the message', async () => {
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

  it('says why nothing fires: another change type, or a missing previous row', async () => {
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

  it('refuses an event that is not a change, and shows the form of a change', async () => {
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
    expect(JSON.parse(sample.change)).toMatchObject({
      unknown: [],
      source: { integration: 'shop-db', table: 'public.orders', tx: 1, position: '0/1:1' },
    });
    expect(await tried(JSON.parse(sample.change))).toMatchObject({ body: { fired: true } });
  });

  it('fires for a sample change without the previous row, and for unknown values', async () => {
    const source = {
      integration: 'shop-db',
      table: 'public.orders',
      tx: 7,
      position: '0/9:2',
      at: '2026-11-28T09:12:04Z',
    };
    const change: Change = { op: 'update', event: { ...ROW, status: 'paid' }, unknown: ['notes'], source };
    const control = await controlWith(change);
    const url = '/v1/workspaces/shop/rules/row-paid.matched/sample?drafts=true';
    const sample = (await control.app.inject({ method: 'GET', url })).json<{ change: string; fires: boolean }>();
    await control.app.close();
    expect(sample.fires).toBe(true);
    const printed = JSON.parse(sample.change) as object;
    expect(printed).toMatchObject({ op: 'update', unknown: ['notes'], source });
    expect(printed).not.toHaveProperty('previous');
    const answer = await tried(printed, 'row-paid.matched');
    expect(answer).toMatchObject({ status: 200, body: { fired: true } });
  });
});

/** Opens a control for which the rule `matched` has fired once, for this change. */
async function controlWith(change: Change) {
  const { ports } = under.fixture;
  const headers = {
    kind: 'event',
    enc: '0',
    shape: 'change',
    event_id: 'evt_1',
    workspace: 'shop',
    stream: 'shop/rows',
  };
  const record = { topic: 'carillon.events', partition: 0, key: 'evt_1', value: writeChange(change), headers } as const;
  const [offset = 0] = await ports.log.append([record]);
  const row = { workspace: 'shop', partition: 0, offset };
  const intent = { ruleId: RULE_ID, eventId: 'evt_1' };
  const seen = {
    ...ports,
    ledger: { ...ports.ledger, list: async () => ({ items: [{ intent }], next: null }) },
    readModels: { ...ports.readModels, fields: async () => [], event: async () => [row] },
  };
  const { control } = await openControl(accessOf(personWith('eve', ['read', 'configure', 'bodies'])), seen as never);
  return control;
}
