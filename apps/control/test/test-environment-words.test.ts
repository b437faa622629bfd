import {
  account,
  notification,
  ORDER_PAID,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
  workspaceOf,
} from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const SMTP = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'shop@example.com' } as const;
const EVENT = JSON.stringify({ order_id: 'A-1', customer: { name: 'Ada' } });
const SAID =
  'shop is a test environment: its messages are kept in the sandbox, whatever accounts it has (allow_real_accounts in its workspace.yaml)';

let topology: Topology;
let control: Control;
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  const channels = { email: { template: 'order-paid', accounts: ['main'] } };
  await topology.publish(
    stream('orders', ORDERS),
    template('order-paid', PAID_MAIL),
    account('main', SMTP),
    notification('order-paid', { ...ORDER_PAID, channels }),
  );
  const ann = accessOf(personWith('ann', ['read', 'configure'], 'shop'));
  ({ control } = await openControl(ann, topology.ports as unknown as Partial<ControlPorts>));
});
afterAll(async () => {
  await control.app.close();
  await topology.close();
});

type Said = { readonly notes: readonly string[]; readonly messages?: readonly { readonly notes: readonly string[] }[] };
async function notesOf(url: string, payload: object): Promise<readonly string[]> {
  const answer = await control.app.inject({ method: 'POST', url: `/v1/workspaces/shop/${url}`, payload });
  const { messages, notes } = answer.json<Said>();
  return messages ? messages.flatMap((message) => message.notes) : notes;
}

const ASKS = [
  ['a preview', 'templates/order-paid/preview', { event: EVENT }],
  ['a test message', 'notifications/order-paid/test-send', { channel: 'email', to: 'me@example.com', event: EVENT }],
  ['cadence explain', 'cadence/explain', { notification: 'order-paid', person: 'ada@example.com' }],
] as const;

describe('that a test environment sends to the sandbox', () => {
  it.each(ASKS)('is shown by %s, but not if real accounts are allowed', async (_, url, payload) => {
    const wishes = [{ environment: 'test' }, { environment: 'test', allow_real_accounts: true }, {}] as const;
    const heard: (readonly string[])[] = [];
    for (const body of wishes) {
      await topology.publish(workspaceOf(body));
      heard.push(await notesOf(url, payload));
    }
    expect(heard).toEqual([[SAID], [], []]);
  });
});
