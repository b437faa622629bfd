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
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const EVENT = { status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com' } };
const templates = givenTemplates();

let topology: Topology;
let control: Control;
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  const ports = topology.ports as unknown as Partial<ControlPorts>;
  control = (await openControl(accessOf(personWith('ann', ['read', 'configure', 'bodies'])), ports)).control;
});
afterAll(async () => {
  await control.app.close();
  await topology.close();
  await templates.close();
});

/** Publishes the rule with these keys, and tests it with one event. */
async function tested(keys: Partial<RuleBody>): Promise<Record<string, unknown>> {
  const { paid } = ORDER_PAID.rules;
  if (!paid) throw new Error('there is a rule');
  await topology.publish(
    workspaceSettings({}),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
    template('order-paid', { email: { subject: 'At {{deadline}}', text: 'x' } }),
    notification('order-paid', { ...ORDER_PAID, rules: { paid: { ...paid, ...keys } } }),
  );
  const url = '/v1/workspaces/shop/rules/order-paid.paid/test';
  const answer = await control.app.inject({ method: 'POST', url, payload: { event: JSON.stringify(EVENT) } });
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

describe('a test of a rule with one event', () => {
  it('shows the message of a waiting rule as of its deadline', async () => {
    const answer = await tested({ after: '1h', unless: 'event.status == "sent"' });
    expect(answer['fired']).toBe(true);
    expect(answer['outcome']).toMatch(/^fired by its deadline \d{4}-/);
    const [recipient] = answer['recipients'] as { messages: { subject: string }[] }[];
    expect(recipient?.messages[0]?.subject).toMatch(/^At \d{4}-/);
  });

  it('fires a rule with a cooldown, because nobody was notified before', async () => {
    expect(await tested({ cooldown: '1h' })).toMatchObject({ fired: true, outcome: 'fired' });
  });

  it('treats a changed-field condition as false at the first event', async () => {
    expect(await tested({ when: 'changed(event.status)' })).toMatchObject({ fired: false, outcome: 'not_fired' });
  });
});
