import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';
import { createConfigurationView, publishConfiguration } from '@carillon/stages';
import { changesOf } from '@carillon/testing/given';
import { createDirectWire } from '@carillon/testing/memory';
import { startCustomers } from './customers.ts';
import { NOTHING_GOES_WRONG, ratesOf } from './faults.ts';
import { createMachines, type Machines, type RoleName, type Shape } from './machines.ts';
import type { PortBug } from '../harness/planted-bugs/planted-bug.ts';
import { describeFinding, type Finding } from '../harness/promises.ts';
import { createScheduler, takeTimersOver, type Scheduler } from './scheduler.ts';
import { FIRST_WISHES } from './shop.ts';
import { judge, leftOf } from './verdict.ts';
import { createWorld, START, type Shared, type World } from './world.ts';

export type Outcome = {
  readonly seed: number;
  readonly findings: readonly Finding[];
  readonly history: readonly string[];
  readonly steps: number;
  /** Messages that a provider took. */
  readonly messages: number;
  /** What happened in it, by name: faults, and paths through the product that not every run takes. */
  readonly seen: Readonly<Record<string, number>>;
  /** How long after the faults it took until nothing was left to do. */
  readonly recovery: Duration;
};

export type SimulateOptions = { readonly bug?: PortBug | undefined; readonly keepsHistory?: boolean | undefined };

/** Everything is terminal or in doubt this long after the last fault: an item that could not be listed is looked at again after a minute. */
export const RECOVERED_WITHIN: Duration = 120_000;
/** What was under way when the faults ended arrives within this. */
const LAST_ARRIVAL: Duration = 5_000;
const LOOK_EVERY: Duration = 500;
const TOO_MANY_STEPS = 50_000;

/**
 * One run: roles of the product over ports in memory, customers, and what goes wrong, all of it out of one seed. After a
 * while nothing goes wrong any more; then everything has to come to an end, and every promise has to hold.
 */
export async function simulate(seed: number, shared: Shared, options: SimulateOptions = {}): Promise<Outcome> {
  const { bug, keepsHistory = false } = options;
  const scheduler = createScheduler(seed, START, keepsHistory);
  const { now } = scheduler;
  const shape = shapeOf(scheduler);
  // Sometimes longer than a lease, so that somebody comes back who was given up.
  const during = scheduler.chance() < 0.85 ? scheduler.between(5_000, 20_000) : scheduler.between(40_000, 70_000);
  const world = createWorld(scheduler, ratesOf(scheduler, during), !shape.alone, bug?.unfenced);
  await publishFirst(world, shared);
  const machines = createMachines(world, shape, shared, bug?.plant ?? ((ports) => ports));
  const customers = startCustomers(world, machines, shared, during);
  let calmSince = Number.POSITIVE_INFINITY;
  let ended = false;

  scheduler.add(during, null, 'from here on nothing goes wrong', () => {
    calmSince = now();
    world.network.rates = NOTHING_GOES_WRONG;
    world.network.away.clear();
    world.calmDown();
    machines.calmDown();
    scheduler.hurry(LAST_ARRIVAL);
    scheduler.add(LAST_ARRIVAL, null, 'a look at what is left', look);
  });
  function look(): void {
    const left = [...leftOf(world), ...(customers.areDone() ? [] : ['a customer waits for an answer'])];
    ended = left.length === 0;
    if (!ended && now() - calmSince > RECOVERED_WITHIN)
      for (const one of left) world.find('late', `not done in time: ${one}`);
    if (!ended) scheduler.add(LOOK_EVERY, null, 'a look at what is left', look);
  }

  const giveTimersBack = takeTimersOver(scheduler);
  // A process of the product would end by this.
  const unhandled = (error: unknown): void => world.find('stuck', `a rejection that nobody handles: ${String(error)}`);
  process.on('unhandledRejection', unhandled);
  try {
    machines.startAll();
    while (!ended && world.findings.length === 0 && (await scheduler.take())) {
      if (calmSince > now()) disturb(world, machines);
      if (scheduler.taken() > TOO_MANY_STEPS) world.find('late', `not done in ${TOO_MANY_STEPS} steps`);
    }
    if (ended) for (const finding of await judge(world, shared)) world.find(finding.kind, finding.what);
  } finally {
    process.off('unhandledRejection', unhandled);
    giveTimersBack();
  }
  return {
    seed,
    findings: world.findings,
    history: scheduler.history,
    steps: scheduler.taken(),
    messages: world.accepted.size,
    seen: Object.fromEntries(world.seen),
    recovery: now() - calmSince,
  };
}

