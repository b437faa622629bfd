import { CHANNEL_NAMES, CHANNELS } from '@carillon/domain/channels';
import type { AccountChoice, Delivery } from '@carillon/domain/deliveries';
import type { FoundMessage } from '@carillon/domain/receipts';
import type { DeliveryId, Instant } from '@carillon/kernel';
import type { DueDelivery } from '@carillon/ports';
import { createRecordSink, pause, startLoop, startStageConsumer } from '@carillon/runtime';
import {
  abandon,
  collectForDigest,
  createWaitingCheck,
  createConsentStage,
  createCustodyStage,
  createDoubtSettler,
  createReceiptStage,
  listUnlisted,
  hashNamesOnLog,
  publishConsents,
  removeNamedRecords,
  renderMessage,
  sweep,
  type CustodyPorts,
  type DigestPorts,
} from '@carillon/stages';
import { createAccounts } from './accounts.ts';
import { createStartGate, LOOK_AGAIN, type StartGate } from './start-gate.ts';
import { startDispatcher } from './dispatcher.ts';
import type { DeliveryPorts } from './ports.ts';
import { createRates } from './rates.ts';
import { startWindows } from './windows.ts';
import { createWorkShare, type WorkShare } from './work-share.ts';

/** Cancellations by a restore (`carillon restore --cancel-unsent`). */
type CalledOffConfig = Pick<CustodyPorts, 'calledOffBelow' | 'calledOffJobs'>;

export type DeliveryConfig = CalledOffConfig & {
  /** True if the store's lock proves that no predecessor runs, so its open calls are in doubt immediately. */
  readonly aloneOnStore: boolean;
};

export type DeliveryRole = {
  /** Results of the first sweep, shown at start. */
  readonly recovered: { readonly resumed: number; readonly inDoubt: number };
  /** Stops new work, waits for calls up to 10 s, and appends outcomes, all within 13 s even during an outage. */
  close(): Promise<void>;
};

const SWEEP_INTERVAL_MS = 5_000;
/** Interval of the check for a new configuration. */
const CHANGES_INTERVAL_MS = 1_000;
/** Age below which choices are left to their own publisher. */
const CONSENT_GRACE_MS = 5_000;
const CONSENT_BATCH_SIZE = 200;
/** Interval of rounds over deliveries in doubt. Queries about one delivery are minutes apart. */
const DOUBTS_INTERVAL_MS = 15_000;
const CALLS_TIMEOUT_MS = 10_000;
/** Time after which the remaining work ends with the process. All of it tolerates a kill. */
const CLOSE_TIMEOUT_MS = 13_000;
const FOR_EVER = Number.MAX_SAFE_INTEGER;

/**
 * Starts the delivery role: takes intents into custody, sends due deliveries, applies receipts, and sweeps the remains
 * of a crash.
 */
export async function startDelivery(config: DeliveryConfig, ports: DeliveryPorts): Promise<DeliveryRole> {
  const { ledger, clock, watch } = ports;
  const counts = await ledger.countByState();
  if (config.aloneOnStore) await sweepAll(ports);
  const inDoubt = (await ledger.countByState()).IN_DOUBT ?? 0;
  const startGate = await createStartGate(ports);
  watch.sends(startGate.check);
  // Before the consumers, which find documents by the hash.
  await hashNamesOnLog(ports);
  const held = new Set<number>();
  const share = createWorkShare(ports.log, held, startGate.hasBegun);
  const stopping = new AbortController();
  const sending = startSending(ports, share, stopping.signal);
  const consumers = await startConsumers(config, ports, held, sending.offer);
  const loops = startLoops(ports, { startGate, share, sending, stopping: stopping.signal });

  return {
    recovered: { resumed: counts.WAITING ?? 0, inDoubt },
    async close() {
      const began = clock.now();
      stopping.abort();
      const stopped = Promise.all([...consumers, ...loops].map((part) => part.stop()));
      stopped.catch(() => undefined);
      const open = await sending.stop(began + CALLS_TIMEOUT_MS);
      const ending = (async (): Promise<void> => {
        if (open.length > 0) await abandon(ports, open).catch((error: unknown) => watch.trouble('abandon', error));
        await stopped;
        await sweep(ports, clock.now());
      })().catch((error: unknown) => watch.trouble('stop', error));
      const ended = new AbortController();
      await Promise.race([ending, pause(Math.max(0, began + CLOSE_TIMEOUT_MS - clock.now()), ended.signal)]);
      ended.abort();
    },
  };
}

/** A part of the role that runs until it is stopped. */
type Running = { stop(): Promise<unknown> };

/** Everything that calls providers. */
export type Sending = {
  /** Hints that deliveries are due. They are in the ledger anyway. */
  readonly offer: (due: readonly DueDelivery[]) => void;
  /**
   * Returns messages at the last attempt's provider that resemble the delivery's. Null if the provider cannot say now.
   * Undefined if it never can, or if the message cannot be rendered again.
   */
  find(delivery: Delivery, since: Instant): Promise<readonly FoundMessage[] | null | undefined>;
  /** Lists digest items of a crashed process that are on no list. */
  listUnlisted(): Promise<void>;
  /** Waits for running calls until `deadline`. Returns the deliveries whose calls did not end. */
  stop(deadline: Instant): Promise<readonly DeliveryId[]>;
};

