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

/** One bound for everything that waits in memory. */
const MAX_BYTES = 32 * 1024 * 1024;
/** What a delivery takes beside the text that it was read from. */
const OVERHEAD_BYTES = 1000;
/** Rows read from the ledger for one workspace in one round. */
const PAGE = 200;
const NO_ACCOUNT_PLACES = 4;
/** Where items of digests wait to be collected: they need no account, and a slow one must not hold them up. */
const ITEMS = 'items of digests';
const ITEM_PLACES = 16;
/** Items that are listed with one write of their head, and how many that wait are looked through for them. */
const ITEM_BATCH_SIZE = 50;
const ITEMS_LOOKED_THROUGH = 500;
const NOT_REACHED = 'no account of the notification sends to this address (allow)';
/** For each place of an account so many outcomes may be on their way to the log; where that is slow, calls wait for it. */
const PUBLISHING = 8;
/** The ledger is asked at least this often, whatever hints came. */
const POLL = 1000;
/** So often it is looked whether sending may begin. */
const HELD_BACK: Duration = 100;
/** What is another process's own has waited so long that it seems to have nobody: longer than a process stays unmissed. */
const ABANDONED = 10_000;

export type Dispatcher = {
  /** A hint that these are due; the ledger has them anyway. */
  readonly offer: (due: readonly DueDelivery[]) => void;
  /**
   * Begins no new attempt, and gives those under way until `deadline`. Returns the deliveries whose calls did not come back: nobody
   * waits for them any longer. The signal `stopping` has to be aborted before.
   */
  stop(deadline: number): Promise<readonly DeliveryId[]>;
};

/** What a dispatcher works with. `start.ts` makes the parts. */
export type DispatcherParts = {
  readonly share: WorkShare;
  readonly accounts: Accounts;
  readonly rates: Rates;
  readonly attempts: AttemptPorts;
};

/** What is told of an attempt that did not come to calling the provider. */
const UNCALLED = { attemptId: null, account: null, code: '', missing: 0, wrongLocality: [] } as const;

/**
 * Takes what is due from the ledger and sends it, each account as many at a time as it has connections. A slow account
 * holds up its own lane only, a busy workspace its own turns only. No attempt begins before the share says so.
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

  /** Answers the delivery again where it is to be sent over another account than the one it was queued for. */
  async function send(lane: string, due: DueDelivery, called: () => void): Promise<readonly DueDelivery[]> {
    const { delivery } = due;
    const queuedFor = choices.get(lane);
    if (queuedFor && !(await rates.take(queuedFor, attempts.stopping))) return [];
    const now = clock.now();
    // What the configuration says may have changed since it was queued.
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
    // The connection is free, and a crash from here on leaves no doubt: the next one need not wait for the log.
    called();
    await report.published;
    return [];
  }

  /** Answers those that are to be sent alone after all. */
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
        const abandoned = page.filter(({ delivery }) => (delivery.nextAt ?? 0) <= now - ABANDONED);
        const added = scheduler.enter(own.length > 0 ? own : abandoned);
        scheduler.leftInStore(workspace, page.length === PAGE || added.includes('full'));
      }
      const next = await ledger.nextDueAt(now + POLL);
      if (next === null || next <= now) return POLL;
      return Math.min(POLL, Math.max(10, next - clock.now()));
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

/** The first waiting item, and others that go into its digest. */
function itemsOfOneDigest<Item extends { readonly work: DueDelivery }>(waiting: readonly Item[]): readonly Item[] {
  const [first] = waiting;
  if (!first) return [];
  return waiting
    .slice(0, ITEMS_LOOKED_THROUGH)
    .filter(({ work }) => sharesDigest(work.delivery, first.work.delivery))
    .slice(0, ITEM_BATCH_SIZE);
}

/** What metrics and traces get of an attempt. */
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
