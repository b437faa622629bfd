import type { ChannelName } from '@carillon/domain/channels';
import type { Attempt, Delivery, Moment } from '@carillon/domain/deliveries';
import {
  applyReceipt,
  askedAbout,
  attemptTag,
  ownMessage,
  type FoundMessage,
  type Receipt,
} from '@carillon/domain/receipts';
import type { AttemptId, Duration, Instant } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import { forEachConcurrently } from '../for-each-concurrently.ts';
import type { OutcomePorts } from './outcomes.ts';
import { rewriteDelivery, transitionAndPublish } from './transition.ts';

export type DoubtPorts = OutcomePorts & {
  readonly clock: Clock;
  /** True if this process handles the delivery. One process per delivery is enough. */
  readonly isOurs: (delivery: Delivery) => boolean;
  /** Channels with a provider that supports queries. Doubts of other channels are not read. */
  readonly channels: readonly ChannelName[];
  /**
   * Returns messages like this one that the last attempt's provider has since `since`. Null if the provider cannot say
   * now. Undefined if it never can, or if the message cannot be rendered again.
   */
  readonly find: (delivery: Delivery, since: Instant) => Promise<readonly FoundMessage[] | null | undefined>;
  /** Called for an error with one doubt. It is retried later and does not delay others. */
  readonly trouble: (where: string, error: unknown) => void;
};

/** Times of the queries after a doubt began. A provider's list may lag, so the intervals grow. */
export const ASKED_AFTER: readonly Duration[] = [60_000, 600_000, 3_600_000];
/** Maximum age of doubts to query after a start. Provider lists are limited, and a person was informed long before. */
const OLDEST: Duration = 24 * 3_600_000;
/** Pause after a query without result. */
const AGAIN: Duration = 60_000;
/** Accounts that are queried concurrently. */
const ACCOUNT_CONCURRENCY = 16;
/** Maximum time per account and round. The remaining doubts follow in the next round. */
const TURN: Duration = 30_000;
const SKEW: Duration = 5 * 60_000;
const PAGE = 200;
const MAX_DOUBTS = 1000;
/** Maximum deliveries to an address. Above that, a found message proves nothing. */
const MAX_OTHERS = 500;

/**
 * Queries providers about deliveries in doubt, if they support it (docs/internals/evidence.md). Accounts are queried
 * concurrently, so that a slow one delays no other. The number of queries is stored in the delivery, so that other
 * processes do not repeat them; a crash causes one extra query, and a proof found twice is the same proof. A query can
 * only end a doubt as accepted. It never sends again, and an empty result proves nothing.
 */
