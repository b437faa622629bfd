import {
  callsAtOnce,
  findNotification,
  goesIntoDigest,
  type AccountChoice,
  type Delivery,
} from '@carillon/domain/deliveries';
import type { DeliveryId, Duration } from '@carillon/kernel';
import type { DueDelivery } from '@carillon/ports';
import { startScheduler, type WorkPolicy } from '@carillon/runtime';
import { attemptDelivery, takeInItems, type AttemptPorts, type AttemptReport } from '@carillon/stages';
import { NO_ACCOUNT, type Accounts } from './accounts.ts';
import type { AttemptSummary, DeliveryPorts } from './ports.ts';
import type { Rates } from './rates.ts';
import { sharesDigest } from './windows.ts';
import type { WorkShare } from './work-share.ts';

/** Bytes of all deliveries waiting in memory. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Memory of a delivery besides the text it was read from. */
const OVERHEAD_BYTES = 1000;
/** Deliveries read from the ledger per workspace and round. */
const PAGE = 200;
const NO_ACCOUNT_PLACES = 4;
/** Queue of digest items. They need no account, so a slow account must not delay them. */
const ITEMS = 'items of digests';
const ITEM_PLACES = 16;
/** Digest items that are listed with one write of their head. */
const ITEM_BATCH_SIZE = 50;
const ITEMS_LOOKED_THROUGH = 500;
const NOT_REACHED = 'no account of the notification sends to this address (allow)';
/** Outcomes per account connection that may be in publication. If the log is slow, calls wait for it. */
const PUBLISHING = 8;
/** Maximum time between reads of the ledger. */
const POLL_INTERVAL_MS = 1000;
/** Interval of the check whether sending may begin. */
const HELD_BACK: Duration = 100;
/**
 * Waiting time after which deliveries of another process count as abandoned. Longer than the detection of a dead
 * process.
 */
const ABANDONED_AFTER_MS = 10_000;

export type Dispatcher = {
  /** Hints that these deliveries are due. They are in the ledger anyway. */
  readonly offer: (due: readonly DueDelivery[]) => void;
  /**
   * Starts no new attempt and waits for running ones until `deadline`. Returns the deliveries whose calls did not end,
   * which are then abandoned. The caller must abort `stopping` first.
   */
  stop(deadline: number): Promise<readonly DeliveryId[]>;
};

/** Parts of a dispatcher, created by `start.ts`. */
export type DispatcherParts = {
  readonly share: WorkShare;
  readonly accounts: Accounts;
  readonly rates: Rates;
  readonly attempts: AttemptPorts;
};

/** Summary of an attempt that made no call. */
const UNCALLED = { attemptId: null, account: null, code: '', missing: 0, wrongLocality: [] } as const;

/**
 * Sends due deliveries from the ledger, with as many concurrent calls per account as it has connections. A slow account
 * delays only its own queue, and a busy workspace only its own deliveries. No attempt begins before the share allows
 * it.
 */
