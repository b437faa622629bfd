import { providerResult, type Delivery, type DeliveryState, type ProviderResult } from '@carillon/domain/deliveries';
import type { Receipt } from '@carillon/domain/receipts';
import type { Checkpoint, ConsumeOptions, NewRecord, PartitionWorker } from '@carillon/ports';
import type { Plant, Ports } from '../../simulation/ports.ts';
import { STATE_OF } from '../../simulation/said.ts';

export const inLedger =
  (change: (ledger: Ports['ledger']) => Partial<Ports['ledger']>): Plant =>
  (ports) => ({
    ...ports,
    ledger: { ...ports.ledger, ...change(ports.ledger) },
  });

export const inLimits =
  (change: (limits: Ports['limits']) => Partial<Ports['limits']>): Plant =>
  (ports) => ({
    ...ports,
    limits: { ...ports.limits, ...change(ports.limits) },
  });

export const inHeads =
  (change: (heads: Ports['digestHeads']) => Partial<Ports['digestHeads']>): Plant =>
  (ports) => ({
    ...ports,
    digestHeads: { ...ports.digestHeads, ...change(ports.digestHeads) },
  });

/** What a provider said is taken for something else. */
export const withAnswers =
  (read: (said: ProviderResult) => ProviderResult): Plant =>
  (ports) => ({
    ...ports,
    senders: ports.senders.map((factory) => ({
      ...factory,
      create(...opened) {
        const sender = factory.create(...opened);
        return { ...sender, send: async (message, context) => read(await sender.send(message, context)) };
      },
    })),
  });

/** A sender that does not wait for its calls once the process is to stop. */
export function callsCutOff(ports: Ports): Ports {
  const cut = (signal: AbortSignal): Promise<ProviderResult> =>
    new Promise((resolve) => {
      const stopped = (): void => resolve(providerResult('ambiguous', '', 'stopped'));
      if (signal.aborted) stopped();
      else signal.addEventListener('abort', stopped);
    });
  return {
    ...ports,
    senders: ports.senders.map((factory) => ({
      ...factory,
      create(...opened) {
        const sender = factory.create(...opened);
        return { ...sender, send: (message, call) => Promise.race([sender.send(message, call), cut(call.signal)]) };
      },
    })),
  };
}

/** Appends what `isHeld` and answers before the log did. */
export const answersEarly =
  (isHeld: (record: NewRecord) => boolean): Plant =>
  (ports) => ({
    ...ports,
    log: {
      ...ports.log,
      async append(records) {
        const appended = ports.log.append(records);
        if (!records.some(isHeld)) return appended;
        appended.catch(() => undefined);
        return records.map(() => 0);
      },
    },
  });

export const isMarker = ({ headers }: NewRecord): boolean => headers['kind'] === 'marker';
export const isPost = ({ headers }: NewRecord): boolean => headers['principal']?.startsWith('api_key') === true;
const isChangeOfCohort = ({ headers }: NewRecord): boolean => headers['principal']?.startsWith('integration') === true;

/** The position of a batch of intents is saved before they are in custody. */
export function positionFirst(ports: Ports): Ports {
  const { log, checkpoints } = ports;
  async function assigned(options: ConsumeOptions, partition: number): Promise<PartitionWorker> {
    const worker = await options.assigned(partition);
    const { group, topic } = options;
    return {
      ...worker,
      async handle(records, end) {
        const next = (records.at(-1)?.offset ?? 0) + 1;
        await checkpoints.save({ group, topic, partition, logId: log.logId, next, watermark: 0, configNumber: -1 });
        await worker.handle(records, end);
      },
    };
  }
  const consume: typeof log.consume = (options) =>
    log.consume(
      options.group === 'delivery' ? { ...options, assigned: (partition) => assigned(options, partition) } : options,
    );
  return { ...ports, log: { ...log, consume } };
}

/** What comes of a change in a cohort is appended once the members are saved. */
export function outputsAfterState(ports: Ports): Ports {
  const held: NewRecord[] = [];
  return {
    ...ports,
    log: {
      ...ports.log,
      async append(records) {
        held.push(...records.filter(isChangeOfCohort));
        return ports.log.append(records.filter((record) => !isChangeOfCohort(record)));
      },
    },
    cohorts: {
      ...ports.cohorts,
      async save(cohort) {
        const saved = await ports.cohorts.save(cohort);
        await ports.log.append(held.splice(0));
        return saved;
      },
    },
  };
}

/** A partition that comes back is gone on with by what this process remembers of it. */
export function cacheKept(ports: Ports): Ports {
  const { checkpoints } = ports;
  const remembered = new Map<string, Checkpoint>();
  const placeOf = ({ group, topic, partition }: Pick<Checkpoint, 'group' | 'topic' | 'partition'>): string =>
    `${group} ${topic}/${partition}`;
  return {
    ...ports,
    checkpoints: {
      save(checkpoint) {
        remembered.set(placeOf(checkpoint), checkpoint);
        return checkpoints.save(checkpoint);
      },
      async load(group, topic, partition) {
        const stored = await checkpoints.load(group, topic, partition);
        const { configNumber, watermark = 0 } = remembered.get(placeOf({ group, topic, partition })) ?? {};
        return stored && { ...stored, ...(configNumber !== undefined && { configNumber, watermark }) };
      },
    },
  };
}

/** What the ledger writes where a report is new in the document. */
export const withReport = (
  change: (next: Delivery, said: { readonly state: DeliveryState }, seen: Delivery) => Delivery,
): Plant =>
  inLedger((ledger) => ({
    async replace(next) {
      const seen = await ledger.get(next.id);
      const said = next.receipts.at(-1);
      const isNew = seen && said && said.verdict !== 'note' && seen.receipts.length < next.receipts.length;
      return ledger.replace(isNew ? change(next, { state: STATE_OF[said.verdict] }, seen) : next);
    },
  }));

/** What a process reads is otherwise than what was said. */
export const readOtherwise = (
  { codecs }: Ports,
  change: (receipt: Receipt) => Receipt,
): Ports['codecs']['receipt'] => ({
  ...codecs.receipt,
  decode(bytes) {
    const read = codecs.receipt.decode(bytes);
    return read.ok ? { ...read, value: change(read.value) } : read;
  },
});
export const withOwnName = (ports: Ports): Ports['codecs']['receipt'] =>
  readOtherwise(ports, (receipt) => ({ ...receipt, id: ports.ids.random('receipt') }));

export const isSending = ({ state }: Delivery): boolean => state === 'SENDING';
