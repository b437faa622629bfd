import { startDelivery } from '@carillon/delivery';
import { startEngine } from '@carillon/engine';
import { CHANGED_BY_OWNER, streamTable } from '@carillon/domain/configuration';
import { personName, STOP_ALL } from '@carillon/domain/consent';
import {
  operatorCancel,
  operatorDismiss,
  operatorResend,
  ownAccount,
  type Delivery,
} from '@carillon/domain/deliveries';
import type { Report } from '@carillon/domain/receipts';
import { stringifyJson, type DeliveryId, type Duration, type EventId, type Result } from '@carillon/kernel';
import { pause, startLoop } from '@carillon/runtime';
import {
  cohortMessages,
  cohortRecord,
  decideConsents,
  decideOnDelivery,
  inboundRecord,
  prepareAppend,
  publishConfiguration,
  publishConsents,
  receiptRecord,
} from '@carillon/stages';
import { changesOf, type Wish } from '@carillon/testing/given';
import { portsOf, type Plant, type Ports } from './ports.ts';
import type { Process } from './scheduler.ts';
import { streamOf, TEXTS, type CohortPost, type Posted } from './shop.ts';
import type { Shared, World } from './world.ts';

/** What a process can be asked from outside. Each rejects where the process could not do it; where it dies, neither happens. */
export type Running = {
  /** Resolves with the id of the event: it got its 202. */
  post?(n: number, body: Posted): Promise<EventId>;
  postCohort?(post: CohortPost): Promise<void>;
  /** Resolves with the id of the receipt: the provider got its 204. */
  report?(report: Report, account: string): Promise<string>;
  /** Resolves when whoever has this address was told that nothing comes any more. */
  optOut?(email: string): Promise<void>;
  /** Resolves with the id of the receipt: who brings what somebody wrote to our number got his 204. */
  write?(n: number, phone: string, wish: 'stop' | 'start'): Promise<string>;
  /** Resolves with the number of the configuration, which counts from now on. */
  publish?(wishes: readonly Wish[]): Promise<number>;
  operate?(id: DeliveryId, act: OperatorAct): Promise<unknown>;
  close(): Promise<void>;
};

/** What an operator may do with one delivery. */
export type OperatorAct = 'resend' | 'cancel' | 'dismiss as failed' | 'dismiss as sent';

export type RoleName = 'engine' | 'delivery' | 'gateway' | 'control';
export type Machine = {
  readonly name: string;
  readonly roles: readonly RoleName[];
  process: Process;
  running: Running | null;
  state: 'up' | 'stopping' | 'down';
};

const FOLLOW_EVERY: Duration = 1_000;
const FRESH_FOR: Duration = 2_000;
const SESSION: Duration = 6_000;
const RESENT_EXPIRES: Duration = 24 * 3_600_000;
/** For so long at least the delivery role waits for its calls when it ends: a moment before it gives them up. */
const CALLS_END: Duration = 10_000 - 1;

const STOPPED = 'stopped';

/** How a seed is deployed: all roles in one process over stores that are its own, or processes that share stores. */
export type Shape = { readonly alone: boolean; readonly machines: readonly (readonly [name: string, ...RoleName[]])[] };

/** Starts, kills and restarts processes. */
export function createMachines(world: World, shape: Shape, shared: Shared, plant: Plant) {
  const { scheduler } = world;
  const machines = shape.machines.map(([name, ...roles]): Machine => ({
    name,
    roles,
    process: { name: `${name}.0`, alive: false, frozenUntil: 0 },
    running: null,
    state: 'down',
  }));
  let calm = false;

  function start(machine: Machine): void {
    const count = Number(machine.process.name.split('.').at(-1)) + 1;
    const process = { name: `${machine.name}.${count}`, alive: true, frozenUntil: 0 };
    Object.assign(machine, { process, running: null, state: 'up' });
    scheduler.add(0, process, 'starts', () => {
      const callsEnd = (): void =>
        void scheduler.add(CALLS_END, null, `${process.name} has waited for its calls`, () => {
          if (process.alive) world.cutOff(process.name);
        });
      startRoles(machine.roles, shape.alone, portsOf(process, world, shared, plant), callsEnd).then(
        (running) => (machine.running = running),
        (error: unknown) => die(machine, `cannot start: ${String(error)}`),
      );
    });
  }

  function die(machine: Machine, why: string): void {
    const { process } = machine;
    scheduler.note(() => `· ${process.name} DIES: ${why}`);
    // Who stopped in its own time has told the end of all that it had begun, or waited for it long enough.
    if (why !== STOPPED) world.cutOff(process.name);
    process.alive = false;
    scheduler.forget(process);
    Object.assign(machine, { running: null, state: 'down' });
    const wire = world.wireOf(process);
    const unseen = shape.alone || why === STOPPED ? 0 : scheduler.between(0, SESSION);
    scheduler.add(unseen, null, `others see that ${process.name} is gone`, () => world.log.groups.gone(wire));
    // What one process alone owns is its successor's once it is seen to be gone.
    const least = shape.alone ? 10 : 0;
    scheduler.add(least + scheduler.between(0, calm ? 500 : 8_000), null, `${machine.name} is started again`, () =>
      start(machine),
    );
  }

  return {
    all: machines,
    startAll: (): void => machines.forEach(start),
    kill: (machine: Machine): void => {
      if (machine.state !== 'down') die(machine, 'killed');
    },
    /** As SIGTERM: it may finish what it has begun. */
    stop(machine: Machine): void {
      const { running, process } = machine;
      if (machine.state !== 'up' || !running) return;
      machine.state = 'stopping';
      world.stopping(process.name);
      scheduler.add(0, process, 'is told to stop', () => {
        const ended = (why: string) => (): void => {
          if (process.alive) die(machine, why);
        };
        running.close().then(ended(STOPPED), ended('stopped with an error'));
      });
    },
    freeze(machine: Machine, span: Duration): void {
      scheduler.note(() => `· ${machine.process.name} FREEZES for ${span} ms`);
      machine.process.frozenUntil = scheduler.now() + span;
    },
    expel(machine: Machine): void {
      scheduler.note(() => `· ${machine.process.name} is thought dead, and is not`);
      world.log.groups.expel(world.wireOf(machine.process));
    },
    /** From now on what is down comes up at once, and nothing stands still. */
    calmDown(): void {
      calm = true;
      for (const { process } of machines) process.frozenUntil = 0;
    },
  };
}
export type Machines = ReturnType<typeof createMachines>;

