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
  /** Whether this process looks after it; of several processes one is enough. */
  readonly isOurs: (delivery: Delivery) => boolean;
  /** Those that have a provider which can be asked: doubts of the others are not read. */
  readonly channels: readonly ChannelName[];
  /**
   * What the provider of the last attempt has like its message, made since; null: it cannot be found out now. Undefined: this
   * provider cannot be asked, or the message cannot be written again.
   */
  readonly find: (delivery: Delivery, since: Instant) => Promise<readonly FoundMessage[] | null | undefined>;
  /** Something went wrong over one doubt; it is asked about again, and the others are not held up. */
  readonly trouble: (where: string, error: unknown) => void;
};

/** After a doubt began: the list of a provider may be behind, and the later it is asked the less. */
export const ASKED_AFTER: readonly Duration[] = [60_000, 600_000, 3_600_000];
/** Older doubts are not asked about when a process starts: lists end, and a person has long been told. */
const OLDEST: Duration = 24 * 3_600_000;
/** Where nothing could be found out. */
const AGAIN: Duration = 60_000;
/** So many accounts are asked side by side. */
const ACCOUNT_CONCURRENCY = 16;
/** After this long an account has had its turn, whatever is left of its doubts: it goes on in the next round. */
const TURN: Duration = 30_000;
const SKEW: Duration = 5 * 60_000;
const PAGE = 200;
const MAX_DOUBTS = 1000;
/** An address that more deliveries went to proves nothing. */
const MAX_OTHERS = 500;

/**
 * Asks providers about what is in doubt, where they can be asked (docs/internals/evidence.md). Accounts are asked side by side, so that one
 * which is slow, or away, holds up no other. What was asked stands in the delivery, so that no process asks again; one that dies in
 * between asks once more, and proof found twice is the same proof. It only ever ends a doubt as accepted; nothing is sent again, and
 * nothing found proves nothing.
 */
export function createDoubtSettler(ports: DoubtPorts): { round(): Promise<number> } {
  const { ledger, clock } = ports;
  /**
   * How many of the times are over, and when to ask again where it could not be asked. By the attempt: a delivery that is sent again
   * may be in doubt a second time, and that doubt has all its own times.
   */
  const asked = new Map<AttemptId, { readonly steps: number; readonly notBefore: Instant }>();

  /** `away`: its account cannot be asked now. */
  async function ask({ delivery, attempt, steps }: Due): Promise<'ended' | 'stays' | 'away'> {
    if (attempt.to === null) return 'stays';
    const found = await ports.find(delivery, attempt.startedAt - SKEW);
    if (found === null) {
      asked.set(attempt.id, { steps: steps - 1, notBefore: clock.now() + AGAIN });
      return 'away';
    }
    asked.set(attempt.id, { steps, notBefore: 0 });
    if (found === undefined) return 'stays';
    // After the list, so that whoever owns one of its messages by now is seen.
    const others = found.length === 0 ? null : await deliveriesTo(attempt.to, ledger);
    const proof = others && ownMessage(delivery, others, found);
    if (proof) return (await endDoubt(delivery, proof, ports)) ? 'ended' : 'stays';
    // Stale: somebody moved it meanwhile, or asked as well.
    await rewriteDelivery(delivery, askedAbout(delivery, steps, clock.now()), ledger);
    return 'stays';
  }

  /** Whether a time to ask has come that nobody has asked at. */
  function dueOf(delivery: Delivery, now: Instant): readonly Due[] {
    const attempt = delivery.attempts.at(-1);
    if (!attempt) return [];
    const age = now - begunAt(delivery);
    const steps = ASKED_AFTER.filter((after) => age >= after).length;
    const before = asked.get(attempt.id) ?? { steps: 0, notBefore: 0 };
    const over = Math.max(before.steps, attempt.asked ?? 0);
    return age > OLDEST || steps <= over || now < before.notBefore ? [] : [{ delivery, attempt, steps }];
  }

  /** Asks one account about its doubts, one after another; answers how many were ended. */
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
        // It keeps its turn, and the others have theirs.
        asked.set(due.attempt.id, { steps: due.steps - 1, notBefore: clock.now() + AGAIN });
        ports.trouble('ask about a doubt', error);
      }
    }
    return ended;
  }

  return {
    /** Asks about each doubt whose time has come; resolves with how many were ended. */
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

/** A doubt is about the last attempt: nobody knows how it ended. */
type Due = { readonly delivery: Delivery; readonly attempt: Attempt; readonly steps: number };

const begunAt = (delivery: Delivery): Instant =>
  delivery.history.findLast(({ state }) => state === 'IN_DOUBT')?.at ?? delivery.updatedAt;

/** Doubts of one channel, so that none can fill the page of another. */
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

/** All deliveries to an address. Null if there are too many to look through. */
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

/** Ends a doubt as accepted. Returns false if the delivery changed in the meantime. */
async function endDoubt(delivery: Delivery, proof: FoundMessage, ports: DoubtPorts): Promise<boolean> {
  const receipt = receiptOf(delivery, proof, ports);
  const moment: Moment = { now: ports.clock.now(), derive: ports.ids.derive };
  const judged = receipt && applyReceipt(delivery, receipt, moment);
  // Stale: somebody moved it meanwhile, and what he knows is newer.
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
      detail: `its list has the message as ${providerId}`,
      at: createdAt,
      receivedAt: clock.now(),
      inbound: null,
    }) ??
    null
  );
}
