import type { LookupIntegration, LookupRecipients, NotificationBody } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import type { DeadLetter } from '@carillon/domain/events';
import type { Lookup } from '@carillon/domain/lookups';
import type { Result } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { startScriptedPartner, type LoopbackNames, type ScriptedPartner } from '@carillon/testing';
import { integration, notification, ORDER_PAID, ORDERS, PAID_MAIL, stream, template } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach } from 'vitest';
import type { EnginePorts } from '../src/index.ts';
import { startEngineOn, type WatchedEngine } from './engine-role.ts';

export const SECRETS = { CRM_KEY: 'key-1', CRM_NEXT: 'key-2' };

export type Settings = { [Key in keyof LookupIntegration]?: LookupIntegration[Key] | undefined };

export type FixtureOptions = {
  /** The world's names; without any, partners are named by address. */
  readonly names?: LoopbackNames;
  /** No call is given up because the machine is slow, whatever its timeouts are. */
  readonly isPatient?: boolean;
};

/** A shop whose rule asks the partner `crm` about `event.watchers`, the partner, and the engine: fresh for each test. */
export function lookupFixture({ names = {}, isPatient = false }: FixtureOptions = {}) {
  let topology: Topology | undefined;
  let partner: ScriptedPartner | undefined;
  const engines: WatchedEngine[] = [];
  beforeEach(async () => {
    topology = await openTopology({
      partitions: 2,
      secrets: SECRETS,
      isPatient,
      names: { 'database.internal': '10.0.0.5', ...names },
    });
    partner = await startScriptedPartner();
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    await topology?.close();
    await partner?.stop();
  });
  const now = <Thing>(thing: Thing | undefined): Thing => {
    if (!thing) throw new Error('only within a test');
    return thing;
  };

  const crm = (more: Partial<LookupIntegration> = {}): LookupIntegration => ({
    kind: 'lookup',
    url: now(partner).url,
    authorization: { key: { secret: 'CRM_KEY' } },
    match: 'variables.user_id',
    ...more,
  });
  /** `match: undefined` in `more` takes it away. */
  const body = (more: Settings): LookupIntegration =>
    Object.fromEntries(
      Object.entries({ ...crm(), ...more }).filter(([, value]) => value !== undefined),
    ) as LookupIntegration;
  async function configure(
    more: Settings = {},
    recipients: Partial<LookupRecipients> = {},
    settings: Partial<NotificationBody> = {},
  ): Promise<void> {
    const asks = { from: 'lookup', integration: 'crm', user_ids: 'event.watchers', unique_id: 'event_id' } as const;
    const paid = { stream: 'orders', when: 'true', recipients: { ...asks, ...recipients } };
    await now(topology).publish(
      stream('orders', ORDERS),
      template('order-paid', PAID_MAIL),
      integration('crm', body(more)),
      notification('order-paid', { ...ORDER_PAID, rules: { paid }, ...settings }),
    );
  }
  /** A second partner beside `crm`, that a second notification asks about the same watchers. */
  async function configureBeside(name: string, { url }: ScriptedPartner, more: Settings = {}): Promise<void> {
    const asks = { from: 'lookup', integration: name, user_ids: 'event.watchers', unique_id: 'event_id' } as const;
    await now(topology).publish(
      integration(name, body({ url, ...more })),
      notification(name, { ...ORDER_PAID, rules: { paid: { stream: 'orders', when: 'true', recipients: asks } } }),
    );
  }
  async function start(more: Partial<EnginePorts> = {}): Promise<WatchedEngine> {
    const engine = await startEngineOn(now(topology), more);
    engines.push(engine);
    return engine;
  }
  async function read<T>(topic: TopicName, decode: (bytes: Uint8Array) => Result<T, unknown>): Promise<T[]> {
    const records = await now(topology).records(topic);
    return records.flatMap(({ value }) => {
      const decoded = decode(value);
      return decoded.ok ? [decoded.value] : [];
    });
  }
  const codecs = () => now(topology).ports.codecs;
  const allIntents = (): Promise<Intent[]> => read('carillon.intents', (bytes) => codecs().intent.decode(bytes));
  const allLookups = (): Promise<Lookup[]> => read('carillon.lookups', (bytes) => codecs().lookup.decode(bytes));
  const allLetters = (): Promise<DeadLetter[]> =>
    read('carillon.dead-letters', (bytes) => codecs().deadLetter.decode(bytes));
  const until = <T>(what: string, count: number, all: () => Promise<T[]>): Promise<T[]> =>
    untilFound(`${count} ${what}`, async () => {
      const found = await all();
      return found.length >= count ? found : undefined;
    });
  return {
    topology: () => now(topology),
    partner: () => now(partner),
    crm,
    configure,
    configureBeside,
    start,
    stop: (engine: WatchedEngine): Promise<void> => {
      engines.splice(engines.indexOf(engine), 1);
      return engine.close();
    },
    allIntents,
    allLookups,
    allLetters,
    intents: (count: number) => until('intents', count, allIntents),
    lookups: (count: number) => until('lookups', count, allLookups),
    letters: (count: number) => until('dead letters', count, allLetters),
  };
}
