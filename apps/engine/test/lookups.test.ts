import type { Intent, Lookup, LookupIntegration, LookupRecipients } from '@carillon/domain';
import { startScriptedPartner, type ScriptedPartner } from '@carillon/testing';
import { integration, notification, ORDER_PAID, ORDERS, PAID_MAIL, stream, template } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEngineOn, type WatchedEngine } from './engine-role.ts';

let topology: Topology;
let partner: ScriptedPartner;
let engine: WatchedEngine;
beforeEach(async () => {
  topology = await openTopology({ partitions: 2, secrets: { CRM_KEY: 'key-1', CRM_NEXT: 'key-2' } });
  partner = await startScriptedPartner();
});
afterEach(async () => {
  await engine.close();
  await topology.close();
  await partner.stop();
});

const crm = (more: Partial<LookupIntegration> = {}): LookupIntegration => ({
  kind: 'lookup',
  url: partner.url,
  authorization: { key: { secret: 'CRM_KEY' } },
  match: 'variables.user_id',
  ...more,
});

async function shop(more: Partial<LookupIntegration> = {}, recipients: Partial<LookupRecipients> = {}): Promise<void> {
  const asks = { from: 'lookup', integration: 'crm', user_ids: 'event.watchers', unique_id: 'event_id' } as const;
  const paid = { stream: 'orders', when: 'true', recipients: { ...asks, ...recipients } };
  await topology.publish(
    stream('orders', ORDERS),
    template('order-paid', PAID_MAIL),
    integration('crm', crm(more)),
    notification('order-paid', { ...ORDER_PAID, rules: { paid } }),
  );
  engine = await startEngineOn(topology);
}

const { codecs } = { codecs: () => topology.ports.codecs };
async function intents(count: number): Promise<Intent[]> {
  const records = await untilFound(`${count} intents`, async () => {
    const found = await topology.records('carillon.intents');
    return found.length >= count ? found : undefined;
  });
  return records.flatMap(({ value }) => {
    const read = codecs().intent.decode(value);
    return read.ok ? [read.value] : [];
  });
}
async function lookups(count: number): Promise<Lookup[]> {
  const records = await untilFound(`${count} lookups`, async () => {
    const found = await topology.records('carillon.lookups');
    return found.length >= count ? found : undefined;
  });
  return records.flatMap(({ value }) => {
    const read = codecs().lookup.decode(value);
    return read.ok ? [read.value] : [];
  });
}

describe('a rule that asks a partner', () => {
  it('sends the ids, and makes a message for each item of the answer', async () => {
    await shop();
    await topology.event({ order_id: 'A-1', watchers: ['ada', 7], extra: 'not used' });
    const made = await intents(2);
    expect(made.map(({ to, person }) => `${person}: ${to}`).toSorted()).toEqual([
      '7: 7@example.com',
      'ada: ada@example.com',
    ]);
    expect(made[0]?.variables).toMatchObject({ order_id: 'A-1' });
    expect(partner.calls.map(({ userIds }) => userIds)).toEqual([['ada', '7']]);
    expect(partner.calls[0]).toMatchObject({
      method: 'POST',
      path: '/recipients',
      headers: {
        authorization: 'Bearer key-1',
        accept: 'application/json',
        'content-type': 'application/json',
        'x-request-id': expect.stringMatching(/^req_/) as string,
      },
    });
    const [lookup] = await lookups(1);
    expect(lookup).toMatchObject({ status: 200, calls: 1, sharedBy: 1, problems: [] });
    expect(lookup?.trigger.event).toEqual({ order_id: 'A-1' });
    expect(engine.troubles).toEqual([]);
  });
});
