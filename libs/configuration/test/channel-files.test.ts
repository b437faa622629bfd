import { formatFault } from '@carillon/configuration';
import { describe, expect, test } from 'vitest';
import { faultsOf, goodFolder, notificationWith, read } from './support/folder.ts';

const TEMPLATE = 'workspaces/shop/templates/order-paid';
const EMAIL = '  email: { template: order-paid }';
const every = notificationWith(EMAIL, `${EMAIL}\n  sms: { template: order-paid }\n  push: { template: order-paid }`);
const addresses = Object.fromEntries(
  Object.entries(every).map(([file, text]) => [
    file,
    text.replace('to: { email: event.customer.email }', 'to: { email: event.e, phone: event.p, token: event.t }'),
  ]),
);
const PUSH = [
  'title: Order {{ order_id }}',
  'body: "{{ total }} paid"',
  'link: https://shop.example.com/{{ order_id }}',
  'data: { order: "{{ order_id }}" }',
  'priority: high',
  'collapse: order-{{ order_id }}',
  'android: { channel: orders }',
  'apns: { sound: default }',
  '',
].join('\n');
const sms = { [`${TEMPLATE}/sms.txt`]: 'Paid: {{ total }}\n' };
const push = { [`${TEMPLATE}/push.yaml`]: PUSH };
const told = (changes: Readonly<Record<string, string | null>>): string[] => faultsOf(changes).map(formatFault);

describe('a template for three channels', () => {
  test('is read from its files, and a notification sends all of them', () => {
    const { resources, faults, warnings } = read({ ...addresses, ...sms, ...push });
    expect(faults.map(formatFault)).toEqual([]);
    expect(warnings.filter(({ message }) => message.includes('no_address'))).toEqual([]);
    const bodies = new Map(resources.map(({ ref, body }) => [ref.kind, body]));
    expect(bodies.get('notification')).toMatchObject({
      channels: {
        email: { template: 'order-paid' },
        sms: { template: 'order-paid' },
        push: { template: 'order-paid' },
      },
    });
    expect(bodies.get('template')).toEqual({
      email: { subject: 'Paid', html: '<p>Paid</p>\n' },
      sms: { text: 'Paid: {{ total }}\n' },
      push: {
        title: 'Order {{ order_id }}',
        body: '{{ total }} paid',
        link: 'https://shop.example.com/{{ order_id }}',
        data: { order: '{{ order_id }}' },
        priority: 'high',
        collapse: 'order-{{ order_id }}',
        android: { channel: 'orders' },
        apns: { sound: 'default' },
      },
    });
  });

  test('may be for SMS or push alone', () => {
    const none = { [`${TEMPLATE}/email.yaml`]: null, [`${TEMPLATE}/email.html`]: null };
    expect(told({ ...none, ...sms, ...notificationWith(EMAIL, '  sms: { template: order-paid }') })).toEqual([]);
    expect(told({ ...none, ...push, ...notificationWith(EMAIL, '  push: { template: order-paid }') })).toEqual([]);
  });

  test('is refused for a channel for which it has no part', () => {
    expect(faultsOf({ ...every, ...push })).toMatchObject([
      {
        file: 'workspaces/shop/notifications/order-paid.yaml',
        line: 3,
        column: 20,
        message: 'sms has no text yet in the template order-paid',
        expected: 'a template with sms',
        fix: `write ${TEMPLATE}/sms.txt`,
      },
    ]);
  });

  test('causes a warning for a rule without an address of a channel', () => {
    const { warnings } = read({ ...every, ...sms, ...push });
    expect(warnings.map(({ message, fix }) => [message, fix])).toEqual(
      expect.arrayContaining([
        ['sms is not sent: the rule has no phone number', 'add phone: an expression'],
        ['push is not sent: the rule has no device token', 'add token: an expression'],
      ]),
    );
  });
});

describe('a mistake in a template', () => {
  test('of an SMS is reported with line and column', () => {
    expect(faultsOf({ [`${TEMPLATE}/sms.txt`]: 'Paid\nin §' })).toMatchObject([
      { file: `${TEMPLATE}/sms.txt`, line: 2, column: 4 },
    ]);
  });

  test('of a push notification is reported at its position in the YAML', () => {
    const text = PUSH.replace('order: "{{ order_id }}"', 'order: "a§"');
    expect(faultsOf({ [`${TEMPLATE}/push.yaml`]: text })).toMatchObject([
      { file: `${TEMPLATE}/push.yaml`, path: 'data.order', line: 4, column: 18 },
    ]);
  });

  test('does not hide mistakes in other files of the template', () => {
    const changes = {
      [`${TEMPLATE}/email.html`]: '§',
      [`${TEMPLATE}/sms.txt`]: ' \n',
      [`${TEMPLATE}/push.yaml`]: 'titel: x\nbody: §\n',
    };
    expect(
      faultsOf(changes).map(({ file, line, message }) => [file.slice(TEMPLATE.length + 1), line, message]),
    ).toEqual([
      ['email.html', 1, 'unexpected §'],
      ['push.yaml', 1, 'there is no setting titel here'],
      ['push.yaml', 2, 'unexpected §'],
      ['sms.txt', 1, 'sms.txt is empty'],
    ]);
  });

  test.each([
    ['data: { from: x }', /a name of letters/],
    ['data: { google.a: x }', /a name of letters/],
    ['data: { a b: x }', /a name of letters/],
    ['data: { a: 1 }', /text/],
    ['priority: urgent', /normal or high/],
    ['android: { sound: x }', /channel/],
    ['image:', /./],
  ])('in the schema of push.yaml says what is expected: %s', (line, expected) => {
    const [fault, ...others] = faultsOf({ [`${TEMPLATE}/push.yaml`]: `title: x\n${line}\n` });
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ file: `${TEMPLATE}/push.yaml`, line: 2 });
    expect(`${fault?.expected} ${fault?.fix}`).toMatch(expected);
  });

  test('that was there before is not seen in a good folder', () => {
    expect(told(goodFolder)).toEqual([]);
  });
});
