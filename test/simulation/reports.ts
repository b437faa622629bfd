import type { Delivery } from '@carillon/domain/deliveries';
import { formatPosition } from '@carillon/domain/events';
import type { Report } from '@carillon/domain/receipts';
import type { RecordCodecs } from '@carillon/ports';
import type { Received } from '@carillon/testing/memory';
import { decodeAll } from './oracle.ts';
import { rankOf, STATE_OF, type Said } from './said.ts';
import type { Scheduler } from './scheduler.ts';
import type { Shared, World } from './world.ts';

/** What a provider says afterwards of a message that it took, and what has to come of it. */

const CONDEMNS = { note: null, delivered: null, bounced: 'hard_bounce', complained: 'complaint' } as const;

/** None of a third of the messages; of the others up to three, about each of them anything. */
export function reportsOf({ between, chance }: Scheduler, call: Received): readonly Said[] {
  const count = Math.max(0, between(-1, 3));
  return Array.from({ length: count }, (_, n): Said => {
    const luck = chance();
    const verdict = luck < 0.25 ? 'note' : luck < 0.8 ? 'delivered' : luck < 0.93 ? 'bounced' : 'complained';
    const lie = chance();
    const [isElsewhere, hasNoToken] = [lie < 0.06, lie >= 0.06 && lie < 0.1];
    const report: Report = {
      source: 'postmark',
      eventId: `${call.token}-${n}`,
      token: hasNoToken
        ? call.receiptToken.replace(/.{3}$/, (end) => (end === '000' ? '111' : '000'))
        : call.receiptToken,
      verdict,
      // Some bounces say that the mailbox is full: the address stays good.
      suppress: verdict === 'bounced' && chance() < 0.5 ? null : CONDEMNS[verdict],
      alert: false,
      code: '',
      detail: `said ${n}`,
      at: null,
    };
    const other = call.account === 'main' ? 'spare' : 'main';
    return { report, over: isElsewhere ? other : call.account, call, isForeign: isElsewhere || hasNoToken };
  });
}

const placeOf = (record: Parameters<typeof formatPosition>[0], { log }: World): string =>
  formatPosition({ ...record, logId: log.logId });

/** Where on the log stands what nobody can place. */
export const foreignPlaces = (world: World, codecs: Pick<RecordCodecs, 'receipt'>): readonly string[] =>
  decodeAll(world, 'carillon.receipts', codecs.receipt)
    .filter(({ value }) => world.reported.get(value.id)?.isForeign === true)
    .map(({ record }) => placeOf({ ...record, logId: world.log.logId }, world));

/** Faults after which a process, or what is left of it, may still write what it was about to. */
const LATE_WRITES = ['freeze', 'expel', 'crash', 'stop', 'late', 'again', 'no_answer'];

/**
 * The last STOP or START of a number on the log counts, and none that was answered is lost. A STOP is never undone by
 * what came before it. A START may be: who was thought dead writes down the STOP before it once more, and a START that
 * came in the same millisecond as a STOP is passed over (decision 0057).
 */
export function findUnheeded(world: World, { codecs }: Shared): readonly string[] {
  const read = decodeAll(world, 'carillon.receipts', codecs.receipt).map(({ value }) => value);
  const onLog = new Set(read.map(({ id }) => id));
  const lost = [...world.written].filter((id) => !onLog.has(id)).map((id) => `acknowledged, and not on the log: ${id}`);
  // A message that is there twice was delivered again, and changes nothing the second time.
  const messages = new Map(read.toReversed().map((receipt) => [receipt.id, receipt]));
  const written = read
    .filter((receipt) => messages.get(receipt.id) === receipt)
    .flatMap(({ inbound, receivedAt }) => (inbound ? [{ ...inbound, receivedAt }] : []));
  const last = new Map(written.map(({ address, wish, receivedAt }) => [address, { wish, receivedAt }]));
  const unheeded = [...last].flatMap(([phone, { wish, receivedAt }]) => {
    const isHeld = world.suppressions.has('shop', 'sms', phone, 'stop');
    const isAtOnce = written.some(
      (other) => other.address === phone && other.wish === 'stop' && other.receivedAt === receivedAt,
    );
    const mayBeHeld = wish === 'start' && (isAtOnce || LATE_WRITES.some((fault) => world.seen.has(fault)));
    if (wish === 'start' && !isHeld) world.saw('START heeded');
    return isHeld === (wish === 'stop') || mayBeHeld
      ? []
      : [`${phone} wrote ${wish} last, and is ${isHeld ? '' : 'not '}held back`];
  });
  return [...lost, ...unheeded];
}

/** What a provider said, and got its answer for, is where it belongs: once, and in the state that it leads to. */
export function findUnheard(world: World, { codecs }: Shared): readonly string[] {
  const onLog = new Set(decodeAll(world, 'carillon.receipts', codecs.receipt).map(({ value }) => value.id));
  const { ledger, decided, reported, suppressions } = world;
  const own = [...reported].filter(([, { isForeign }]) => !isForeign);
  const lost = [...reported.keys()]
    .filter((id) => !onLog.has(id))
    .map((id) => `acknowledged, and not on the log: ${id}`);
  const unheard = own.flatMap(([id, { call, report }]) => {
    const times = ledger.get(call.deliveryId)?.receipts.filter((one) => one.detail === report.detail) ?? [];
    const ofThis = times.filter((one) => one.attempt === attemptOf(ledger.get(call.deliveryId), call.token));
    if (ofThis.some((one) => one.id === id) && ofThis.length === 1) return [];
    if (ofThis.length > 1) return [`${call.deliveryId} holds what was said once several times: ${id}`];
    return [`the provider said ${report.verdict} of ${call.deliveryId}, and its delivery has not heard of it`];
  });
  const unlisted = own.flatMap(([, { call, report }]) => {
    if (report.suppress === null || suppressions.has('shop', call.message.channel, call.message.to)) return [];
    return [`${call.message.to} is condemned (${report.suppress}), and is not on the list`];
  });
  const untrue = [...Map.groupBy(own, ([, { call }]) => call.deliveryId)].flatMap(([id, of]) => {
    const delivery = ledger.get(id);
    // What an operator said of a doubt counts, right or wrong.
    if (!delivery || decided.has(id)) return [];
    const states = of.map(([, { report }]) => STATE_OF[report.verdict]);
    const highest = states.toSorted((a, b) => rankOf({ state: b }) - rankOf({ state: a }))[0];
    return delivery.state === highest ? [] : [`${id} is ${delivery.state}, though the provider reported ${highest}`];
  });
  return [...lost, ...unheard, ...unlisted, ...untrue];
}

const attemptOf = (delivery: Delivery | null, token: string): number =>
  (delivery?.attempts.findIndex((attempt) => attempt.token === token) ?? -1) + 1;
