import { describe, expect, it } from 'vitest';
import type { Configuration, NotificationBody } from '../../src/configuration/index.ts';
import {
  decideCustody,
  openDelivery,
  operatorCancel,
  operatorResend,
  withdrawal,
  type Delivery,
  findNotification,
} from '../../src/deliveries/index.ts';
import {
  closeWindow,
  collectFor,
  digestIntent,
  digestItem,
  digestOf,
  digestSlot,
  dissolvedItem,
  emptyHead,
  isCollectable,
  itemOf,
  knownListed,
  listItem,
  UNLISTED_AFTER,
  type DigestHead,
} from '../../src/digests/index.ts';
import type { DeliveryId } from '@carillon/kernel';
import { at, configurationOf, givenIntent, HOUR, MINUTE, MORNING, notification } from '@carillon/testing/given';

const DIGEST = 'dlv_digest' as DeliveryId;
const waiting = (name: string, facts: Parameters<typeof givenIntent>[1] = {}): Delivery =>
  openDelivery(givenIntent(name, { uniqueId: name, ...facts }), 'p', `dlv_${name}` as DeliveryId, at(MORNING));
function collected(before: Delivery, n = 0, token = `t ${before.id}`) {
  const next = collectFor(before, { head: 'dgh_1', n, token }, 'for a digest', at(MORNING));
  if (!next?.collected) throw new Error('not collected');
  return { ...next, collected: next.collected };
}
function digested(before: Delivery): Delivery {
  const held = collected(before);
  const emptied = digestItem(held, itemOf(held), DIGEST, at(MORNING));
  if (emptied.kind !== 'digested') throw new Error(emptied.kind);
  return emptied.next;
}
const namedBy = ({ intent }: Delivery, nth = 1) => ({ intentId: intent.id, nth });
const ended = (state: Delivery['state'], clean = true) => ({ state, clean });

describe('a message that is collected for a digest', () => {
  it('is COLLECTED with an outcome, and is checked again until the digest lists it', () => {
    const held = collected(waiting('a'), 3, 'x');
    expect(held).toMatchObject({ state: 'COLLECTED', collected: { head: 'dgh_1', n: 3, token: 'x' } });
    expect(held.nextAt).toBe(MORNING + UNLISTED_AFTER);
    expect(held.unpublished.at(-1)).toMatchObject({ state: 'COLLECTED', reason: 'collected' });
    expect(knownListed(held, 'x')).toMatchObject({ nextAt: null, version: held.version + 1 });
    expect(knownListed(held, 'another')).toBeUndefined();
  });

  it('becomes DIGESTED only with the token under which the digest lists it', () => {
    const held = collected(waiting('a'), 0, 'x');
    const listed = itemOf(held);
    const emptied = digestItem(held, listed, DIGEST, at(MORNING));
    expect(emptied).toMatchObject({ kind: 'digested', next: { state: 'DIGESTED', digestedIn: DIGEST, nextAt: null } });
    const next = emptied.kind === 'digested' ? emptied.next : held;
    expect(digestItem(next, listed, DIGEST, at(MORNING))).toEqual({ kind: 'is_digested' });
    expect(digestItem(held, { ...listed, token: 'older' }, DIGEST, at(MORNING))).toEqual({ kind: 'left_out' });
  });

  it('is left out after it is cancelled, even if it was resent and collected again', () => {
    const held = collected(waiting('a'), 0, 'x');
    const cancelled = operatorCancel(held, 'ann', at(MORNING));
    if (!cancelled.ok) throw new Error(cancelled.error);
    expect(digestItem(cancelled.value, itemOf(held), DIGEST, at(MORNING))).toEqual({ kind: 'left_out' });
    const resent = operatorResend(cancelled.value, HOUR, 'ann', at(MORNING));
    if (!resent.ok) throw new Error(resent.error);
    // It waits to be sent by itself, and still says for which window it was collected.
    expect(digestItem(resent.value, itemOf(held), DIGEST, at(MORNING))).toEqual({ kind: 'left_out' });
    const again = collected(resent.value, 0, 'y');
    expect(digestItem(again, itemOf(held), DIGEST, at(MORNING))).toEqual({ kind: 'left_out' });
    expect(digestItem(again, itemOf(again), DIGEST, at(MORNING)).kind).toBe('digested');
  });

  it('is never a delivery that may have been accepted, nor a digest itself', () => {
    expect(isCollectable(waiting('a'))).toBe(true);
    expect(isCollectable({ ...waiting('a'), clean: false })).toBe(false);
    const intent = givenIntent('d', { digest: { head: 'dgh_1', n: 0, items: [] } });
    expect(isCollectable(openDelivery(intent, '', DIGEST, at(MORNING)))).toBe(false);
  });

  it.each([
    ['nothing yet', null, 'duplicate'],
    ['one that waits', ended('WAITING'), 'duplicate'],
    ['one that was sent', ended('SENT'), 'duplicate'],
    ['one that failed', ended('FAILED'), 'taken_over'],
    ['one that was suppressed', ended('SUPPRESSED'), 'taken_over'],
    ['one that expired', ended('EXPIRED'), 'taken_over'],
    ['one that an operator called off', ended('CANCELLED'), 'duplicate'],
    ['one that failed after a doubt', ended('FAILED', false), 'duplicate'],
  ] as const)('counts like its digest when another message with its unique_id arrives: %s', (_what, digest, kind) => {
    const holder = digested(waiting('a'));
    const judged = decideCustody(holder, givenIntent('b', { uniqueId: 'a' }), 'p', at(MORNING), { digest });
    expect(judged.kind).toBe(kind);
    if (judged.kind !== 'taken_over') return;
    expect(judged.next).not.toHaveProperty('collected');
    expect(judged.next).not.toHaveProperty('digestedIn');
    expect(digestItem(judged.next, itemOf(collected(waiting('a'))), DIGEST, at(MORNING)).kind).toBe('left_out');
  });
});