export function createDoubtSettler(ports: DoubtPorts): { round(): Promise<number> } {
  const { ledger, clock } = ports;
  /**
   * Number of past queries and time of the next try, per attempt, because a delivery that is sent again may be in doubt
   * a second time.
   */
  const asked = new Map<AttemptId, { readonly steps: number; readonly notBefore: Instant }>();

  /** `away`: the account cannot be queried now. */
  async function ask({ delivery, attempt, steps }: Due): Promise<'ended' | 'stays' | 'away'> {
    if (attempt.to === null) return 'stays';
    const found = await ports.find(delivery, attempt.startedAt - SKEW);
    if (found === null) {
      asked.set(attempt.id, { steps: steps - 1, notBefore: clock.now() + AGAIN });
      return 'away';
    }
    asked.set(attempt.id, { steps, notBefore: 0 });
    if (found === undefined) return 'stays';
    // Read after the provider's list, so that every owner of a listed message is known.
    const others = found.length === 0 ? null : await deliveriesTo(attempt.to, ledger);
    const proof = others && ownMessage(delivery, others, found);
    if (proof) return (await endDoubt(delivery, proof, ports)) ? 'ended' : 'stays';
    // A stale write means that the delivery moved or another process queried as well.
    await rewriteDelivery(delivery, askedAbout(delivery, steps, clock.now()), ledger);
    return 'stays';
  }

  /** Returns the doubts whose next query is due and not yet made. */
  function dueOf(delivery: Delivery, now: Instant): readonly Due[] {
    const attempt = delivery.attempts.at(-1);
    if (!attempt) return [];
    const age = now - begunAt(delivery);
    const steps = ASKED_AFTER.filter((after) => age >= after).length;
    const before = asked.get(attempt.id) ?? { steps: 0, notBefore: 0 };
    const over = Math.max(before.steps, attempt.asked ?? 0);
    return age > OLDEST || steps <= over || now < before.notBefore ? [] : [{ delivery, attempt, steps }];
  }

  /** Queries one account about its doubts in sequence. Returns the number of ended doubts. */
  async function askAccount(doubts: readonly Due[]): Promise<number> {
    const began = clock.now();
    let ended = 0;
    for (const due of doubts) {
      if (clock.now() - began >= TURN) break;
      try {
        const came = await ask(due);
        if (came === 'away') break;
        if (came === 'ended') ended += 1;
      } catch (error) {
        // The failed query is repeated later; other doubts continue.
        asked.set(due.attempt.id, { steps: due.steps - 1, notBefore: clock.now() + AGAIN });
        ports.trouble('ask about a doubt', error);
      }
    }
    return ended;
  }

  return {
    /** Queries about each due doubt. Resolves to the number of ended doubts. */
    async round() {
      const now = clock.now();
      const all: Delivery[] = [];
      for (const channel of ports.channels) all.push(...(await doubtsOver(channel, ports)));
      const known = new Set(all.map(({ attempts }) => attempts.at(-1)?.id));
      for (const id of asked.keys()) if (!known.has(id)) asked.delete(id);
      const due = all.flatMap((delivery) => dueOf(delivery, now));
      const byAccount = Map.groupBy(due, ({ attempt }) => attempt.account);
      let ended = 0;
      await forEachConcurrently(byAccount.values(), ACCOUNT_CONCURRENCY, async (doubts) => {
        const settled = await askAccount(doubts);
        ended += settled;
      });
      return ended;
    },
  };
}

/** A doubt whose query is due, with its last attempt. */
type Due = { readonly delivery: Delivery; readonly attempt: Attempt; readonly steps: number };

const begunAt = (delivery: Delivery): Instant =>
  delivery.history.findLast(({ state }) => state === 'IN_DOUBT')?.at ?? delivery.updatedAt;

/** Returns doubts per channel, so that one channel cannot fill the page of another. */
async function doubtsOver(channel: ChannelName, { ledger, isOurs }: DoubtPorts): Promise<readonly Delivery[]> {
  const found: Delivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.list({ states: ['IN_DOUBT'], channels: [channel] }, PAGE, cursor);
    found.push(...page.items.filter((delivery) => isOurs(delivery)));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && found.length < MAX_DOUBTS);
  return found;
}

/** Returns all deliveries to an address. Null if there are too many. */
async function deliveriesTo(address: string, ledger: DoubtPorts['ledger']): Promise<readonly Delivery[] | null> {
  const others: Delivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.list({ to: [address] }, PAGE, cursor);
    others.push(...page.items);
    if (others.length > MAX_OTHERS) return null;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return others;
}

/** Ends a doubt as accepted. Returns false if the delivery changed meanwhile. */
async function endDoubt(delivery: Delivery, proof: FoundMessage, ports: DoubtPorts): Promise<boolean> {
  const receipt = receiptOf(delivery, proof, ports);
  const moment: Moment = { now: ports.clock.now(), derive: ports.ids.derive };
  const judged = receipt && applyReceipt(delivery, receipt, moment);
  // A stale write means that the delivery moved with newer information.
  const moved = judged?.kind === 'applied' ? await transitionAndPublish(judged.next, ports) : null;
  if (!moved) return false;
  await moved.published;
  return true;
}

function receiptOf(
  delivery: Delivery,
  { source, providerId, createdAt }: FoundMessage,
  { ids, clock }: DoubtPorts,
): Receipt | null {
  const attempt = delivery.attempts.at(-1);
  return (
    (attempt && {
      id: ids.derive('receipt', source, attempt.account, 'list', providerId),
      source,
      account: attempt.account,
      attempt: { deliveryId: delivery.id, attempt: delivery.attempts.length, tag: attemptTag(attempt.id) },
      verdict: 'note',
      suppress: null,
      alert: false,
      code: '',
      detail: `the message list of the provider has the message as ${providerId}`,
      at: createdAt,
      receivedAt: clock.now(),
      inbound: null,
    }) ??
    null
  );
}
