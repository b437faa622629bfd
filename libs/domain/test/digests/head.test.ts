import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  closeWindow,
  emptyHead,
  headDueAt,
  headParts,
  listItem,
  listItems,
  MAX_DIGEST_CHARACTERS,
  mustClose,
  windowEmptied,
  type DigestHead,
  type ListedItem,
} from '../../src/digests/index.ts';
import type { DeliveryId, IntentId } from '@carillon/kernel';
import { givenIntent } from '@carillon/testing/given';

const item = (name: string, facts: Partial<ListedItem> = {}): ListedItem => ({
  deliveryId: `dlv_${name}` as DeliveryId,
  token: `t ${name}`,
  intentId: `int_${name}` as IntentId,
  size: 10,
  ...facts,
});
const SETTINGS = { opened: { closesAt: 100, slide: null }, maxItems: 3 };
const FRESH = emptyHead('dgh_1', givenIntent('a').slot);

function given(...names: readonly string[]): DigestHead {
  let head = FRESH;
  for (const name of names) {
    const listing = listItem(head, item(name), head.n, SETTINGS, 0);
    if (listing.kind !== 'listed') throw new Error(`${name}: ${listing.kind}`);
    head = listing.next;
  }
  return head;
}
const closed = (head: DigestHead, now = 50): DigestHead => {
  const next = closeWindow(head, 7, now);
  if (!next) throw new Error('not closed');
  return next;
};