describe('the digest message', () => {
  const NOTIFICATION: NotificationBody = {
    channels: { email: { template: 'order-paid' } },
    rules: { paid: { when: 'true', recipients: { from: 'event', to: { email: 'event.email' } } } },
    expires: '2h',
    cadence: { digest: { window: { fixed: '1h' }, template: 'orders-digest' } },
  };
  const pinned: Configuration = configurationOf([notification('order-paid', NOTIFICATION)]);
  const slot = { ...givenIntent('a').slot, notificationId: 'shop/order-paid' };
  const keyed = (...parts: readonly string[]): string => parts.join('|');
  const items = [
    waiting('b', { causedAt: MORNING + 2 * MINUTE, variables: { total: 2, time_zone: 'Asia/Tokyo' }, person: 'new' }),
    waiting('a', { causedAt: MORNING, variables: { total: 1 }, digestKey: 'p' }),
  ];
  function closedOf(all: readonly Delivery[]): DigestHead {
    let head = emptyHead('dgh_1', slot);
    for (const one of all) {
      const listing = listItem(
        head,
        itemOf(collected(one)),
        0,
        { opened: { closesAt: 9, slide: null }, maxItems: 9 },
        0,
      );
      if (listing.kind === 'listed') head = listing.next;
    }
    return closeWindow(head, 4, MORNING + HOUR) ?? head;
  }
  const head = closedOf(items);
  const made = (all: readonly Delivery[] = items) => {
    if (!head.closing) throw new Error('open');
    return digestIntent(head, head.closing, { naming: namedBy(items[0]!), included: all }, pinned, {
      derive: at(0).derive,
      keyed,
    });
  };

  it('has the items oldest first, their count and first time, and the newest values as variables', () => {
    expect(made().variables).toEqual({
      total: 2,
      time_zone: 'Asia/Tokyo',
      items: [{ total: 1 }, { total: 2, time_zone: 'Asia/Tokyo' }],
      count: 2,
      first_at: new Date(MORNING).toISOString(),
      last_at: new Date(MORNING + 2 * MINUTE).toISOString(),
    });
    expect(made()).toMatchObject({ person: 'new', template: 'orders-digest', configNumber: 4 });
    expect(made()).not.toHaveProperty('digestKey');
  });

  it('is the same whichever process makes it, and its expiry counts from the close of its window', () => {
    expect(made(items.toReversed())).toEqual(made());
    expect(made()).toMatchObject({ sendAt: MORNING + HOUR, notAfter: MORNING + 3 * HOUR });
  });

  it('derives its unique_id from the digest head and the first message', () => {
    const other = digestSlot(head, namedBy(items[1]!), keyed);
    expect(made().slot).toEqual(digestSlot(head, namedBy(items[0]!), keyed).slot);
    expect(other.id).not.toBe(digestSlot(head, namedBy(items[0]!), keyed).id);
    expect(digestSlot(head, namedBy(items[0]!, 2), keyed).id).not.toBe(digestSlot(head, namedBy(items[0]!), keyed).id);
    expect(digestSlot({ ...head, id: 'dgh_2' }, namedBy(items[0]!), keyed).id).not.toBe(
      digestSlot(head, namedBy(items[0]!), keyed).id,
    );
  });

  it('leaves out messages that another digest has covered when an operator resends it', () => {
    const failed: Delivery = { ...openDelivery(made(), '', DIGEST, at(MORNING)), state: 'FAILED' };
    const resent = operatorResend(failed, HOUR, 'ann', at(MORNING));
    if (!resent.ok) throw new Error(resent.error);
    expect(resent.value.intent.digest?.recheck).toBe(true);
    const left = digestOf(resent.value.intent, ({ deliveryId }) => deliveryId === 'dlv_a');
    expect(left?.variables).toMatchObject({ total: 1, count: 1, items: [{ total: 1 }] });
    expect(left?.digest?.items).toHaveLength(1);
    expect(left?.digest).not.toHaveProperty('recheck');
    expect(digestOf(resent.value.intent, () => false)).toBeNull();
  });

  it('leaves out messages of another deployment’s open window, which are sent alone and keep their lifetime', () => {
    const late = MORNING + 5 * HOUR;
    const own = { slot: { ...slot, uniqueId: 'a' }, notAfter: MORNING + 2 * HOUR };
    const left = dissolvedItem(collected(waiting('a', own)), pinned, late);
    expect(left).toMatchObject({ state: 'WAITING', reason: 'new', intent: { notAfter: late + 2 * HOUR } });
    expect(left).not.toHaveProperty('collected');
    const patient = collected(waiting('a', { ...own, notAfter: late + 9 * HOUR }));
    expect(dissolvedItem(patient, pinned, late).intent.notAfter).toBe(late + 9 * HOUR);
  });

  it('is sent while the rule of at least one of its messages exists', () => {
    const digest = openDelivery(made(), '', DIGEST, at(MORNING));
    const before = { newest: pinned, consents: [], suppressed: null, now: MORNING };
    const found = findNotification(pinned, slot);
    expect(withdrawal({ ...before, delivery: digest, notification: found }).kind).toBe('end');
    const [first, ...others] = made().digest?.items ?? [];
    if (!first) throw new Error('no items');
    const published = [{ ...first, ruleId: 'shop/order-paid.paid' }, ...others];
    const mixed = { ...digest, intent: { ...digest.intent, digest: { head: 'dgh_1', n: 0, items: published } } };
    expect(withdrawal({ ...before, delivery: mixed, notification: found }).kind).toBe('go');
  });
});
