import { CHANNEL_NAMES, CHANNELS, partitionOf, type Delivery } from '@carillon/domain';
import { createRecordSink, pause, startLoop, startStageConsumer } from '@carillon/runtime';
import {
  abandon,
  createAfterChange,
  createConsentStage,
  createCustodyStage,
  createDoubtSettler,
  createReceiptStage,
  intentKeyOf,
  publishConsents,
  sweep,
  type CalledOff,
} from '@carillon/stages';
import { createBeginning, LOOK_AGAIN } from './beginning.ts';
import { startDispatcher } from './dispatcher.ts';
import type { DeliveryPorts } from './ports.ts';

export type DeliveryConfig = {
  /** The store's lock proves every predecessor dead, so its calls under way are in doubt at once. */
  readonly aloneOnStore: boolean;
  /** What a restore called off (`carillon restore --cancel-unsent`). */
  readonly calledOffBelow?: CalledOff;
};

export type DeliveryRole = {
  /** What the first sweep found: shown at start. */
  readonly recovered: { readonly resumed: number; readonly inDoubt: number };
  /** Stops taking work, gives calls under way up to 10 s, appends outcomes: all within 13 s, whatever is away. */
  close(): Promise<void>;
};

const SWEEP_EVERY = 5_000;
/** So often it is looked whether the configuration is a new one. */
const CHANGES_EVERY = 1_000;
/** Words younger than this are still being published by whoever wrote them. */
const CONSENT_GRACE = 5_000;
const CONSENTS_AT_ONCE = 200;
/** The times at which providers are asked are minutes apart. */
const DOUBTS_EVERY = 15_000;
const CALLS_END = 10_000;
/** What has not ended by then ends with the process: it is all safe to be killed. */
const ALL_ENDS = 13_000;
const FOR_EVER = Number.MAX_SAFE_INTEGER;

/** The delivery role: takes intents into custody, sends what is due, applies receipts, sweeps what nobody finished. */
export async function startDelivery(config: DeliveryConfig, ports: DeliveryPorts): Promise<DeliveryRole> {
  const { ledger, clock, watch } = ports;
  const counts = await ledger.countByState();
  if (config.aloneOnStore) await sweepAll(ports);
  const inDoubt = (await ledger.countByState()).IN_DOUBT ?? 0;
  const held = new Set<number>();
  const partitions = ports.log.partitions('carillon.intents');
  const beginning = await createBeginning(ports);
  watch.sends(beginning.check);
  const dispatcher = startDispatcher(
    ports,
    (delivery) => held.has(partitionOfIntent(delivery, ports)),
    ({ id }) => held.has(partitionOf(id, partitions)),
    // Who holds nothing yet sends what others left behind: as much as if one partition were its own.
    () => Math.max(1, held.size) / partitions,
    beginning.hasBegun,
  );
  const reading = startLoop(LOOK_AGAIN, beginning.look, (error) =>
    watch.trouble('look whether sending may begin', error),
  );
  const custody = createCustodyStage({
    ...ports,
    due: dispatcher.offer,
    ...(config.calledOffBelow && { calledOffBelow: config.calledOffBelow }),
  });
  const consumption = await startStageConsumer({
    group: 'delivery',
    topic: 'carillon.intents',
    stage: custody,
    sink: createRecordSink(ports.log),
    log: ports.log,
    checkpoints: ports.checkpoints,
    watch,
    held,
  });
  const receipts = await startStageConsumer({
    group: 'delivery',
    topic: 'carillon.receipts',
    stage: createReceiptStage({ ...ports, alert: (account, code, detail) => watch.alert(account, code, detail) }),
    sink: createRecordSink(ports.log),
    log: ports.log,
    checkpoints: ports.checkpoints,
    watch,
  });
  const consents = await startStageConsumer({
    group: 'delivery',
    topic: 'carillon.consents',
    stage: createConsentStage(ports),
    sink: createRecordSink(ports.log),
    log: ports.log,
    checkpoints: ports.checkpoints,
    watch,
  });
  const sweeper = startLoop(
    SWEEP_EVERY,
    async () => {
      await sweep(ports, clock.now());
      await dispatcher.listUnlisted().catch((error: unknown) => watch.trouble('list items of digests', error));
      await publishConsents(await ports.consents.unpublished(clock.now() - CONSENT_GRACE, CONSENTS_AT_ONCE), ports);
    },
    (error) => watch.trouble('sweep', error),
  );
  const stopping = new AbortController();
  const afterChange = createAfterChange({ ...ports, stopping: stopping.signal });
  // Apart from the sweeper: where a change concerns very many, they are looked through for minutes.
  const looking = startLoop(
    CHANGES_EVERY,
    async () => {
      await afterChange();
    },
    (error) => watch.trouble('look through what waits', error),
  );
  const settler = createDoubtSettler({
    ...ports,
    isOurs: (delivery) => held.has(partitionOfIntent(delivery, ports)),
    channels: CHANNEL_NAMES.filter((name) =>
      ports.senders.some(({ kind, canBeAsked }) => canBeAsked && CHANNELS[name].accounts.includes(kind)),
    ),
    find: (delivery, since) => dispatcher.find(delivery, since),
    trouble: (where, error) => watch.trouble(where, error),
  });
  const asking = startLoop(
    DOUBTS_EVERY,
    async () => {
      await settler.round();
    },
    (error) => watch.trouble('ask about doubts', error),
  );

  return {
    recovered: { resumed: counts.WAITING ?? 0, inDoubt },
    async close() {
      const began = clock.now();
      stopping.abort();
      const stopped = Promise.all([
        consumption.stop(),
        reading.stop(),
        receipts.stop(),
        consents.stop(),
        sweeper.stop(),
        looking.stop(),
        asking.stop(),
      ]);
      stopped.catch(() => undefined);
      const open = await dispatcher.stop(began + CALLS_END);
      const ending = (async (): Promise<void> => {
        if (open.length > 0) await abandon(ports, open).catch((error: unknown) => watch.trouble('abandon', error));
        await stopped;
        await sweep(ports, clock.now());
      })().catch((error: unknown) => watch.trouble('stop', error));
      const ended = new AbortController();
      await Promise.race([ending, pause(Math.max(0, began + ALL_ENDS - clock.now()), ended.signal)]);
      ended.abort();
    },
  };
}

/** Where the intents of a slot stand on the log. */
const partitionOfIntent = (delivery: Delivery, { log }: DeliveryPorts): number =>
  partitionOf(intentKeyOf(delivery), log.partitions('carillon.intents'));

/** Until nothing of the predecessor is left in SENDING. */
async function sweepAll(ports: DeliveryPorts): Promise<void> {
  for (;;) {
    const { doubted } = await sweep(ports, FOR_EVER);
    if (doubted === 0) return;
  }
}