describe('the digest head (the list of messages that one digest collects)', () => {
  it('opens a window with its first message, which fixes the closing time', () => {
    const head = given('a', 'b');
    expect(head.items.map(({ deliveryId }) => deliveryId)).toEqual(['dlv_a', 'dlv_b']);
    expect(headDueAt(head)).toBe(100);
    const later = listItem(head, item('c'), 0, { maxItems: 4, opened: { closesAt: 900, slide: null } }, 1);
    expect(later.kind === 'listed' && headDueAt(later.next)).toBe(100);
  });

  it('lists a delivery once, under its newest token', () => {
    const head = given('a', 'b');
    expect(listItem(head, item('a'), 0, SETTINGS, 0)).toEqual({ kind: 'is_listed' });
    const again = listItem(head, item('a', { token: 'newer' }), 0, SETTINGS, 0);
    expect(again.kind === 'listed' && again.next.items.map(({ token }) => token)).toEqual(['t b', 'newer']);
  });

  it('must close a due or full window before it lists another message', () => {
    expect(listItem(given('a'), item('b'), 0, SETTINGS, 100)).toEqual({ kind: 'close_first' });
    expect(listItem(given('a', 'b', 'c'), item('d'), 0, SETTINGS, 0)).toEqual({ kind: 'close_first' });
    const large = item('b', { size: MAX_DIGEST_CHARACTERS - 5 });
    expect(listItem(given('a'), large, 0, SETTINGS, 0)).toEqual({ kind: 'close_first' });
    // Alone it goes.
    expect(listItem(FRESH, large, 0, SETTINGS, 0).kind).toBe('listed');
    expect(mustClose(given('a', 'b', 'c'), 1, 3, 0)).toBe(true);
    expect(mustClose(given('a', 'b'), 1, 3, 99)).toBe(false);
    expect(mustClose(given('a', 'b'), 1, 3, 100)).toBe(true);
  });

  it('frees the space of a delivery’s older entry when it lists the delivery again', () => {
    const size = 0.6 * MAX_DIGEST_CHARACTERS;
    const large = listItem(given('b'), item('a', { size }), 0, SETTINGS, 0);
    if (large.kind !== 'listed') throw new Error(large.kind);
    expect(listItem(large.next, item('c', { size }), 0, SETTINGS, 0).kind).toBe('close_first');
    expect(listItem(large.next, item('a', { token: 'newer', size }), 0, SETTINGS, 0).kind).toBe('listed');
  });

  it('is due at once after the write that fills its window, so that another process closes it if the writer dies', () => {
    expect(headDueAt(given('a', 'b'))).toBe(100);
    expect(headDueAt(given('a', 'b', 'c'))).toBe(0);
    const rest = MAX_DIGEST_CHARACTERS - 10;
    const full = listItem(given('a'), item('b', { size: rest }), 0, SETTINGS, 7);
    expect(full.kind === 'listed' && headDueAt(full.next)).toBe(100);
    const over = { opened: { closesAt: 5, slide: null }, maxItems: 1 };
    const late = listItem(FRESH, item('a'), 0, over, 2);
    expect(late.kind === 'listed' && headDueAt(late.next)).toBe(2);
  });

  it('closes a window with one write, which fixes the list and increments the window number', () => {
    const head = closed(given('a', 'b'));
    expect(head).toMatchObject({ n: 1, items: [], end: null, closing: { n: 0, at: 50, configNumber: 7 } });
    expect(head.closing?.items).toHaveLength(2);
    expect(headDueAt(head)).toBe(50);
  });

  it('does not close a window before the previous one is emptied, nor a window without items', () => {
    const head = closed(given('a'));
    const more = listItem(head, item('b'), 1, SETTINGS, 0);
    expect(more.kind === 'listed' && closeWindow(more.next, 7, 60)).toBeUndefined();
    expect(closeWindow(FRESH, 7, 60)).toBeUndefined();
  });

  it('is emptied only of the window whose digest was sent', () => {
    const head = closed(given('a'));
    expect(windowEmptied(head, 1, 60)).toBeUndefined();
    expect(windowEmptied(head, 0, 60)).toMatchObject({ closing: null, n: 1 });
    expect(windowEmptied({ ...head, closing: null }, 0, 60)).toBeUndefined();
  });

  it('returns moved_on for a delivery that the closed window lacks, and is_listed for one that it has', () => {
    const head = closed(given('a'));
    expect(listItem(head, item('a'), 0, SETTINGS, 0)).toEqual({ kind: 'is_listed' });
    expect(
      listItem(head, item('is separate for each person, address and digest key', { token: 'other' }), 0, SETTINGS, 0),
    ).toEqual({ kind: 'moved_on' });
    expect(listItem(head, item('b'), 0, SETTINGS, 0)).toEqual({ kind: 'moved_on' });
  });

  it('is separate for each person, address and digest key', () => {
    const parts = (facts: Parameters<typeof givenIntent>[1]) => JSON.stringify(headParts(givenIntent('a', facts)));
    expect(parts({ person: 'u1' })).toBe(parts({ person: 'u1', variables: { x: 1 } }));
    expect(parts({ person: 'u1' })).not.toBe(parts({ person: 'u2' }));
    expect(parts({ person: 'u1', to: 'b@example.com' })).not.toBe(parts({ person: 'u1' }));
    expect(parts({ person: 'u1', digestKey: 'p' })).toBe(parts({ person: 'u1', digestKey: 'p', variables: { x: 1 } }));
    expect(parts({ person: 'u1', digestKey: 'p' })).not.toBe(parts({ person: 'u1', digestKey: 'q' }));
    expect(parts({ person: 'u1', digestKey: 'p' })).not.toBe(parts({ person: 'u2', digestKey: 'p' }));
    // A key that says what a person is called is no person.
    expect(parts({ person: 'u1', digestKey: 'u1' })).not.toBe(parts({ person: 'u1' }));
  });

  it('lists several deliveries with one write, up to the free space and never above the maximum', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), token: fc.nat(3), size: fc.nat(200_000) }),
        ),
        fc.integer({ min: 1, max: 4 }),
        (wanted, maxItems) => {
          const items = wanted.map(({ name, token, size }) => ({
            item: item(name, { token: `${name}${token}`, size }),
            n: 0,
          }));
          const { next, listed } = listItems(FRESH, items, { ...SETTINGS, maxItems }, 0);
          if (!next) {
            expect(listed.size).toBe(0);
            return;
          }
          expect(next.version).toBe(FRESH.version + 1);
          expect(next.items.length).toBeLessThanOrEqual(maxItems);
          expect(new Set(next.items.map(({ deliveryId }) => deliveryId)).size).toBe(next.items.length);
          const characters = next.items.reduce((sum, { size }) => sum + size, 0);
          expect(characters).toBeLessThanOrEqual(MAX_DIGEST_CHARACTERS);
          for (const one of next.items) expect(listed.has(one.token)).toBe(true);
        },
      ),
    );
  });
});
