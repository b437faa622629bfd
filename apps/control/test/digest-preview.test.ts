import type { NotificationBody } from '@carillon/domain/configuration';
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

type Message = { readonly subject: string; readonly text: string; readonly html: string; readonly notes: string[] };

const templates = givenTemplates();
const EVENT = { status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com', name: 'Ada' } };
const MAIL = { subject: 'Order {{order_id}}', text: 'One: {{order_id}}' };
const DIGEST = {
  subject: '{{count}} orders, the newest {{order_id}}',
  preheader: 'since {{date first_at time="short"}} <now>',
  html: '<html><body><p>{{count}}</p></body></html>',
  text: '{{#each items}}{{order_id}}. {{/each}}',
};

let topology: Topology;
let control: Control;
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    workspaceSettings({}),
    stream('orders', ORDERS),
    template('order-paid', { email: MAIL }),
    template('orders-digest', { email: DIGEST }),
  );
  const ports = topology.ports as unknown as Partial<ControlPorts>;
  control = (await openControl(accessOf(personWith('ann', ['read', 'configure', 'bodies'])), ports)).control;
});
afterAll(async () => {
  await control.app.close();
  await topology.close();
  await templates.close();
});

const digesting = async (digest: NonNullable<NotificationBody['cadence']>['digest']): Promise<void> => {
  const cadence = digest === undefined ? {} : { cadence: { digest } };
  await topology.publish(notification('order-paid', { ...ORDER_PAID, ...cadence }));
};
async function asked(url: string, payload: object): Promise<Record<string, unknown>> {
  const answer = await control.app.inject({ method: 'POST', url: `/v1/workspaces/shop/${url}`, payload });
  return { status: answer.statusCode, ...answer.json<object>() };
}
const previewed = async (name: string, event: object = EVENT, more: object = {}): Promise<Message> => {
  const answer = await asked(`templates/${name}/preview`, { event: JSON.stringify(event), ...more });
  expect(answer).toMatchObject({ status: 200 });
  return (answer['messages'] as Message[])[0] as Message;
};
const tried = async (): Promise<Message> => {
  const answer = await asked('rules/order-paid.paid/test', { event: JSON.stringify(EVENT) });
  expect(answer).toMatchObject({ status: 200 });
  return (answer['recipients'] as { messages: Message[] }[])[0]?.messages[0] as Message;
};

describe('a template of digests', () => {
  it('is shown with three items, each as the event, and says so', async () => {
    await digesting({ window: { fixed: '1h' }, template: 'orders-digest' });
    const shown = await previewed('orders-digest');
    expect(shown).toMatchObject({ error: null });
    expect(shown).toMatchObject({ subject: '3 orders, the newest A-1', text: 'A-1. A-1. A-1. ' });
    expect(shown.notes).toContain('shown as a digest of 3 items, each as this event');
    // The line beside the subject is text, and hidden.
    expect(shown.html).toMatch(
      /<body><div style="display:none;[^"]*">since .+ &lt;now&gt;(?:&#847;&zwnj;&nbsp;)+<\/div><p>3/,
    );
    expect(await previewed('order-paid')).toMatchObject({ text: 'One: A-1', notes: [] });
  });

  it('is previewed with the requested number of items, as a single message, and with the items of the event itself', async () => {
    await digesting({ window: { fixed: '1h' }, template: 'orders-digest' });
    expect(await previewed('orders-digest', EVENT, { items: 12 })).toMatchObject({
      subject: '12 orders, the newest A-1',
    });
    expect(await previewed('orders-digest', EVENT, { items: 1 })).toMatchObject({ text: 'A-1. ' });
    expect(await previewed('orders-digest', EVENT, { items: 0 })).toMatchObject({ text: '', notes: [] });
    const written = { ...EVENT, count: 2, items: [{ order_id: 'B-1' }, { order_id: 'B-2' }] };
    expect(await previewed('orders-digest', written)).toMatchObject({ text: 'B-1. B-2. ', notes: [] });
    const refused = await asked('templates/orders-digest/preview', { event: JSON.stringify(EVENT), items: 501 });
    expect(refused).toMatchObject({ status: 400 });
  });

  it('is shown by `rule test` only if the notification always sends digests', async () => {
    await digesting({ window: { fixed: '1h' }, template: 'orders-digest' });
    expect(await tried()).toMatchObject({
      text: 'A-1. A-1. A-1. ',
      notes: [expect.stringContaining('digest of 3 items')],
    });
    await digesting({ when: 'over_limit', window: { fixed: '1h' }, template: 'orders-digest' });
    expect(await tried()).toMatchObject({ text: 'One: A-1', notes: [] });
    await digesting(undefined);
    expect(await tried()).toMatchObject({ text: 'One: A-1', notes: [] });
  });
});
