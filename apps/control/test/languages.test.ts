import { accountsOf, findNotification, providerResult, type Delivery } from '@carillon/domain/deliveries';
import { attemptDelivery } from '@carillon/stages';
import type { ChannelSender, MjmlCompiler, RenderedMessage } from '@carillon/ports';
import { givenMjml, givenTemplates, notification, ORDER_PAID, ORDERS, stream } from '@carillon/testing/given';
import { openTopology, settle, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { planFolder } from '../src/configuration.ts';
import { showContent } from '../src/content.ts';
import type { Control, ControlPorts } from '../src/index.ts';
import type { PlanningPorts } from '../src/ports.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const mjml: MjmlCompiler = givenMjml();
const templates = givenTemplates();
const W = 'workspaces/shop';
const MAIL = `${W}/templates/order-paid`;
const PRICE =
  '{{currency total "EUR"}}, {{date at time="short"}}: {{number items.length}} {{plural items.length one="x" other="xs"}}';
/** Everything at once: a layout, partials, two languages, MJML in one of them, all channels. */
const FILES = {
  [`${W}/workspace.yaml`]: 'name: Shop\ntime_zone: Europe/Berlin\nlocale: en\n',
  [`${W}/layouts/basic.html`]: '<html><body>{{> head}}{{{body}}}</body></html>\n',
  [`${W}/layouts/basic.txt`]: '{{{body}}}\n-- \n{{> foot}}\n',
  [`${W}/layouts/basic.mjml`]: '<mjml>\n<mj-body>\n{{{body}}}\n<mj-raw>{{> foot}}</mj-raw></mj-body>\n</mjml>\n',
  [`${W}/partials/head.hbs`]: '<h1>{{shop}}</h1>\n',
  [`${W}/partials/foot.hbs`]: '{{shop}}\n',
  [`${W}/partials/row.hbs`]: '{{name}} × {{qty}}\n',
  [`${MAIL}/email.yaml`]: 'subject: Order {{order_id}}\nlayout: basic\n',
  [`${MAIL}/email.html`]: `<p>Paid ${PRICE}</p>{{#each items}}<p>{{> row}}</p>{{/each}}\n`,
  [`${MAIL}/email.txt`]: `Paid ${PRICE}\n`,
  [`${MAIL}/email.de.yaml`]: 'subject: Bestellung {{order_id}}\n',
  [`${MAIL}/email.de.mjml`]: `<mj-section><mj-column><mj-text>Bezahlt ${PRICE}</mj-text>
<mj-table>{{#each items}}<tr><td>{{> row}}</td></tr>{{/each}}</mj-table></mj-column></mj-section>\n`,
  [`${MAIL}/email.de.txt`]: `Bezahlt ${PRICE}\n`,
  [`${MAIL}/sms.txt`]: `Paid ${PRICE} {{> foot}}\n`,
  [`${MAIL}/sms.de.txt`]: `Bezahlt ${PRICE} {{> foot}}\n`,
  [`${MAIL}/push.yaml`]: 'title: Paid {{> foot}}\npriority: high\n',
  [`${MAIL}/push.de.yaml`]: 'title: Bezahlt {{> foot}}\n',
};
const EVENT = {
  order_id: 'A-1',
  status: 'paid',
  total: 1234.5,
  at: '2026-11-22T10:00:00Z',
  shop: 'Bücher <Müller>',
  items: [
    { name: 'Heft', qty: 2 },
    { name: 'Stift & Co', qty: 1 },
  ],
  customer: { email: 'ada@example.com', phone: '+49301234567', device: 'token' },
};

let topology: Topology;
let control: Control;
const sent: RenderedMessage[] = [];
const sender: ChannelSender = {
  async send(message) {
    sent.push(message);
    return providerResult('accepted', '250', 'fine');
  },
  check: async () => [],
  close: async () => undefined,
};
const portsFor = (): PlanningPorts =>
  ({ ...topology.ports, mjml, templates, expressions: LANGUAGE, secrets: NO_SECRETS }) as unknown as PlanningPorts;
/** No expression stands in what is planned here. */
const LANGUAGE = { compile: () => ({ ok: false, error: [] }) };
const NO_SECRETS = { get: async () => undefined, places: async () => [], names: async () => [] };

beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  const channels = {
    email: { template: 'order-paid' },
    sms: { template: 'order-paid' },
    push: { template: 'order-paid' },
  };
  const to = { email: 'event.customer.email', phone: 'event.customer.phone', token: 'event.customer.device' };
  const [name = '', rule] = Object.entries(ORDER_PAID.rules)[0] ?? [];
  if (!rule) throw new Error('there is a rule');
  const { body, changes } = await planFolder({ files: FILES, prune: false }, portsFor());
  expect(body.faults).toEqual([]);
  await topology.publish(...changes, stream('orders', ORDERS));
  await topology.publish(
    notification('order-paid', {
      ...ORDER_PAID,
      id: 'ntf_paid',
      channels,
      rules: { [name]: { ...rule, recipients: { from: 'event', to, unique_id: 'event_id' } } },
    }),
  );
  control = (
    await openControl(
      accessOf(personWith('ann', ['read', 'configure', 'bodies'])),
      topology.ports as unknown as Partial<ControlPorts>,
    )
  ).control;
});
beforeEach(() => {
  sent.length = 0;
});
afterAll(async () => {
  await control.app.close();
  await topology.close();
  await templates.close();
  await mjml.close();
});

