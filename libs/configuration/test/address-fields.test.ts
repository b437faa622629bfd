import { readResourceBodies, type WrittenKind } from '@carillon/configuration';
import { expect, it } from 'vitest';
import { reading } from './support/small-language.ts';

const ref = (kind: WrittenKind, name: string) => ({ kind, workspace: 'shop', name });
const warned = (channel: 'email' | 'sms' | 'push', to: object) =>
  readResourceBodies(
    [
      { ref: ref('workspace', ''), body: {} },
      { ref: ref('stream', 'orders'), body: { security: { api_keys: ['backend'] } } },
      {
        ref: ref('notification', 'order-paid'),
        body: {
          channels: { [channel]: { template: 'order-paid' } },
          rules: {
            paid: {
              stream: 'orders',
              when: 'event.total > 1',
              recipients: { from: 'event', to, unique_id: 'event_id' },
            },
          },
        },
      },
    ],
    reading,
  ).warnings.filter(({ code }) => code.startsWith('address_'));

it('a rule is warned about when the field of an address has another kind by its name', () => {
  const field = 'event.customer.email';
  expect(warned('sms', { phone: field })).toMatchObject([
    {
      code: 'address_other_kind',
      path: 'rules.paid.recipients.to.phone',
      facts: { channel: 'sms', address: 'phone number', field },
      message: 'sms goes to a phone number, and event.customer.email does not look like one',
    },
  ]);
  expect(warned('push', { token: 'item.mobile' })).toHaveLength(1);
  expect(warned('email', { email: 'event.device_token' })).toHaveLength(1);
  expect(warned('sms', { email: 'event.email' })).toMatchObject([{ code: 'address_missing_for_channel' }]);
});

it('a rule is not warned about when the field may have the address, or no channel uses it', () => {
  for (const field of ['event.phone', 'event.customer.contact', 'event.mobile_email', 'event.email + event.phone'])
    expect(warned('sms', { phone: field })).toEqual([]);
  expect(warned('email', { email: 'event.email', phone: 'event.email' })).toEqual([]);
});
