import { findRule, ruleIdOf } from '@carillon/domain/configuration';
import { waitingRule } from '@carillon/domain/rules';
import { deliveryOf } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Control } from '../src/index.ts';
import { publishChanges } from '../src/resources/publish-changes.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';
import { MAIL, openResourceFixture, ORDERS, PAID, SHOP, type ResourceFixture } from './resource-fixture.ts';

const NEW = { 'if-none-match': '*' };

describe('removing a workspace', () => {
  let fixture: ResourceFixture;
  let control: Control;
  let secrets: readonly string[];
  const vault = {
    list: async () => secrets.map((name) => ({ name, updatedAt: 0 })),
    async remove(_: string, gone: string) {
      secrets = secrets.filter((name) => name !== gone);
    },
  };
  const ports = () => ({ ...fixture.ports, vault: vault as never });

  async function openAs(...permissions: Parameters<typeof personWith>[1]): Promise<Control> {
    return (await openControl(accessOf(personWith('per_owner', permissions)), ports())).control;
  }
  async function ask(method: 'GET' | 'PUT' | 'POST', url: string, payload?: object, on = control) {
    const headers = method === 'PUT' ? NEW : {};
    const answer = await on.app.inject({ method, url: `/v1/workspaces/${url}`, headers, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  }
  beforeEach(async () => {
    secrets = ['SMTP_PASSWORD'];
    fixture = await openResourceFixture();
    control = await openAs('read', 'configure', 'people');
    for (const [url, body] of [
      ['shop', SHOP],
      ['shop/streams/orders', ORDERS],
      ['shop/templates/order-paid', MAIL],
      ['shop/notifications/order-paid', PAID],
      ['club', { name: 'Club' }],
    ] as const) {
      expect(await ask('PUT', url, body)).toMatchObject({ status: 200 });
    }
    const by = { actor: { kind: 'person', id: 'per_owner' }, origin: 'api', message: null, requestId: null } as const;
    const key = { key_id: 'k', digest: 'd', created_at: '2026-11-23T10:00:00.000Z' };
    await publishChanges(
      [{ ref: { kind: 'api_key', workspace: 'shop', name: 'backend' }, based_on: null, body: key }],
      by,
      ports(),
    );
    const people = [
      { state: 'SENT', to: 'ada@example.com' },
      { state: 'SENT', to: 'bob@example.com' },
      { state: 'WAITING', to: 'eve@example.com' },
    ] as const;
    await fixture.ports.ledger.insert(people.map(({ state, to }) => deliveryOf({ state, intent: { to } })));
  });
  afterEach(async () => {
    await control.app.close();
    await fixture.close();
  });

  const counted = async () => (await ask('GET', 'shop/removal')).body;

  it('first counts its contents and affected people without a change', async () => {
    expect(await counted()).toMatchObject({
      workspace: 'shop',
      removed: false,
      new_number: null,
      resources: { notification: 1, stream: 1, template: 1, api_key: 1 },
      members: 0,
      secrets: 1,
      drafts: 0,
      told: 2,
      waiting: 1,
      faults: [],
    });
    expect(await ask('GET', 'shop/notifications/order-paid')).toMatchObject({ status: 200 });
  });

  it('lists the waits that it ends, by rule', async () => {
    expect((await counted())['waits']).toEqual([]);
    const placed = findRule(fixture.ports.configuration.current(), 'shop', {
      notification: 'order-paid',
      rule: 'paid',
    });
    if (!placed) throw new Error('the rule is not there');
    const rule = waitingRule('shop', ruleIdOf(placed), placed.since);
    const { log } = fixture.ports;
    const state = { partition: 0, offset: 1, nextDue: 5, forgetAt: null, data: '{}', logId: log.logId };
    const waits = [{ rule, due: 5 }];
    await fixture.topology.data.ruleStates.save(['A-1', 'A-2'].map((id) => ({ ...state, id, waits })));
    expect((await counted())['waits']).toEqual([
      'notification shop/order-paid: 2 entities wait, the next until 1970-01-01T00:00:00.005Z by rule paid, which is removed: ' +
        'their waits end without a message',
    ]);
  });

  it('deletes its keys in one record, and nothing of other workspaces', async () => {
    const { number } = await counted();
    const gone = await ask('POST', 'shop/remove', { number });
    expect(gone).toMatchObject({ status: 200, body: { removed: true, new_number: Number(number) + 1 } });
    const current = await fixture.ports.configuration.refresh();
    expect([...current.resources.values()].map(({ ref }) => `${ref.kind} ${ref.workspace}`)).toEqual([
      'workspace club',
    ]);
    expect((await ask('GET', 'shop/removal')).status).toBe(404);
  });

  it('deletes its secrets and drafts, so that a new workspace with the same name starts empty', async () => {
    const drafted = { body: { text: 'of before' }, based_on: null };
    for (const at of ['shop', 'club']) {
      expect(await ask('PUT', `${at}/partials/foot/draft`, drafted)).toMatchObject({ status: 200 });
    }
    const { number, drafts } = await counted();
    expect(drafts).toBe(1);
    await ask('POST', 'shop/remove', { number });
    expect(secrets).toEqual([]);
    await ask('PUT', 'shop', SHOP);
    expect(await ask('GET', 'shop/drafts')).toMatchObject({ status: 200, body: { items: [] } });
    expect(await ask('GET', 'club/drafts')).toMatchObject({ body: { items: [{ name: 'foot' }] } });
  });

  it('is refused if the workspace changed since the count, or without a count', async () => {
    const { number } = await counted();
    await ask('PUT', 'shop/partials/foot', { text: 'Bye' });
    expect(await ask('POST', 'shop/remove', { number })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    for (const body of [{}, { number: 1_000_000 }]) {
      expect(await ask('POST', 'shop/remove', body)).toMatchObject({ status: 400, body: { pointer: '/number' } });
    }
    expect(await ask('GET', 'shop/notifications/order-paid')).toMatchObject({ status: 200 });
  });

  it('is refused while it has a test environment, which the count reports', async () => {
    await ask('PUT', 'shop-test', { environment: 'test', of: 'shop' });
    const { number, faults } = await counted();
    expect(faults).toMatchObject([{ kind: 'workspace', workspace: 'shop-test' }]);
    const refused = await ask('POST', 'shop/remove', { number });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    expect(await ask('GET', 'shop')).toMatchObject({ status: 200 });
  });

  it('needs the permission over people, also for the counts', async () => {
    const editor = await openAs('read', 'configure');
    expect(await ask('GET', 'shop/removal', undefined, editor)).toMatchObject({ status: 403 });
    expect(await ask('POST', 'shop/remove', { number: 0 }, editor)).toMatchObject({ status: 403 });
    await editor.app.close();
  });
});