export function startDispatcher(
  { clock, ledger, configuration, watch }: Pick<DeliveryPorts, 'clock' | 'ledger' | 'configuration' | 'watch'>,
  { share, accounts, rates, attempts }: DispatcherParts,
): Dispatcher {
  const choices = new Map<string, AccountChoice>();

  function laneOf({ delivery }: DueDelivery): string {
    if (isItem(delivery)) return ITEMS;
    const choice = accounts.route(delivery, clock.now());
    if (choice) choices.set(choice.key, choice);
    return choice?.key ?? NO_ACCOUNT;
  }

  const isItem = (delivery: Delivery): boolean =>
    goesIntoDigest(delivery, findNotification(configuration.current(), delivery.slot));

  function placesOf(lane: string): number {
    if (lane === ITEMS) return ITEM_PLACES;
    const choice = choices.get(lane);
    return choice ? callsAtOnce(choice.body) : NO_ACCOUNT_PLACES;
  }

  /** Returns the delivery if it must go through another account than the queue's. */
  async function send(lane: string, due: DueDelivery, called: () => void): Promise<readonly DueDelivery[]> {
    const { delivery } = due;
    const queuedFor = choices.get(lane);
    if (queuedFor && !(await rates.take(queuedFor, attempts.stopping))) return [];
    const now = clock.now();
    // The configuration may have changed while the delivery was queued.
    const choice = accounts.route(delivery, now);
    if (choice && choice.key !== lane) return [due];
    const hold = choice ? await accounts.hold(choice) : null;
    if (choice && !hold) return [due];
    const fallback = {
      retryAt: accounts.retryAt(delivery, now),
      ...(accounts.noneReaches(delivery) && { noAccount: NOT_REACHED }),
      anotherAccount: choice ? accounts.another(delivery, choice.key, now) : false,
    };
    const startedAt = clock.now();
    const ended = watch.attempt(delivery);
    const report = await attemptDelivery(delivery, hold, fallback, attempts).catch((error: unknown) => {
      ended({ ...UNCALLED, verdict: 'error', seconds: (clock.now() - startedAt) / 1000 });
      throw error;
    });
    ended(summaryOf(report, lane, (clock.now() - startedAt) / 1000));
    alertOf(report, lane, watch);
    if (report.kind === 'stale' || report.kind === 'collected') return [];
    // The connection is free. A crash after this leaves no doubt, so the next call need not wait for the log.
    called();
    await report.published;
    return [];
  }

  /** Returns deliveries that must be sent alone. */
  async function takeIn(items: readonly DueDelivery[]): Promise<readonly DueDelivery[]> {
    const alone = await takeInItems(
      items.map(({ delivery }) => delivery),
      attempts,
    );
    const ids = new Set(alone.map(({ id }) => id));
    return items.filter(({ delivery }) => ids.has(delivery.id) && !isItem(delivery));
  }

  const policy: WorkPolicy<DueDelivery> = {
    idOf: ({ delivery }) => delivery.id,
    bytesOf: ({ bytes }) => OVERHEAD_BYTES + bytes,
    ownerOf: ({ delivery }) => delivery.slot.workspace,
    laneOf,
    bounds: { bytes: MAX_BYTES },
    limits({ name }) {
      const places = placesOf(name);
      return { places, ahead: 0, settling: places * PUBLISHING, held: Number.POSITIVE_INFINITY };
    },
    pick: (waiting, { name }) => (name === ITEMS ? itemsOfOneDigest(waiting) : waiting.slice(0, 1)),
    async run(lane, call, called) {
      const [due] = call;
      if (lane === ITEMS) return takeIn(call);
      return due ? send(lane, due, called) : [];
    },
    async read() {
      if (!share.mayBegin()) return HELD_BACK;
      const now = clock.now();
      for (const workspace of await ledger.dueWorkspaces(now)) {
        const page = await ledger.due(workspace, now, PAGE);
        const own = page.filter(({ delivery }) => share.hasDelivery(delivery));
        const abandoned = page.filter(({ delivery }) => (delivery.nextAt ?? 0) <= now - ABANDONED_AFTER_MS);
        const added = scheduler.enter(own.length > 0 ? own : abandoned);
        scheduler.leftInStore(workspace, page.length === PAGE || added.includes('full'));
      }
      const next = await ledger.nextDueAt(now + POLL_INTERVAL_MS);
      if (next === null || next <= now) return POLL_INTERVAL_MS;
      return Math.min(POLL_INTERVAL_MS, Math.max(10, next - clock.now()));
    },
    readOnBelow: 1,
  };
  const offer = (offered: readonly DueDelivery[]): void => {
    if (!share.mayBegin()) return;
    const now = clock.now();
    scheduler.enter(offered.filter(({ delivery: { state, nextAt } }) => state === 'WAITING' && (nextAt ?? 0) <= now));
  };
  const scheduler = startScheduler(policy, { clock, changed: (bytes) => watch.queued(bytes), trouble: watch.trouble });

  return {
    offer,
    async stop(deadline) {
      const open = await scheduler.stop(deadline);
      return open.map(({ delivery }) => delivery.id);
    },
  };
}

/** Picks the first waiting item with others of the same digest. */
function itemsOfOneDigest<Item extends { readonly work: DueDelivery }>(waiting: readonly Item[]): readonly Item[] {
  const [first] = waiting;
  if (!first) return [];
  return waiting
    .slice(0, ITEMS_LOOKED_THROUGH)
    .filter(({ work }) => sharesDigest(work.delivery, first.work.delivery))
    .slice(0, ITEM_BATCH_SIZE);
}

/** Summarizes an attempt for metrics and traces. */
function summaryOf(report: AttemptReport, account: string, seconds: number): AttemptSummary {
  if (report.kind !== 'called') return { ...UNCALLED, verdict: report.kind, seconds };
  const { verdict, code } = report.result;
  const { missing, wrongLocality } = report;
  const attemptId = report.delivery.attempts.at(-1)?.id ?? null;
  return { attemptId, account, verdict, code, seconds, missing, wrongLocality };
}

function alertOf(report: AttemptReport, account: string, watch: DeliveryPorts['watch']): void {
  if (report.kind !== 'called') return;
  const { verdict, code, detail, alert } = report.result;
  if (alert || verdict === 'refused_account') watch.alert(account, code, detail);
}
