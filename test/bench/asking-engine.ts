import { partitionOf } from '@carillon/domain/events';
import { messageOf, type TriggerId } from '@carillon/kernel';
import type { NewRecord, PartnerAnswer } from '@carillon/ports';
import {
  givenTrigger,
  integration,
  notification,
  ORDER_PAID,
  ORDERS,
  PAID_MAIL,
  stream,
  template,
} from '@carillon/testing/given';
import { openTopology } from '@carillon/testing/topology';
import { onSqlite } from './backing.ts';
import { startEngineOn } from '../../apps/engine/test/engine-role.ts';

const DAY = 86_400_000;
const READ = 5_000;

/** What a partner does about one user id: a timer in this process, so that what is measured is the asking. */
export type Partner = (userId: string) => Promise<unknown>;

export type AskingEngine = {
  /** Puts triggers on the log that ask this partner, one user id each. */
  trigger(partner: string, count: number): Promise<void>;
  triggered(partner: string): number;
  /** Lookups of this partner that were answered. */
  answered(partner: string): number;
  /** What is wrong with the lookups on the log: each trigger has one. Waits until the engine is done with what it holds. */
  faults(partner: string): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** The engine over the embedded backend, as `carillon up` runs it, with partners of these names. */
export async function startAskingEngine(partners: Readonly<Record<string, Partner>>): Promise<AskingEngine> {
  const topology = await openTopology({ backing: onSqlite(8), secrets: { KEY: 'key' } });
  const wishes = Object.keys(partners).flatMap((name) => {
    const asks = { from: 'lookup', integration: name, user_ids: 'event.watchers' } as const;
    return [
      integration(name, { kind: 'lookup', url: `http://127.0.0.1/${name}`, authorization: { key: { secret: 'KEY' } } }),
      notification(name, { ...ORDER_PAID, rules: { paid: { stream: 'orders', when: 'true', recipients: asks } } }),
    ];
  });
  await topology.publish(stream('orders', ORDERS), template('order-paid', PAID_MAIL), ...wishes);
  const answered = new Map<string, number>();
  const triggered = new Map<string, number>();

  async function ask(name: string, userIds: readonly string[]): Promise<PartnerAnswer> {
    await partners[name]?.(userIds[0] ?? '');
    answered.set(name, (answered.get(name) ?? 0) + 1);
    return { kind: 'answered', status: 200, items: userIds.map((id) => ({ to: { email: `${id}@example.com` } })) };
  }
  // Made at each asking for them: taken once, so that it is not what is measured.
  const { ports } = topology;
  const engine = await startEngineOn(topology, {
    partners: { ask: ({ integration: { url }, userIds }) => ask(url.split('/').at(-1) ?? '', userIds) },
  });

  function recordOf(name: string, n: number): NewRecord {
    const now = topology.clock.now();
    const trigger = givenTrigger({
      id: `trg_${name}_${n}` as TriggerId,
      notification: name,
      rule: `${name}.paid`,
      ruleId: `shop/${name}.paid`,
      configNumber: ports.configuration.current().number,
      integration: name,
      userIds: [`user-${n}`],
      time: now,
      causedAt: now,
      notAfter: now + DAY,
    });
    const key = topology.ids.keyed('trigger', trigger.id);
    const partition = partitionOf(key, topology.data.log.partitions('carillon.triggers'));
    const value = ports.codecs.trigger.encode(trigger);
    return { topic: 'carillon.triggers', partition, key, value, headers: { workspace: 'shop' } };
  }

  /** How often each trigger has a lookup on the log. */
  async function lookups(name: string): Promise<ReadonlyMap<string, number>> {
    const { log } = topology.data;
    const found = new Map<string, number>();
    for (let partition = 0; partition < log.partitions('carillon.lookups'); partition += 1) {
      const { end } = await log.bounds('carillon.lookups', partition);
      for (let from = 0; from < end;) {
        const records = await log.read('carillon.lookups', partition, from, READ);
        for (const { value } of records) {
          const decoded = ports.codecs.lookup.decode(value);
          if (!decoded.ok) throw new Error('a lookup cannot be read');
          const { trigger } = decoded.value;
          if (trigger.integration === name) found.set(trigger.id, (found.get(trigger.id) ?? 0) + 1);
        }
        from = (records.at(-1)?.offset ?? end) + 1;
      }
    }
    return found;
  }

  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopped ??= engine.close());
  return {
    async trigger(name, count) {
      const from = triggered.get(name) ?? 0;
      triggered.set(name, from + count);
      await topology.data.log.append(Array.from({ length: count }, (_, at) => recordOf(name, from + at)));
    },
    triggered: (name) => triggered.get(name) ?? 0,
    answered: (name) => answered.get(name) ?? 0,
    async faults(name) {
      // It finishes what it has begun before it ends.
      await stop();
      const found = await lookups(name);
      const twice = [...found.values()].filter((times) => times > 1).length;
      const wanted = triggered.get(name) ?? 0;
      const [trouble] = engine.troubles;
      return [
        ...(found.size === wanted ? [] : [`${wanted} triggers, ${found.size} lookups on the log`]),
        ...(twice === 0 ? [] : [`${twice} lookups are on the log twice`]),
        ...(trouble === undefined ? [] : [`the engine was in trouble: ${messageOf(trouble)}`]),
      ];
    },
    async close() {
      await stop();
      await topology.close();
    },
  };
}
