import { describe, expect, it } from 'vitest';
import { notificationOf } from '../src/screens/notifications/new-notification.ts';
import {
  addressAmong,
  addressField,
  usualAddresses,
  withAddressesFor,
} from '../src/screens/notifications/usual-addresses.ts';
import { addressWarning } from '../src/screens/rule/address-warning.ts';
import { fieldChoices, type SeenField } from '../src/screens/rule/completion.ts';
import { startedByCohort, startedByEvents } from '../src/screens/rule/rule-start.ts';
import type { Rule } from '../src/screens/rule/rule-props.ts';

const RULE = {
  path: 'shop/order-paid.paid',
  when: 'event.total > 100',
  recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.order_id' },
} as Rule;
const COHORT = { integration: 'mixpanel', id: '7', on: 'entered', first_sync: 'silent' } as const;

describe('the start of a rule', () => {
  it('moves to a shared stream, and keeps condition and recipients', () => {
    const { path: _path, ...rest } = RULE;
    expect(startedByEvents(RULE, 'orders')).toEqual({ ...rest, stream: 'orders' });
    expect(startedByEvents({ ...rest, stream: 'orders' }, '')).toEqual(rest);
    expect(startedByEvents(RULE, '')).toEqual(RULE);
  });

  it('becomes a cohort whose members a partner knows, without the condition about events', () => {
    const rule = startedByCohort(RULE, COHORT, 'crm');
    expect(rule).toEqual({
      cohort: COHORT,
      recipients: { from: 'lookup', integration: 'crm', unique_id: 'event_id' },
    });
    const left = { ...COHORT, on: 'left' } as const;
    expect(startedByCohort({ ...rule, when: 'event.first_sync' }, left, 'crm')).toMatchObject({
      cohort: left,
      when: 'event.first_sync',
    });
    expect(startedByEvents(rule, 'orders')).toEqual({
      stream: 'orders',
      recipients: { from: 'lookup', integration: 'crm', user_ids: 'event.user_id', unique_id: 'event_id' },
    });
  });

  it('has no condition in a new notification until one is chosen', () => {
    const fresh = { title: 'Paid', stream: '', newKey: null, waiting: {} } as const;
    const wish = { ...fresh, tell: 'event.email', by: 'email', template: '' } as const;
    expect(notificationOf({ ...wish, when: ' ' }, [])).not.toHaveProperty('rules.first.when');
    expect(notificationOf({ ...wish, when: 'true' }, [])).toHaveProperty('rules.first.when', 'true');
  });
});

describe('the address of a recipient', () => {
  it('follows the channel', () => {
    expect(addressField('event.customer.email', 'sms')).toBe('event.customer.phone');
    expect(addressField('event.customer.phone', 'push')).toBe('event.customer.token');
    expect(addressField('event.contact', 'sms')).toBe('event.contact');
    expect(usualAddresses({ sms: {}, push: {} })).toEqual({ phone: 'event.phone', token: 'event.token' });
    expect(usualAddresses({})).toEqual({ email: 'event.email' });
  });

  it('is added to the rules of a notification when a channel is switched on', () => {
    const toOf = (recipients: object): unknown =>
      Object.values(withAddressesFor('sms', { paid: { ...RULE, recipients } as Rule }))[0]?.recipients;
    const added = (to: object, more = {}): unknown => toOf({ from: 'event', to, ...more });
    expect(added({ email: 'event.customer.email' })).toMatchObject({
      to: { email: 'event.customer.email', phone: 'event.customer.phone' },
    });
    expect(added({ email: 'item.email' }, { for_each: 'event.watchers' })).toMatchObject({
      to: { email: 'item.email', phone: 'item.phone' },
    });
    expect(added({ email: 'lower(event.contact)' })).toMatchObject({ to: { phone: 'event.phone' } });
    expect(added({})).toMatchObject({ to: { phone: 'event.phone' } });
    for (const kept of [
      { from: 'event', to: { phone: 'event.mobile', email: 'event.email' } },
      { from: 'event', to: { email: 'item' }, for_each: 'event.addresses' },
      { from: 'lookup', integration: 'crm', user_ids: 'event.user_id' },
    ])
      expect(toOf(kept)).toEqual(kept);
  });

  const field = (path: string, sample: string | null, types = ['string']): SeenField => ({
    path,
    types,
    sample,
    count: 1,
  });

  it('is warned about when the newest event has another kind of value there', () => {
    const seen = [field('contact', '"ada@example.com"'), field('mobile', '"+49 30 1234567"'), field('who', '{')];
    expect(addressWarning('phone', 'event.contact', seen)).toBe(
      'In the newest event, event.contact is "ada@example.com", which is not a phone number.',
    );
    expect(addressWarning('email', 'event.contact', seen)).toBeNull();
    expect(addressWarning('phone', 'event.mobile', seen)).toBeNull();
    expect(addressWarning('email', 'event.who', seen)).toContain('which is not an email address.');
  });

  it('is warned about by its name before the first event', () => {
    expect(addressWarning('phone', 'event.customer.email', [])).toBe(
      'event.customer.email looks like an email address, and a phone number is needed here.',
    );
    expect(addressWarning('phone', 'event.customer.contact', [])).toBeNull();
    expect(addressWarning('phone', 'event.a + event.email', [])).toBeNull();
  });

  it('is chosen from the fields that fit', () => {
    const seen = [field('email', '"a"'), field('watchers', '[', ['array']), field('watchers[].email', '"a"')];
    expect(fieldChoices('person', seen)).toEqual(['event.email']);
    expect(fieldChoices('for_each', seen)).toEqual(['event.watchers']);
    expect(fieldChoices('where', seen)).toEqual([]);
  });
});

describe('the address among the fields of an event', () => {
  it.each([
    [['id', 'email_sent_at', 'email'], 'event.email'],
    [['id', 'customer.work_Email'], 'event.customer.work_Email'],
    [['email.id', 'people[].email'], ''],
  ])('of %j is %s', (paths, address) => {
    expect(addressAmong(paths, 'email')).toBe(address);
  });
});