/** Creates the parts of the dispatcher and starts it with the digest windows. */
export function startSending(ports: DeliveryPorts, share: WorkShare, stopping: AbortSignal): Sending {
  const { clock, watch } = ports;
  const trouble = (operation: string, error: unknown): void => watch.trouble(operation, error);
  const accounts = createAccounts({
    ...ports,
    trouble,
    state: (account, state, why) => watch.accountState(account, state, why),
  });
  const rates = createRates({ clock, share: share.fraction, pause });
  const digests: DigestPorts = { ...ports, digestMade: (digest) => dispatcher.offer([digest]) };
  const attempts = {
    ...ports,
    pause: (span: number) => pause(span),
    stopping,
    collect: (deliveries: readonly Delivery[], why: string) => collectForDigest(deliveries, why, digests),
  };
  const dispatcher = startDispatcher(ports, { share, accounts, rates, attempts });
  const windows = startWindows(digests, share, trouble);
  const render = (delivery: Delivery) => async (choice: AccountChoice) => {
    const rendered = await renderMessage(delivery, choice, ports);
    return rendered.ok ? rendered.message : null;
  };
  return {
    offer: dispatcher.offer,
    find: (delivery, since) => accounts.find(delivery, since, render(delivery), stopping),
    async listUnlisted() {
      await listUnlisted(digests, trouble);
    },
    async stop(deadline) {
      const [open] = await Promise.all([dispatcher.stop(deadline), windows.stop(deadline)]);
      // A sender waits for its calls on close, so senders with open calls end with the process.
      if (open.length === 0) await accounts.close();
      return open;
    },
  };
}

/** Starts the consumers of intents, receipts and consents. `held` follows the partitions of intents. */
async function startConsumers(
  { calledOffBelow, calledOffJobs }: DeliveryConfig,
  ports: DeliveryPorts,
  held: Set<number>,
  due: Sending['offer'],
): Promise<readonly Running[]> {
  const { log, checkpoints, watch } = ports;
  const shared = { group: 'delivery', sink: createRecordSink(log), log, checkpoints, watch } as const;
  const custody = createCustodyStage({
    ...ports,
    due,
    ...(calledOffBelow && { calledOffBelow }),
    ...(calledOffJobs && { calledOffJobs }),
  });
  const receipts = createReceiptStage({
    ...ports,
    alert: (account, code, detail) => watch.alert(account, code, detail),
  });
  return [
    await startStageConsumer({ ...shared, topic: 'carillon.intents', stage: custody, held }),
    await startStageConsumer({ ...shared, topic: 'carillon.receipts', stage: receipts }),
    await startStageConsumer({ ...shared, topic: 'carillon.consents', stage: createConsentStage(ports) }),
  ];
}

type LoopParts = {
  readonly startGate: StartGate;
  readonly share: WorkShare;
  readonly sending: Sending;
  readonly stopping: AbortSignal;
};

function startLoops(ports: DeliveryPorts, { startGate, share, sending, stopping }: LoopParts): readonly Running[] {
  const { clock, watch } = ports;
  const checkWaiting = createWaitingCheck({ ...ports, stopping });
  const settler = createDoubtSettler({
    ...ports,
    isOurs: share.hasDelivery,
    channels: CHANNEL_NAMES.filter((name) =>
      ports.senders.some(({ kind, canBeAsked }) => canBeAsked && CHANNELS[name].accounts.includes(kind)),
    ),
    find: (delivery, since) => sending.find(delivery, since),
    trouble: (where, error) => watch.trouble(where, error),
  });
  const loop = (operation: string, every: number, round: () => Promise<unknown>): Running =>
    startLoop(
      every,
      async () => {
        await round();
      },
      (error) => watch.trouble(operation, error),
    );

  let isHashed = false;
  return [
    startLoop(LOOK_AGAIN, startGate.look, (error) => watch.trouble('look whether sending may begin', error)),
    loop('sweep', SWEEP_INTERVAL_MS, async () => {
      await sweep(ports, clock.now());
      await sending.listUnlisted().catch((error: unknown) => watch.trouble('list items of digests', error));
      await publishConsents(
        await ports.consents.unpublished(clock.now() - CONSENT_GRACE_MS, CONSENT_BATCH_SIZE),
        ports,
      );
    }),
    loop('remove records that name people', SWEEP_INTERVAL_MS, async () => {
      isHashed ||= await removeNamedRecords('delivery', ports);
    }),
    // A loop of its own, because a change that concerns very many deliveries takes minutes.
    loop('look through what waits', CHANGES_INTERVAL_MS, checkWaiting),
    loop('ask about doubts', DOUBTS_INTERVAL_MS, () => settler.round()),
  ];
}

/** Sweeps until no SENDING delivery of the predecessor is left. */
async function sweepAll(ports: DeliveryPorts): Promise<void> {
  for (;;) {
    const { doubted } = await sweep(ports, FOR_EVER);
    if (doubted === 0) return;
  }
}
