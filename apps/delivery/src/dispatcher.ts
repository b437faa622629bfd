import type { AccountChoice, Delivery } from '@carillon/domain';
import type { DeliveryId } from '@carillon/kernel';
import { pause, startLoop, type Loop } from '@carillon/runtime';
import { attemptDelivery, publishOutcomes, type AttemptReport } from '@carillon/stages';
import { capacityOf, createAccounts, NO_ACCOUNT } from './accounts.ts';
import { createLanes } from './lanes.ts';
import type { DeliveryPorts } from './ports.ts';

/** One bound for everything that waits in memory. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Rows read from the ledger for one workspace in one round. */
const PAGE = 200;
const NO_ACCOUNT_LANE = 4;
/** The ledger is asked at least this often, whatever hints came. */
const POLL = 1000;
/** What is another process's own has waited so long that it seems to have nobody: longer than a process stays unmissed. */
const ABANDONED = 10_000;

export type Dispatcher = {
  /** A hint that these are due; the ledger has them anyway. */
  readonly offer: (deliveries: readonly Delivery[]) => void;
  /**
   * Ends: no new attempt begins, those under way get until `deadline`. Answers the deliveries whose calls did not come
   * back: nobody waits for them any longer.
   */
  stop(deadline: number): Promise<readonly DeliveryId[]>;
};

/**
 * Takes what is due from the ledger and sends it, each account as many at a time as it has connections. A slow account
 * holds up its own lane only, a busy workspace its own turns only. Of several processes each begins with its own, or
 * they would try for the same deliveries all the time; nothing but work is lost where two do.
 */
export function startDispatcher(ports: DeliveryPorts, isOwn: (delivery: Delivery) => boolean): Dispatcher {
  const { clock, ledger, watch } = ports;
  const lanes = createLanes(MAX_BYTES);
  const accounts = createAccounts({ ...ports, trouble: watch.trouble });
  const choices = new Map<string, AccountChoice>();
  const stopping = new AbortController();
  /** The last reading left rows behind: read again as soon as the lanes are empty. */
  let moreInLedger = false;
  const underWay = new Map<DeliveryId, Promise<void>>();
  const attemptPorts = { ...ports, pause: (span: number) => pause(span), stopping: stopping.signal };

  function enqueue(delivery: Delivery): boolean {
    const choice = accounts.route(delivery, clock.now());
    if (choice) choices.set(choice.key, choice);
    return lanes.add(choice?.key ?? NO_ACCOUNT, delivery);
  }

  function pump(): void {
    if (stopping.signal.aborted) return;
    for (const key of lanes.accounts()) {
      const choice = choices.get(key);
      const capacity = choice ? capacityOf(choice) : NO_ACCOUNT_LANE;
      for (let next = lanes.take(key, capacity); next; next = lanes.take(key, capacity)) begin(key, next);
    }
    watch.queued(lanes.bytes());
  }

  function begin(lane: string, delivery: Delivery): void {
    const running = run(lane, delivery)
      .catch((error: unknown) => watch.trouble('send', error))
      .then((again) => {
        underWay.delete(delivery.id);
        lanes.done(lane, delivery.id);
        if (again === 'reroute') enqueue(delivery);
        if (moreInLedger && lanes.waiting() === 0) loop.nudge();
        pump();
      });
    underWay.set(delivery.id, running);
  }

  async function run(lane: string, delivery: Delivery): Promise<'reroute' | undefined> {
    const now = clock.now();
    // What the configuration says may have changed since it was queued.
    const choice = accounts.route(delivery, now);
    if (choice && choice.key !== lane) return 'reroute';
    const hold = choice ? await accounts.hold(choice) : null;
    const fallback = {
      retryAt: accounts.retryAt(delivery, now),
      anotherAccount: choice ? accounts.another(delivery, choice.key, now) : false,
    };
    const startedAt = clock.now();
    const { traceparent } = delivery.intent;
    const ended = watch.attempt({ deliveryId: delivery.id, channel: delivery.slot.channel, traceparent });
    const report = await attemptDelivery(delivery, hold, fallback, attemptPorts).catch((error: unknown) => {
      ended({ verdict: 'error', code: '', seconds: (clock.now() - startedAt) / 1000, missing: 0 });
      throw error;
    });
    tell(report, lane, (clock.now() - startedAt) / 1000, ended);
    if (report.kind === 'stale') return undefined;
    // The connection is free, and a crash from here on leaves no doubt: the next one need not wait for the log.
    lanes.called(lane, delivery.id);
    pump();
    await publishOutcomes([report.delivery], ports);
    return undefined;
  }

  function tell(
    report: AttemptReport,
    account: string,
    seconds: number,
    ended: ReturnType<DeliveryPorts['watch']['attempt']>,
  ): void {
    if (report.kind !== 'called') return ended({ verdict: report.kind, code: '', seconds, missing: 0 });
    const { verdict, code, detail, alert } = report.result;
    ended({ verdict, code, seconds, missing: report.missing });
    if (alert || verdict === 'refused_account') watch.alert(account, code, detail);
    return undefined;
  }

  const loop: Loop = startLoop(
    POLL,
    async () => {
      if (stopping.signal.aborted) return POLL;
      const now = clock.now();
      moreInLedger = false;
      for (const workspace of await ledger.dueWorkspaces(now)) {
        const page = await ledger.due(workspace, now, PAGE);
        const own = page.filter(isOwn);
        const abandoned = page.filter(({ nextAt }) => (nextAt ?? 0) <= now - ABANDONED);
        const all = (own.length > 0 ? own : abandoned).map(enqueue);
        if (page.length === PAGE || (lanes.full() && all.includes(false))) moreInLedger = true;
      }
      pump();
      const next = await ledger.nextDueAt();
      if (next === null || next <= now) return POLL;
      return Math.min(POLL, Math.max(10, next - clock.now()));
    },
    (error) => watch.trouble('read what is due', error),
  );

  return {
    offer(deliveries) {
      if (stopping.signal.aborted) return;
      const now = clock.now();
      for (const delivery of deliveries) {
        if (delivery.state === 'WAITING' && (delivery.nextAt ?? 0) <= now) enqueue(delivery);
      }
      pump();
    },
    async stop(deadline) {
      stopping.abort();
      const all = Promise.all([loop.stop(), ...underWay.values()]);
      const ended = new AbortController();
      await Promise.race([all, pause(Math.max(0, deadline - clock.now()), ended.signal)]);
      ended.abort();
      const open = [...underWay.keys()];
      // A sender waits for its calls when it closes; those that are still open end with the process.
      if (open.length === 0) await accounts.close();
      return open;
    },
  };
}