/** One process with everything in three of ten seeds; else one or two of each role over stores that they share. */
function shapeOf({ chance }: Scheduler): Shape {
  if (chance() < 0.3) return { alone: true, machines: [['carillon', 'engine', 'delivery', 'gateway', 'control']] };
  const several = (role: RoleName): readonly (readonly [string, RoleName])[] =>
    chance() < 0.7
      ? [
          [`${role}-1`, role],
          [`${role}-2`, role],
        ]
      : [[`${role}-1`, role]];
  return {
    alone: false,
    machines: [...several('engine'), ...several('delivery'), ['gateway', 'gateway'], ['control', 'control']],
  };
}

async function publishFirst({ log, scheduler }: World, { codecs, ids }: Shared): Promise<void> {
  const connected = log.connect(createDirectWire());
  const clock = { now: scheduler.now };
  const view = createConfigurationView(connected, codecs.configuration, clock);
  const changes = changesOf(await view.refresh(), FIRST_WISHES);
  const codec = codecs.configuration;
  const own = { ...ids, random: () => 'req_first' };
  await publishConfiguration(
    { log: connected, codec, view, ids: own, clock, readEverywhere: async () => undefined },
    changes,
    CHANGED_BY_OWNER,
  );
}

const PORTS = [
  'log',
  'ledger',
  'tasks',
  'checkpoints',
  'ruleStates',
  'claims',
  'cohorts',
  'leases',
  'suppressions',
  'consents',
  'digestHeads',
  'limit_entries',
  'provider',
  'partner',
];

/** Sometimes something happens to a process, or to what all of them need. */
function disturb(world: World, machines: Machines): void {
  const { calls, network, scheduler, saw } = world;
  const { between, chance } = scheduler;
  const { crash, stop, freeze, expel, outage } = network.rates;
  let left = chance();
  if (left > crash + stop + freeze + expel + outage) return;
  // Rather one that has a call under way: there is more to be lost.
  const busy = machines.all.find(({ process }) => calls(process.name) > 0 && chance() < 0.5);
  const machine = busy ?? machines.all[between(0, machines.all.length - 1)];
  if (!machine) return;
  if ((left -= outage) < 0) {
    const port = PORTS[between(0, PORTS.length - 1)] ?? 'log';
    world.isAway(port, between(100, 6_000));
  } else if (machine.state === 'down') {
    return;
  } else if ((left -= crash) < 0) {
    machines.kill(machine);
    saw('crash');
  } else if ((left -= stop) < 0) {
    machines.stop(machine);
    saw('stop');
  } else if ((left -= freeze) < 0) {
    // A moment, or longer than a lease.
    machines.freeze(machine, chance() < 0.6 ? between(500, 8_000) : between(32_000, 45_000));
    saw('freeze');
  } else {
    machines.expel(machine);
    saw('expel');
  }
}

/** What a person needs to know of a run in which a promise was broken. */
export const shownFailure = ({ seed, findings, history }: Outcome): string =>
  [
    ...history,
    '',
    `seed ${seed} breaks ${findings.length === 1 ? 'a promise' : `${findings.length} promises`}:`,
    ...findings.map((finding) => `  ${describeFinding(finding)}`),
    `again: npm run simulate -- --seed ${seed}`,
  ].join('\n');
