import { describe, expect, it } from 'vitest';
import { changeSentences } from '../src/screens/notifications/change-sentences.ts';

const recipients = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' };
const before = {
  channels: { email: { template: 'order-paid' } },
  rules: { paid: { when: 'event.total > 100', recipients } },
  cadence: { limits: [{ max: 2, per: '1w', then: 'drop' }] },
};
const sentences = (after: object): readonly string[] => changeSentences(before, { ...before, ...after }).sentences;

describe('changes of a notification', () => {
  it('are sentences about what it does now and did before', () => {
    expect(sentences({})).toEqual([]);
    expect(sentences({ rules: { paid: { when: 'event.total > 50', recipients } } })).toEqual([
      'Rule paid fires when an event comes and total is more than 50. Before: Rule paid fires when an event comes and total is more than 100.',
    ]);
    expect(sentences({ channels: { sms: { template: 'order-paid' } } })).toContain(
      'Sent by SMS. Before: Sent by email.',
    );
    expect(sentences({ enabled: false })).toEqual(['New: Switched off: nothing fires.']);
    expect(sentences({ cadence: { quiet_hours: { from: '21:00', to: '08:00' } } })).toEqual([
      'New: Not between 21:00 and 08:00.',
      'No longer: At most 2 a week.',
    ]);
    expect(
      sentences({ rules: { paid: { when: 'event.total > 100', recipients: { ...recipients, unique_id: '' } } } }),
    ).toEqual(['Rule paid is sent once ever. Before: Rule paid is sent for every event.']);
  });

  it('report which values their sentences cover, so that all other values are still listed', () => {
    const rules = { paid: { when: 'event.total > 50', recipients: { ...recipients, where: 'event.vip' } } };
    const { isDescribed } = changeSentences(before, { ...before, rules });
    expect(isDescribed('rules.paid.when')).toBe(true);
    expect(isDescribed('rules.paid.recipients.where')).toBe(false);
    expect(isDescribed('cadence.limits')).toBe(false);
    expect(isDescribed('rules.other.when')).toBe(false);
  });

  it('take any body, however broken', () => {
    expect(changeSentences(null, before).sentences.length).toBeGreaterThan(0);
    expect(changeSentences({ rules: 5, channels: [], cadence: null }, { rules: { a: 1 } }).sentences).toEqual([]);
  });
});