async function previewed(event: object): Promise<readonly Record<string, unknown>[]> {
  const payload = { event: JSON.stringify(event) };
  const answer = await control.app.inject({
    method: 'POST',
    url: '/v1/workspaces/shop/templates/order-paid/preview',
    payload,
  });
  expect(answer.statusCode).toBe(200);
  return answer.json<{ messages: Record<string, unknown>[] }>().messages;
}

/** What providers are given for an event, through rule, log, ledger and attempt. */
async function delivered(event: object): Promise<readonly Delivery[]> {
  const eventId = await topology.event(event as never);
  await settle(topology);
  const { items } = await topology.data.ledger.list({ eventId }, 10);
  const newest = topology.ports.configuration.current();
  for (const delivery of items) {
    const own = findNotification(newest, delivery.slot);
    const [choice] = own ? accountsOf(newest, own, delivery.slot.channel) : [];
    if (!choice) throw new Error('there is an account');
    const ports = {
      ...topology.ports,
      pause: () => Promise.resolve(),
      collect: async () => [],
      stopping: new AbortController().signal,
    };
    await attemptDelivery(
      delivery,
      { choice, sender, release: () => undefined },
      { retryAt: null, anotherAccount: false },
      ports,
    );
  }
  return items;
}
const contentOf = (message: object): object => {
  const { channel, from, subject, html, text, push } = message as Record<string, unknown>;
  return { channel, from, subject, html, text, push };
};

describe('A message in a layout, with partials, in the reader’s language', () => {
  it.each([
    ['de-AT', 'Bezahlt', '€\u00a01.234,50', '11:00'],
    ['de', 'Bezahlt', '1.234,50\u00a0€', '11:00'],
    ['es', 'Paid', '1234,50\u00a0€', '11:00'],
    [undefined, 'Paid', '€1,234.50', '11:00'],
  ])('is sent as the preview shows it: %s', async (locale, word, price, clock) => {
    const event = { ...EVENT, ...(locale !== undefined && { locale }) };
    const shown = await previewed(event);
    const deliveries = await delivered(event);
    expect(deliveries).toHaveLength(3);
    expect(sent.map((message) => contentOf(showContent(message))).toSorted(byChannel)).toEqual(
      shown.map(contentOf).toSorted(byChannel),
    );
    for (const message of shown) {
      expect(message).toMatchObject({ ok: true, missing: [] });
      const text = JSON.stringify(contentOf(message));
      expect(text).toContain(word);
      if (message['channel'] === 'push') continue;
      expect(text.replaceAll('\u202f', '\u00a0')).toContain(price);
      expect(text).toContain(clock);
    }
    const [email] = shown;
    expect(email?.['html']).toContain('Stift &amp; Co × 1');
    expect(email?.['html']).toContain('Bücher &lt;Müller&gt;');
    expect(email?.['html']).not.toContain('{{');
    expect(email?.['text']).toMatch(/-- \nBücher <Müller>/);
  });

  it('says in which language it is, and why, in preview, story and what was sent', async () => {
    const german = { ...EVENT, locale: 'de-AT' };
    const said = 'written in de (the reader’s is de-AT)';
    for (const message of await previewed(german)) expect(message['notes']).toEqual([said]);
    for (const message of await previewed({ ...EVENT, locale: 'fr' })) {
      expect(message['notes']).toEqual(['written in no language of its own (there are de; the reader’s is fr)']);
    }
    const [delivery] = await delivered(german);
    const read = async (url: string): Promise<string> =>
      (await control.app.inject({ method: 'GET', url: `/v1/workspaces/shop/${url}` })).body;
    expect(await read(`deliveries/${delivery?.id}/trace`)).toContain(said);
    expect(await read(`deliveries/${delivery?.id}/content`)).toContain(said);
  });
});