async function startRoles(
  roles: readonly RoleName[],
  alone: boolean,
  ports: Ports,
  callsEnd: () => void,
): Promise<Running> {
  const { clock, configuration, watch } = ports;
  await configuration.refresh();
  const follower = startLoop(
    FOLLOW_EVERY,
    async () => void (await configuration.refresh()),
    (error) => watch.trouble('follow the configuration', error),
  );
  // As `up` does: whoever takes things in comes last, and goes first.
  const delivery = roles.includes('delivery') ? await startDelivery({ aloneOnStore: alone }, ports) : null;
  const engine = roles.includes('engine') ? await startEngine(ports) : null;
  const readEverywhere = (since: number): Promise<void> =>
    alone ? Promise.resolve() : pause(Math.max(0, since + FRESH_FOR - clock.now()));
  return {
    ...(roles.includes('gateway') && intakeOf(ports)),
    ...(roles.includes('control') && {
      async publish(wishes: readonly Wish[]) {
        const changes = changesOf(await configuration.refresh(), wishes);
        const { log, codecs, ids } = ports;
        const codec = codecs.configuration;
        return publishConfiguration(
          { log, codec, view: configuration, ids, clock, readEverywhere },
          changes,
          CHANGED_BY_OWNER,
        );
      },
      operate: (id: DeliveryId, act: OperatorAct) => operate(id, act, ports),
    }),
    async close() {
      await engine?.close();
      callsEnd();
      await delivery?.close();
      await follower.stop();
    },
  };
}

/** As the routes of deliveries do. */
async function operate(id: DeliveryId, act: OperatorAct, ports: Ports): Promise<unknown> {
  const { ledger, clock, ids, watch } = ports;
  async function find(): Promise<Delivery> {
    const delivery = await ledger.get(id);
    if (!delivery) throw new Error(`there is no ${id}`);
    return delivery;
  }
  function decide(newest: Delivery): Result<Delivery, string> {
    const moment = { now: clock.now(), derive: ids.derive };
    switch (act) {
      case 'resend':
        return operatorResend(newest, RESENT_EXPIRES, 'ann', moment);
      case 'cancel':
        return operatorCancel(newest, 'ann', moment);
      case 'dismiss as failed':
        return operatorDismiss(newest, 'failed', 'so it seems', 'ann', moment);
      case 'dismiss as sent':
        return operatorDismiss(newest, 'sent', 'so it seems', 'ann', moment);
    }
  }
  return decideOnDelivery(find, decide, { ...ports, untold: (error) => watch.trouble('publish', error) });
}

/** What a gateway does with a request once it has let it in. */
function intakeOf({ log, ids, clock, configuration, codecs, deciding, watch }: Ports) {
  return {
    async post(n: number, body: Posted): Promise<EventId> {
      const stream = streamTable(configuration.current()).streams.get(streamOf(body));
      if (!stream) throw new Error('there is no such stream yet');
      const prepared = prepareAppend(
        {
          stream,
          body,
          bytes: new TextEncoder().encode(stringifyJson(body)),
          identity: ['http', `post-${n}`],
          principal: 'api_key:main',
          traceparent: null,
        },
        { ids, now: clock.now(), partitions: log.partitions('carillon.events') },
      );
      if (!prepared.ok) throw prepared.error;
      await log.append([prepared.value.record]);
      return prepared.value.id;
    },
    async optOut(email: string): Promise<void> {
      const ports = { consents: deciding, log, codecs, ids, clock };
      const person = personName(email, (...parts) => ids.keyed(...parts));
      const document = await decideConsents('shop', person, [STOP_ALL], ports);
      if (document) publishConsents([document], ports).catch((error: unknown) => watch.trouble('tell consents', error));
    },
    async report(report: Report, name: string): Promise<string> {
      const account = ownAccount(configuration.current(), 'shop', name);
      if (!account) throw new Error(`there is no account ${name} yet`);
      await log.append([receiptRecord(report, account.key, clock.now(), { log, ids, codecs })]);
      return ids.derive('receipt', report.source, account.key, report.eventId);
    },
    async write(n: number, address: string, wish: 'stop' | 'start'): Promise<string> {
      const account = ownAccount(configuration.current(), 'shop', TEXTS);
      if (!account) throw new Error(`there is no account ${TEXTS} yet`);
      const inbound = { source: 'twilio', eventId: `written-${n}`, address, wish } as const;
      await log.append([inboundRecord(inbound, account.key, clock.now(), { log, ids, codecs })]);
      return ids.derive('receipt', inbound.source, account.key, inbound.eventId);
    },
    async postCohort({ change, name }: CohortPost): Promise<void> {
      const source = { workspace: 'shop', integration: 'feed', id: ids.random('event') as EventId, firstSync: 0 };
      const messages = cohortMessages([{ ...change, name }], source, ids);
      await log.append(messages.map((message) => cohortRecord(message, null, { ids, log, codecs })));
    },
  };
}
