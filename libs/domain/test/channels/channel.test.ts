import { describe, expect, it } from 'vitest';
import {
  ADDRESS_KINDS,
  addressOrText,
  canonicalAddress,
  channelOf,
  channelsOf,
  composeMessage,
  defaultAccountsOf,
  firstAddress,
  templateOf,
} from '../../src/channels/index.ts';

describe('addresses on the channels email, SMS and push', () => {
  it('replace a missing person or unique_id, in the order email, phone, token', () => {
    expect(ADDRESS_KINDS).toEqual(['email', 'phone', 'token']);
    expect(firstAddress({ email: null, phone: '+4930123456', token: 't' })).toBe('+4930123456');
    expect(firstAddress({ email: null, phone: null, token: null })).toBeNull();
  });

  it.each([
    ['+49 30 123456', '+4930123456'],
    ['+49 (0) 30', null],
    ['+49 (0) 30 123456', '+4930123456'],
    ['+44 (0)20 7946 0958', '+442079460958'],
    ['+36 06 1 234 5678', '+3612345678'],
    ['+39 06 1234567', '+39061234567'],
    ['+49 (0) 030 123456', '+4930123456'],
    ['+49 30/123456', '+4930123456'],
    ['(+49) 30 123456', '+4930123456'],
    ['+999 123456789', null],
    ['+49 171 123456789012', null],
    ['+٤٩٣٠١٢٣٤٥٦', '+4930123456'],
    ['+49 30 123456 ext. 5', null],
    ['+1 800 FLOWERS', null],
    // A range that is newer than the data of a library is possible, though not valid.
    ['+1 555 555 0100', '+15555550100'],
    ['+1 (212) 555-0100', '+12125550100'],
    ['+1.212.555.0100', '+12125550100'],
    ['+49\u00a030\u2011123456', '+4930123456'],
    ['030 123456', null],
    ['0049 30 123456', null],
    ['+0 30 123456', null],
    ['+49 30 12a456', null],
    ['+123456', null],
    ['+1234567890123456', null],
  ])('accept phone numbers in E.164 only, without guessing a country: %s', (text, number) => {
    expect(canonicalAddress('sms', text)).toBe(number);
  });

  it('that are push tokens are compared exactly, with case', () => {
    expect(canonicalAddress('push', ' dKz_A:APA91b ')).toBe('dKz_A:APA91b');
    expect(canonicalAddress('push', 'a\u0007b')).toBeNull();
    expect(canonicalAddress('push', 'a\ufffdb')).toBeNull();
    expect(canonicalAddress('push', 'x'.repeat(4096))).toHaveLength(4096);
    expect(canonicalAddress('push', 'x'.repeat(5000))).toBeNull();
    expect(canonicalAddress('push', '  ')).toBeNull();
  });

  it('that are invalid are kept for display, without characters that no store may keep', () => {
    expect(addressOrText('email', ' ada at example.com ')).toBe('ada at example.com');
    expect(addressOrText('email', 'ada\0@example.com\r\nBcc: x')).toBe('ada\ufffd@example.com\ufffd\ufffdBcc: x');
    expect(addressOrText('phone', '\ud800')).toBe('\ufffd');
    expect(addressOrText('token', ' \t ')).toBeNull();
  });
});

describe('the setting per channel in a configuration', () => {
  const email = { template: 'paid' };
  it('is read by the channel’s name, in a fixed order, and is undefined if it is missing', () => {
    expect(channelsOf({ channels: { email } })).toEqual([['email', email]]);
    expect(channelsOf({ channels: {} })).toEqual([]);
    expect(channelOf({ channels: { email } }, 'sms')).toBeUndefined();
    const kind = 'sandbox' as const;
    expect(defaultAccountsOf({ accounts: { email: { kind } } }, 'email')).toEqual([
      { name: 'default', body: { kind } },
    ]);
    expect(defaultAccountsOf({ accounts: { email: { kind } } }, 'push')).toEqual([]);
    const several = {
      sms: [
        { name: 'main', kind },
        { name: 'spare', kind },
      ],
    };
    expect(defaultAccountsOf({ accounts: several }, 'sms')).toEqual([
      { name: 'main', body: { kind } },
      { name: 'spare', body: { kind } },
    ]);
    const body = { email: { subject: 'Paid', text: 'Thanks', strict: true } };
    const parts = { subject: 'Paid', text: 'Thanks' };
    expect(templateOf(body, 'email')).toMatchObject({ channel: 'email', parts, settings: {}, strict: true });
    expect(templateOf(body, 'email')).toBe(templateOf(body, 'email'));
    expect(templateOf({ email: { subject: 'Paid' } }, 'sms')).toBeUndefined();
  });
});

describe('the message that a channel sends', () => {
  const parts = { subject: 'Paid', text: 'Thanks' };
  const addressed = { deliveryId: 'dlv_1', attempt: 2 } as const;
  it('goes to its normalized address, and has a message id made of delivery and attempt', () => {
    const from = { from: 'Shop <shop@example.com>' };
    expect(
      composeMessage({ ...addressed, channel: 'email', to: 'A@BÜCHER.example' }, { parts, settings: {} }, from),
    ).toEqual({
      ok: true,
      value: {
        channel: 'email',
        to: 'a@xn--bcher-kva.example',
        from: { name: 'Shop', address: 'shop@example.com' },
        subject: 'Paid',
        html: null,
        text: 'Thanks',
        messageId: '<dlv_1.2@example.com>',
      },
    });
  });
});
