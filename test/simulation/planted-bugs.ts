import { providerResult, type Delivery, type DeliveryState, type ProviderResult, type Receipt } from '@carillon/domain';
import type { Checkpoint, ConsumeOptions, NewRecord, PartitionWorker } from '@carillon/ports';
import type { Plant, Ports } from './ports.ts';
import { STATE_OF } from './said.ts';

/** A bug in what surrounds the product: in the ports that its processes get, or in the stores behind them. */
export type Bug = {
  readonly plant?: Plant;
  /** A store takes whatever is written, however old. */
  readonly unfenced?: 'checkpoints' | 'cohorts';
  /** What a run has to say of it. */
  readonly finds: RegExp;
  /** The seed at which its search begins, where what it needs is rare; left out: the first. */
  readonly firstSeed?: number;
};

const inLedger =
  (change: (ledger: Ports['ledger']) => Partial<Ports['ledger']>): Plant =>
  (ports) => ({
    ...ports,
    ledger: { ...ports.ledger, ...change(ports.ledger) },
  });

const inLimits =
  (change: (limits: Ports['limits']) => Partial<Ports['limits']>): Plant =>
  (ports) => ({
    ...ports,
    limits: { ...ports.limits, ...change(ports.limits) },
  });

const inHeads =
  (change: (heads: Ports['digestHeads']) => Partial<Ports['digestHeads']>): Plant =>
  (ports) => ({
    ...ports,
    digestHeads: { ...ports.digestHeads, ...change(ports.digestHeads) },
  });

