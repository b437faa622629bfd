import { describe, expect, it } from 'vitest';
import { DELIVERY_STATES, type DeliveryState } from '../../src/deliveries/index.ts';
import { slotStateOf } from '../../src/runs/index.ts';

const delivery = (state: DeliveryState) => ({ state, reason: 'capped' as const });

describe('the state that a comparison shows for an existing message', () => {
  it('is none without a delivery', () => {
    expect(slotStateOf(undefined)).toEqual({ slotState: 'none', slotReason: null });
  });

  it('follows the state of the delivery, and has a reason only if the delivery is stopped', () => {
    const states = DELIVERY_STATES.map((state) => [state, slotStateOf(delivery(state))] as const);
    const withState = (slotState: string) => states.filter(([, found]) => found.slotState === slotState);
    expect(withState('notified').map(([state]) => state)).toEqual([
      'SENDING',
      'DIGESTED',
      'SENT',
      'IN_DOUBT',
      'DELIVERED',
      'BOUNCED',
      'COMPLAINED',
    ]);
    expect(withState('waiting').map(([state]) => state)).toEqual(['WAITING', 'COLLECTED']);
    expect(withState('stopped').map(([state]) => state)).toEqual(['SUPPRESSED', 'FAILED', 'EXPIRED', 'CANCELLED']);
    for (const [, { slotReason, slotState }] of states)
      expect(slotReason).toBe(slotState === 'stopped' ? 'capped' : null);
  });

  it('is that of the digest for a message that is in a digest', () => {
    expect(slotStateOf(delivery('DIGESTED'), delivery('WAITING')).slotState).toBe('waiting');
    expect(slotStateOf(delivery('DIGESTED'), delivery('FAILED'))).toEqual({
      slotState: 'stopped',
      slotReason: 'capped',
    });
  });
});
