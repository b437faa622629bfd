import { describe, expect, test } from 'vitest';
import { faultsOf, notificationWith } from './support/folder.ts';

const MAIL = 'workspaces/shop/templates/order-paid/email.yaml';

/** What people write, what the mistake is called, and what it says to write instead. */
describe('a text that YAML parses as something else', () => {
  test.each([
    ['{{ order_id }} is paid', 'begins with {{', `write subject: '{{ order_id }} is paid'`],
    ['{{ order_id }}', 'begins with {{', `write subject: '{{ order_id }}'`],
    ['{{ order }}: paid', 'begins with {{', `write subject: '{{ order }}: paid'`],
    ['[Shop] Order', 'begins with [', `write subject: '[Shop] Order'`],
    ['[Shop]', 'begins with [', `write subject: '[Shop]'`],
    ['Order: {{ order_id }}', 'a colon and a blank', `write subject: 'Order: {{ order_id }}'`],
    [`It's yours: {{ order_id }}`, 'a colon and a blank', `write subject: 'It''s yours: {{ order_id }}'`],
    ['"Order" is paid', 'follows the closing quotation mark', `write subject: '"Order" is paid'`],
    ['@shop', 'means something in YAML', `write subject: '@shop'`],
    ['*new* order', 'means something in YAML', `write subject: '*new* order'`],
    ['% off', 'means something in YAML', `write subject: '% off'`],
    ['& more', 'means something in YAML', `write subject: '& more'`],
    ['- Order', 'means something in YAML', `write subject: '- Order'`],
  ])('subject: %s', (value, message, fix) => {
    const faults = faultsOf({ [MAIL]: `subject: ${value}\n` });
    expect(faults).toMatchObject([{ file: MAIL, line: 1, expected: 'text in quotation marks', fix }]);
    expect(faults[0]?.message).toContain(message);
    // What it says can be pasted.
    expect(faultsOf({ [MAIL]: `${fix.replace('write ', '')}\n` })).toEqual([]);
  });

  test('must be quoted as a whole if an expression joins texts', () => {
    expect(faultsOf(notificationWith('unique_id: event_id', 'unique_id: "order-" + event_id'))).toMatchObject([
      {
        message: expect.stringContaining('follows the closing') as string,
        fix: `write unique_id: '"order-" + event_id', or put the expression after | on the next line`,
      },
    ]);
  });

  test('must lose its braces if it is a template in place of an expression', () => {
    const line = 'when: event.status == "paid" && event.total > 100';
    expect(faultsOf(notificationWith(line, 'when: {{ event.total }} > 5'))[0]).toMatchObject({
      message: 'an expression is not a template: use {{ }} only in templates',
      fix: 'write when: event.total > 5',
    });
  });

  test('is never quoted if it may be a secret', () => {
    const file = 'workspaces/shop/accounts/mail.yaml';
    const text = 'kind: smtp\nhost: mail.example.com\nfrom: a@example.com\nuser: a\npassword: @canary: 1\n';
    const faults = faultsOf({ [file]: text });
    expect(faults[0]).toMatchObject({ line: 5, fix: "write password: '…'" });
    expect(JSON.stringify(faults)).not.toContain('canary');
  });

  test('causes no advice for lists and keys broken in another way', () => {
    const faults = faultsOf(notificationWith('email: { template: order-paid }', 'email: { template: order-paid'));
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.filter(({ expected }) => expected === 'text in quotation marks')).toEqual([]);
  });
});