/** What a provider said is taken for something else. */
const withAnswers =
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
function callsCutOff(ports: Ports): Ports {
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
const answersEarly =
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

const isMarker = ({ headers }: NewRecord): boolean => headers['kind'] === 'marker';
const isPost = ({ headers }: NewRecord): boolean => headers['principal']?.startsWith('api_key') === true;
const isChangeOfCohort = ({ headers }: NewRecord): boolean => headers['principal']?.startsWith('integration') === true;

/** The position of a batch of intents is saved before they are in custody. */
function positionFirst(ports: Ports): Ports {
  const { log, checkpoints } = ports;
  async function assigned(options: ConsumeOptions, partition: number): Promise<PartitionWorker> {
    const worker = await options.assigned(partition);
    const { group, topic } = options;
    return {
      ...worker,
      async handle(records, end) {
        const next = (records.at(-1)?.offset ?? 0) + 1;
        await checkpoints.save({ group, topic, partition, logId: log.logId, next, clocks: {}, configNumber: -1 });
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
function outputsAfterState(ports: Ports): Ports {
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
function cacheKept(ports: Ports): Ports {
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
        const { configNumber, clocks } = remembered.get(placeOf({ group, topic, partition })) ?? {};
        return stored && { ...stored, ...(configNumber !== undefined && { configNumber, clocks: clocks ?? {} }) };
      },
    },
  };
}

/** What the ledger writes where a report is new in the document. */
const withReport = (
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
const readOtherwise = ({ codecs }: Ports, change: (receipt: Receipt) => Receipt): Ports['codecs']['receipt'] => ({
  ...codecs.receipt,
  decode(bytes) {
    const read = codecs.receipt.decode(bytes);
    return read.ok ? { ...read, value: change(read.value) } : read;
  },
});
const withOwnName = (ports: Ports): Ports['codecs']['receipt'] =>
  readOtherwise(ports, (receipt) => ({ ...receipt, id: ports.ids.random('receipt') }));

const isSending = ({ state }: Delivery): boolean => state === 'SENDING';

export const PLANTED_BUGS: Readonly<Record<string, Bug>> = {
  'position before custody': { plant: positionFirst, finds: /nobody has intent/ },
  'outputs after state': { plant: outputsAfterState, finds: /a change of the cohort made no event/ },
  'no compare-and-set': {
    plant: inLedger((ledger) => ({
      async replace(next) {
        if ((await ledger.replace(next)) === 'done') return 'done';
        const seen = await ledger.get(next.id);
        return seen ? ledger.replace({ ...next, version: seen.version + 1 }) : 'stale';
      },
    })),
    finds: /told twice|was SENT and is|nobody has intent/,
  },
  'a place under a limit that is taken without compare-and-set': {
    plant: inLimits((limits) => ({
      async replace(next, before) {
        if ((await limits.replace(next, before)) === 'done') return 'done';
        const seen = await limits.find(next.workspace, next.person);
        return limits.replace(next, seen?.revision ?? null);
      },
    })),
    finds: /that the limit allows/,
    // Messages of one person take turns within a process: only two processes at the same moment are in each other's way.
    firstSeed: 2100,
  },
  'a place under a limit that is moved to the next attempt': {
    plant: inLimits((limits) => ({
      replace: (next, before) =>
        limits.replace(
          { ...next, entries: [...new Map(next.entries.map((entry) => [entry.deliveryId, entry])).values()] },
          before,
        ),
    })),
    finds: /that the limit allows/,
  },
  'a limit that is full by what nobody has looked at': {
    plant: inLimits((limits) => ({
      async find(workspace, person) {
        const sent = await limits.find(workspace, person);
        return sent && { ...sent, entries: sent.entries.map((entry) => ({ ...entry, sure: true })) };
      },
    })),
    finds: /is capped, and only/,
  },
  'a window of a digest that is written without compare-and-set': {
    plant: inHeads((heads) => ({
      async replace(next) {
        if ((await heads.replace(next)) === 'done') return 'done';
        const seen = await heads.get(next.id);
        return heads.replace({ ...next, version: (seen?.version ?? 0) + 1 });
      },
    })),
    finds: /digest|is COLLECTED|told twice/,
  },
  'a window of a digest that counts as told of before it is': {
    plant: inHeads((heads) => ({
      replace: (next) => heads.replace(next.closing && next.closing.items ? { ...next, closing: null } : next),
    })),
    finds: /digest|is COLLECTED/,
  },
  'an item that does not learn of its digest': {
    plant: inLedger((ledger) => ({
      replace: (next) => (next.state === 'DIGESTED' ? Promise.resolve('done') : ledger.replace(next)),
    })),
    finds: /is COLLECTED/,
  },
  'a sweeper that sends again': {
    plant: inLedger((ledger) => ({
      replace: (next) =>
        next.state === 'IN_DOUBT' && next.reason === 'lease_ran_out'
          ? ledger.replace({ ...next, state: 'WAITING', nextAt: next.updatedAt, token: null })
          : ledger.replace(next),
    })),
    finds: /told twice/,
  },
  'an unreadable record is passed over in silence': {
    plant: (ports) => ({
      ...ports,
      log: {
        ...ports.log,
        append: (records) => ports.log.append(records.filter(({ topic }) => topic !== 'carillon.dead-letters')),
      },
    }),
    finds: /unreadable, and not parked/,
  },
  '202 before the log has it': { plant: answersEarly(isPost), finds: /acknowledged, and not on the log/ },
  'fence of positions ignored': { unfenced: 'checkpoints', finds: /not done in time: \w+ has read/ },
  'fence of state ignored': { unfenced: 'cohorts', finds: /in the cohort are|cohort without a change|made no event/ },
  'take-over of a slot in doubt': {
    plant: inLedger((ledger) => ({
      async insert(deliveries) {
        const answers = await ledger.insert(deliveries);
        return answers.map((answer) =>
          !answer.inserted && answer.holder.state === 'IN_DOUBT'
            ? { inserted: false, holder: { ...answer.holder, state: 'FAILED', clean: true } }
            : answer,
        );
      },
    })),
    finds: /told twice/,
  },
  'outcome not in the document': {
    plant: inLedger((ledger) => ({
      replace: (next) => ledger.replace({ ...next, unpublished: [] }),
      insert: (deliveries) => ledger.insert(deliveries.map((one) => ({ ...one, unpublished: [] }))),
    })),
    finds: /no outcome says/,
  },
  'publish answered before all markers': { plant: answersEarly(isMarker), finds: /posted when configuration/ },
  'cache kept over a lost assignment': { plant: cacheKept, finds: /do not lead to|lost intent|counts other than/ },
  'second lookup record accepted': {
    // Alone it does no harm: a task keeps its answer, so that both records hold the same. Here that does not hold either.
    plant: (ports) => ({
      ...ports,
      tasks: {
        ...ports.tasks,
        async replace(expected, next) {
          if ((await ports.tasks.replace(expected, next)) === 'done') return 'done';
          const seen = await ports.tasks.get(next.id);
          return seen ? ports.tasks.replace(seen.version, { ...next, version: seen.version + 1 }) : 'stale';
        },
      },
      claims: {
        ...ports.claims,
        async claim(claims) {
          await ports.claims.claim(claims);
          return claims.map(({ position }) => position);
        },
      },
    }),
    finds: /told twice|intent that the log and its configuration do not lead to/,
  },
  'a call before the step into SENDING is durable': {
    plant: inLedger((ledger) => ({
      async replace(next) {
        const wrote = ledger.replace(next);
        if (!isSending(next)) return wrote;
        wrote.catch(() => undefined);
        return 'done';
      },
    })),
    finds: /told twice|the provider never took it/,
  },
  'a doubt that is taken for a refusal': {
    plant: withAnswers((result) => (result.verdict === 'ambiguous' ? { ...result, verdict: 'transient' } : result)),
    finds: /told twice/,
  },
  'calls are cut off where a process is told to stop': { plant: callsCutOff, finds: /is in doubt .* without a cause/ },
  'a refusal for now that is taken for one for good': {
    plant: withAnswers((result) =>
      result.verdict === 'transient' ? { ...result, verdict: 'refused_content' } : result,
    ),
    finds: /is FAILED \(refused_content\) without a cause/,
  },
  'a report that is answered before the log has it': {
    plant: answersEarly(({ topic }) => topic === 'carillon.receipts'),
    finds: /its delivery has not heard of it/,
  },
  'a report that moves a delivery downwards': {
    plant: withReport((next, { state }) => ({ ...next, state })),
    finds: /was \w+ and is/,
  },
  'a report that ends no doubt': {
    plant: withReport((next, _said, seen) => (seen.state === 'IN_DOUBT' ? { ...next, state: 'IN_DOUBT' } : next)),
    finds: /is IN_DOUBT, though the provider reported/,
  },
  'a report that is applied as often as it comes': {
    plant: (ports) => ({ ...ports, codecs: { ...ports.codecs, receipt: withOwnName(ports) } }),
    finds: /holds what was said once several times|its delivery has not heard of it/,
  },
  'a report of another account that is believed': {
    plant: (ports) => ({
      ...ports,
      codecs: { ...ports.codecs, receipt: readOtherwise(ports, (receipt) => ({ ...receipt, account: null })) },
    }),
    finds: /nobody can place it, and not parked/,
  },
  'a condemned address that is not listed': {
    plant: (ports) => ({ ...ports, suppressions: { ...ports.suppressions, add: async () => undefined } }),
    finds: /is not on the list/,
  },
  'an opt-out that is answered before the store has it': {
    plant: (ports) => ({
      ...ports,
      deciding: {
        ...ports.deciding,
        async replace(next) {
          ports.deciding.replace(next).catch(() => undefined);
          return 'done';
        },
      },
    }),
    finds: /told though he had opted out/,
  },
  'a STOP that the check before sending does not see': {
    plant: (ports) => ({
      ...ports,
      suppressions: {
        ...ports.suppressions,
        async find(...asked) {
          const all = await ports.suppressions.sources(...asked);
          return all.find(({ source }) => source !== 'stop') ?? null;
        },
      },
    }),
    finds: /told though he had written STOP/,
  },
};
