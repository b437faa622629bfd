import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { createIds, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import { CHANGED_BY_OWNER, type NotificationBody } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import type { LookupItem, Trigger } from '@carillon/domain/lookups';
import type { BatchStage, Clock, EvaluationOutput, NewRecord, PartitionState, TopicName } from '@carillon/ports';
import {
  createConfigurationView,
  createEncoder,
  createEvaluateStage,
  createResolveStage,
  publishConfiguration,
} from '@carillon/stages';
import {
  changesOf,
  givenLookup,
  givenRuleBook,
  integration,
  neverYield,
  ORDER_PAID,
  orderShop,
} from '@carillon/testing/given';
import { createDirectWire, createMemoryRuleStates } from '@carillon/testing/memory';

export const KEY = new Uint8Array(32).fill(7);
const ids = createIds(KEY);

const ASKING = {
  stream: 'orders',
  when: '"watchers" in event',
  recipients: {
    from: 'lookup',
    integration: 'crm',
    user_ids: 'event.watchers',
  },
} as const;

/** A shop with a rule that names its recipient and one that asks a partner. */
export const shopWith = (paidWhen: string): NotificationBody => ({
  ...ORDER_PAID,
  rules: {
    paid: {
      stream: 'orders',
      when: paidWhen,
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
    },
    asked: ASKING,
  },
});

/** How outputs reach the log: a test loses, adds or alters some. */
export type Alter = (output: EvaluationOutput) => readonly EvaluationOutput[];
const asTheyAre: Alter = (output) => [output];

export type VerifiedShop = Awaited<ReturnType<typeof openShop>>;

/** A data folder whose engine is stages that a test calls. `clock`: the time of appends. `publisher`: the time of publications. */
export async function openShop(clock: Clock = systemClock, publisher: Clock = clock) {
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-verified-'));
  const data: Embedded = await openEmbedded({ dataDir, clock, partitions: 2 });
  const codecs = await createRecordCodecs(data.registry, clock.now);
  const configuration = createConfigurationView(data.log, codecs.configuration, clock);
  const ports = { ...data, codecs, configuration, ids, clock, slice: neverYield, book: givenRuleBook() };
  const encode = createEncoder(ports);
  const positions = new Map<string, number>();
  const states = new Map<string, PartitionState>();
  const ruleStates = createMemoryRuleStates().connect(createDirectWire());

  async function publish(wishes: Parameters<typeof changesOf>[1]): Promise<void> {
    await publishConfiguration(
      {
        ...ports,
        clock: publisher,
        codec: codecs.configuration,
        view: configuration,
        readEverywhere: async () => undefined,
      },
      changesOf(await configuration.refresh(), wishes),
      CHANGED_BY_OWNER,
    );
  }

  /** Lets a stage work on all records of a topic that it has not seen, and saves its position. */
  async function work(stage: BatchStage<EvaluationOutput>, topic: TopicName, alter: Alter): Promise<void> {
    for (let partition = 0; partition < data.log.partitions(topic); partition += 1) {
      const key = `${topic}/${partition}`;
      const saved = await data.checkpoints.load('engine', topic, partition);
      let state = states.get(key) ?? { partition, configNumber: saved?.configNumber ?? -1, watermark: 0 };
      let left = await data.log.read(topic, partition, positions.get(key) ?? 0, 1000);
      while (left.length > 0) {
        const result = await stage.handle(left, state);
        ({ state } = result);
        const records = result.outputs.flatMap((output) => alter(output).map(encode));
        if (records.length > 0) await data.log.append(records);
        await result.save?.();
        states.set(key, state);
        if (result.fates.length === 0) continue;
        const next = (left[result.fates.length - 1]?.offset ?? 0) + 1;
        positions.set(key, next);
        await data.checkpoints.save({
          group: 'engine',
          topic,
          partition,
          logId: data.log.logId,
          next,
          watermark: 0,
          configNumber: state.configNumber,
        });
        left = left.slice(result.fates.length);
      }
    }
  }

  await publish([
    ...orderShop(shopWith('event.status == "paid"')),
    integration('crm', { kind: 'lookup', url: 'https://crm.example.com/people', match: 'id' } as never),
  ]);

  return {
    dataDir,
    data,
    codecs,
    publish,
    append: (records: readonly NewRecord[]) => data.log.append(records),
    encode,
    evaluate: (alter = asTheyAre) => work(createEvaluateStage({ ...ports, ruleStates }), 'carillon.events', alter),
    resolve: (alter = asTheyAre) => work(createResolveStage(ports), 'carillon.lookups', alter),
    async triggers(): Promise<readonly Trigger[]> {
      const found: Trigger[] = [];
      for (let partition = 0; partition < data.log.partitions('carillon.triggers'); partition += 1) {
        for (const record of await data.log.read('carillon.triggers', partition, 0, 1000)) {
          const decoded = codecs.trigger.decode(record.value);
          if (decoded.ok) found.push(decoded.value);
        }
      }
      return found;
    },
    async answer(trigger: Trigger, names: readonly string[], headers: NewRecord['headers'] = {}): Promise<void> {
      const items = names.map((userId): LookupItem => ({
        userId,
        to: { email: `${userId}@example.com`, phone: null, token: null },
        variables: {},
      }));
      const value = codecs.lookup.encode(givenLookup({ trigger, items }));
      const partition = 0;
      await data.log.append([{ topic: 'carillon.lookups', partition, key: trigger.id, value, headers }]);
    },
    close: () => data.close(),
  };
}

/** An event of an order. */
export function orderEvent(number: number, body: object, headers: NewRecord['headers'] = {}): NewRecord {
  const whole = { order_id: `A-${number}`, customer: { name: 'Ada', email: `ada${number}@example.com` }, ...body };
  return {
    topic: 'carillon.events',
    partition: number % 2,
    key: `k${number}`,
    value: new TextEncoder().encode(JSON.stringify(whole)),
    headers: {
      kind: 'event',
      enc: '0',
      workspace: 'shop',
      stream: 'shop/orders',
      event_id: `evt_${number}`,
      ...headers,
    },
  };
}

export const paid = (number: number): NewRecord => orderEvent(number, { status: 'paid' });

/** Returns an alteration of intents that leaves other outputs alone. */
export const ofIntents =
  (alter: (intent: Intent) => readonly Intent[]): Alter =>
  (output) =>
    output.kind === 'intent' ? alter(output.intent).map((intent) => ({ kind: 'intent', intent })) : [output];
