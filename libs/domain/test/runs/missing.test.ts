import { describe, expect, it } from 'vitest';
import type { DeliveryId } from '@carillon/kernel';
import { DELIVERY_STATES, type DeliveryState } from '../../src/deliveries/index.ts';
import { missingStateOf } from '../../src/runs/index.ts';

type Holder = {
  readonly state: DeliveryState;
  readonly clean: boolean;
  readonly reason: 'capped';
  readonly digestedIn?: DeliveryId;
};
const id = (name: string) => name as DeliveryId;
const holder = (state: DeliveryState, more: Partial<Holder> = {}): Holder => ({
  state,
  clean: true,
  reason: 'capped',
  ...more,
});
const openStateOf = (slots: readonly string[], ledger: Readonly<Record<string, Holder>>) =>
  missingStateOf(slots.map(id), new Map(Object.entries(ledger).map(([name, delivery]) => [id(name), delivery])));
const stateOf = (...args: Parameters<typeof openStateOf>) => openStateOf(...args)?.slotState ?? null;

describe('the state in which a comparison reports a missing message', () => {
  it('is none if no delivery has its unique_id', () => {
    expect(stateOf(['a'], {})).toBe('none');
  });

  it('is stopped if the existing delivery can be replaced, and null for every other delivery', () => {
    const states = DELIVERY_STATES.filter((state) => stateOf(['a'], { a: holder(state) }) === 'stopped');
    expect(states).toEqual(['SUPPRESSED', 'FAILED', 'EXPIRED']);
    const others = DELIVERY_STATES.filter((state) => stateOf(['a'], { a: holder(state) }) === null);
    expect([...states, ...others].toSorted()).toEqual(DELIVERY_STATES.toSorted());
  });

  it('has the reason of a stopped message, also of a digest', () => {
    const known = { a: holder('DIGESTED', { digestedIn: id('digest') }), digest: holder('EXPIRED') };
    expect(openStateOf(['digest'], known)?.slotReason).toBe('capped');
    expect(openStateOf(['a'], known)?.slotReason).toBe('capped');
    expect(openStateOf(['free'], known)?.slotReason).toBeNull();
  });

  it('is null if the delivery was in doubt', () => {
    for (const state of DELIVERY_STATES) expect(stateOf(['a'], { a: holder(state, { clean: false }) })).toBeNull();
  });

  it('follows the digest for a message that is in a digest', () => {
    const digested = holder('DIGESTED', { digestedIn: id('digest') });
    expect(stateOf(['a'], { a: digested, digest: holder('EXPIRED') })).toBe('stopped');
    expect(stateOf(['a'], { a: digested, digest: holder('SENT') })).toBeNull();
    expect(stateOf(['a'], { a: digested, digest: holder('EXPIRED', { clean: false }) })).toBeNull();
    expect(stateOf(['a'], { a: digested })).toBeNull();
  });

  it('is null if the message with the old or the new unique_id was already sent', () => {
    expect(stateOf(['new', 'old'], { old: holder('SENT') })).toBeNull();
    expect(stateOf(['new', 'old'], { new: holder('SENT') })).toBeNull();
    expect(stateOf(['new', 'old'], { old: holder('EXPIRED') })).toBe('stopped');
    expect(stateOf(['new', 'old'], {})).toBe('none');
  });
});