const byChannel = (a: object, b: object): number =>
  (a as { channel: string }).channel < (b as { channel: string }).channel ? -1 : 1;

describe('MJML', () => {
  const plan = (changes: Readonly<Record<string, string>>, prune = false) =>
    planFolder(
      { files: { [`${W}/workspace.yaml`]: FILES[`${W}/workspace.yaml`] ?? '', ...changes }, prune },
      portsFor(),
    );

  it('that is wrong is refused with the file, line and column where it was written', async () => {
    const faults = async (changes: Readonly<Record<string, string>>): Promise<string[]> =>
      (await plan(changes)).body.faults.map(
        ({ file, line, column, message }) => `${file}:${line}:${column} ${message}`,
      );
    const wrong = '<mj-section>\n<mj-colum></mj-colum></mj-section>\n';
    expect(await faults({ ...FILES, [`${MAIL}/email.de.mjml`]: wrong })).toEqual([
      `${MAIL}/email.de.mjml:2:1 There is no element <mj-colum>`,
    ]);
    const include = '<mjml><mj-body>\n<mj-include path="/etc/passwd"/>{{{body}}}</mj-body></mjml>';
    expect(await faults({ ...FILES, [`${W}/layouts/basic.mjml`]: include })).toEqual([
      `${W}/layouts/basic.mjml:2:1 in the template order-paid: mj-include is refused: a template reads no files`,
    ]);
    expect(await faults({ ...FILES, [`${W}/partials/foot.hbs`]: 'a <mj-text>{{shop}}' })).toEqual([
      `${W}/partials/foot.hbs:1:3 in the template order-paid: <mj-text> is not closed`,
    ]);
  });

  it('is stored beside its compiled HTML, and exported as source only', async () => {
    const body = topology.ports.configuration.current().resources.get('template:shop/order-paid')?.body;
    const email = (body as { email: { locales: { de: { mjml: string; html: string } } } }).email;
    expect(email.locales.de.mjml).toBe(FILES[`${MAIL}/email.de.mjml`]);
    expect(email.locales.de.html).toContain('{{#each items}}<tr');
    const answer = await control.app.inject({ method: 'GET', url: '/v1/configuration/export' });
    const { files } = answer.json<{ files: Record<string, string> }>();
    for (const [file, text] of Object.entries(FILES)) expect([file, files[file]]).toEqual([file, text]);
    expect(Object.keys(files)).not.toContain(`${MAIL}/email.de.html`);
  });

  it('of a template outside the folder is recompiled with a layout of the folder', async () => {
    const { body, changes } = await plan({
      [`${W}/layouts/basic.mjml`]: '<mjml><mj-body><mj-raw>NEW</mj-raw>{{{body}}}</mj-body></mjml>',
    });
    expect(body.faults.map(({ message }) => message)).toEqual([]);
    expect(changes.map(({ ref }) => `${ref.kind} ${ref.name}`)).toEqual(['layout basic', 'template order-paid']);
    expect(JSON.stringify(changes.at(-1)?.body)).toContain('NEW');
    expect(body.changes.find(({ resource }) => resource === 'template shop/order-paid')).toMatchObject({
      note: 'its MJML is compiled again',
      fields: [],
    });
  });
});
