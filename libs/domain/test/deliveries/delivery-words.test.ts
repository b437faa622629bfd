import { describe, expect, it } from 'vitest';
import {
  DELIVERY_REASONS,
  DELIVERY_STATES,
  describeReason,
  isDeliveryReason,
  reasonText,
  stateText,
} from '../../src/deliveries/index.ts';

describe('the labels of delivery states and reasons', () => {
  it('name each state like its code, so that a filter by code finds what a list shows', () => {
    for (const state of DELIVERY_STATES) {
      expect(stateText(state).toUpperCase().replaceAll(' ', '_')).toBe(state);
    }
  });

  it.each(DELIVERY_REASONS)('explain %s in a sentence that fits behind a colon', (reason) => {
    const sentence = describeReason(reason);
    expect(sentence).toMatch(/^[a-z].*[^.]$/);
    expect(sentence).not.toContain('_');
  });

  it('fit into a table cell, and differ from each other', () => {
    const shorts = DELIVERY_REASONS.map(reasonText).filter((short) => short !== null);
    expect(Math.max(...shorts.map((short) => short.length))).toBeLessThanOrEqual(24);
    expect(new Set(shorts).size).toBe(shorts.length);
  });

  it('omit a reason that only repeats the state', () => {
    expect(['new', 'accepted', 'delivered', 'bounced'].map(reasonText)).toEqual([null, null, null, null]);
  });

  it('show codes in the timeline that are no state or reason of a delivery', () => {
    expect(reasonText('too_many_recipients')).toBe('too many recipients');
    expect(reasonText('when_false')).toBeNull();
    expect(reasonText('rule_gone')).toBe('rule gone');
    expect(stateText('refused_recipient')).toBe('Refused recipient');
    expect(isDeliveryReason('rule_gone')).toBe(false);
  });
});
