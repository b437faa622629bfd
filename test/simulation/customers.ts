import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import { formatPosition } from '@carillon/domain/events';
import type { Duration } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { createDirectWire } from '@carillon/testing/memory';
import type { Machine, Machines, OperatorAct, Running } from './machines.ts';
import { reportsOf } from './reports.ts';
import { cohortPostOf, eventOf, LATER_WISHES, PARCEL_STATUSES, readerOf, type Reader } from './shop.ts';
import type { Shared, World } from './world.ts';

/** Sends one request to a process. Undefined if the process does not take it. */
type Ask = (running: Running) => Promise<unknown> | undefined;
/** People who get news on two channels. */
const READERS = 2;
/** People who get items in digests. */
const COLLECTORS = 2;

type Can = 'post' | 'publish' | 'operate' | 'report';

/** What an operator thinks of who sees a delivery in this state. By the time it is done the state may be another. */
const ACTS: Partial<Record<DeliveryState, readonly OperatorAct[]>> = {
  WAITING: ['cancel'],
  COLLECTED: ['cancel'],
  FAILED: ['resend'],
  EXPIRED: ['resend'],
  CANCELLED: ['resend'],
  IN_DOUBT: ['resend', 'dismiss as failed', 'dismiss as sent'],
};

/** Whom customers ask, and what is not answered yet. */
type Asking = ReturnType<typeof createAsking>;

function createAsking({ scheduler }: World, machines: Machines) {
  const { add, between } = scheduler;
  let waiting = 0;

  function upWith(can: Can): Machine | undefined {
    const able = machines.all.filter(({ running, state }) => state === 'up' && running?.[can]);
    return able[between(0, Math.max(0, able.length - 1))];
  }

  /** Asks a process that is up, once. */
  function ask(what: string, can: Can, request: Ask): void {
    const machine = upWith(can);
    if (!machine) return;
    add(0, machine.process, what, () => {
      const refused = (error: unknown): void =>
        scheduler.note(() => `${machine.process.name} refuses: ${String(error)}`);
      if (machine.running) request(machine.running)?.catch(refused);
    });
  }

  /** Asks until an answer comes. */
  function repeat(what: string, request: (answered: () => void) => Ask, can: Can = 'post'): void {
    waiting += 1;
    let done = false;
    const answered = (): void => {
      if (!done) waiting -= 1;
      done = true;
    };
    const attempt = (): void => {
      if (done) return;
      ask(what, can, request(answered));
      add(between(1_000, 4_000), null, `nobody has answered ${what}?`, attempt);
    };
    attempt();
  }

  return {
    ask,
    repeat,
    /** Begins a request later. It counts as unanswered from now on. */
    beginLater(delay: Duration, what: string, begin: () => void): void {
      waiting += 1;
      add(delay, null, what, () => {
        waiting -= 1;
        begin();
      });
    },
    areDone: (): boolean => waiting === 0,
  };
}

/** Everybody outside, over the time during which they act. */
type Outside = {
  readonly world: World;
  readonly asking: Asking;
  readonly during: Duration;
  /** Posts one more event, until it is answered. */
  readonly post: (status: string, fields: object) => void;
};

/** Returns what posts further events, whose numbers begin after `last`. */
function createPosting({ repeat }: Asking, last: number): Outside['post'] {
  let newest = last;
  return (status, fields) => {
    newest += 1;
    const n = newest;
    const body = { n, status, ...(status === 'paid' && { order_id: `order-of-${n}` }), ...fields };
    repeat(`is posted event ${n}`, (answered) => (running) => running.post?.(n, body).then(answered));
  };
}

/**
 * Everybody outside: who posts events and repeats each until it gets its 202, a platform and a provider that do the same, and an
 * operator who changes the configuration now and then, or decides what becomes of a delivery, and does not repeat it.
 */
export function startCustomers(world: World, machines: Machines, { ids }: Shared, during: Duration) {
  const { scheduler } = world;
  const { between } = scheduler;
  const asking = createAsking(world, machines);
  /** The newest configuration that somebody was told counts. */
  const published = { number: -1 };
  const events = between(8, 16);
  const changes = between(2, 9);
  const outside: Outside = { world, asking, during, post: createPosting(asking, events) };
  postEvents(events, outside, (n) => {
    const id = ids.derive('event', 'shop/orders', 'http', `post-${n}`);
    world.judgedFrom.set(id, published.number);
    return id;
  });
  changeCohorts(changes, outside);
  optOutOrders(outside);
  const write = createWriting(outside);
  for (let reader = 1; reader <= READERS; reader += 1) {
    const one = readerOf(reader);
    for (let n = between(1, 3); n > 0; n -= 1) {
      scheduler.add(between(0, during), null, 'there is news', () => outside.post('news', one));
    }
    if (scheduler.chance() < 0.6) optOutReader(one, outside);
    if (scheduler.chance() < 0.6) write(one);
  }
  postItems(outside);
  postParcels(outside);
  reportAfterwards(outside);
  publishLater(outside, published);
  operate(outside);
  for (let n = scheduler.chance() < 0.3 ? between(1, 2) : 0; n > 0; n -= 1) {
    const what = 'somebody puts on the log what nobody can read';
    scheduler.add(between(0, during), null, what, () => void breakOne(world));
  }
  return { areDone: asking.areDone };
}

/** `idOf` returns the id of the event with a number, which is posted from now on. */
function postEvents(count: number, { world, asking, during }: Outside, idOf: (n: number) => string): void {
  const { add, between } = world.scheduler;
  for (let n = 1; n <= count; n += 1) {
    const body = eventOf(world.scheduler, n);
    add(between(0, during), null, `event ${n} happens`, () => {
      const id = idOf(n);
      asking.repeat(
        `is posted event ${n}`,
        (answered) => (running) =>
          running.post?.(n, body).then(() => {
            world.acknowledged.add(id);
            answered();
          }),
      );
    });
  }
}

function changeCohorts(count: number, { world: { scheduler }, asking, during }: Outside): void {
  for (let n = 1; n <= count; n += 1) {
    const post = cohortPostOf(scheduler, n);
    scheduler.add(scheduler.between(0, during), null, `the cohort changes (${n})`, () => {
      const what = `is told of a cohort (${n})`;
      asking.repeat(what, (answered) => (running) => running.postCohort?.(post).then(answered));
    });
  }
}

/** Tells that an address wants no more, until it is answered; `then` runs once the answer came. */
function optOut(email: string, { world, asking }: Outside, then: () => void): void {
  asking.repeat(
    `is told that ${email} wants no more`,
    (answered) => (running) =>
      running.optOut?.(email).then(() => {
        answered();
        if (world.optedOut.has(email)) return;
        world.optedOut.set(email, world.scheduler.now());
        then();
      }),
  );
}

/** Some people want no more, and order something all the same. */
function optOutOrders(outside: Outside): void {
  const { world, during, post } = outside;
  const { add, between } = world.scheduler;
  for (let n = between(0, 3); n > 0; n -= 1) {
    const email = `order-${between(1, 6)}-${between(1, 2)}@example.com`;
    add(between(0, during), null, `${email} wants no more`, () => {
      world.wished.add(email);
      optOut(email, outside, () => post('paid', { email }));
    });
  }
}

/** Posts news at the moment at which a reader was told that nothing comes any more, and a little later. */
function postNewsAfterwards(reader: Reader, { world: { scheduler }, post }: Outside): void {
  for (let n = scheduler.between(1, 3); n > 0; n -= 1) {
    scheduler.add(scheduler.between(0, 400), null, 'there is news', () => post('news', reader));
  }
}

function optOutReader(reader: Reader, outside: Outside): void {
  const { world, during } = outside;
  const { email, phone } = reader;
  world.scheduler.add(world.scheduler.between(0, during), null, `${email} wants no more`, () => {
    for (const address of [email, phone]) world.wished.add(address);
    optOut(email, outside, () => postNewsAfterwards(reader, outside));
  });
}

/** Returns what writes STOP, and perhaps START and STOP again, for a reader; each until it is answered. */
function createWriting(outside: Outside): (reader: Reader) => void {
  const { world, asking, during } = outside;
  const { add, between } = world.scheduler;
  let wrote = 0;
  return (reader) => {
    const wishes = (['stop', 'start', 'stop'] as const).slice(0, between(1, 3));
    let at = 0;
    for (const wish of wishes) {
      at += between(0, during / 2);
      wrote += 1;
      const n = wrote;
      add(at, null, `${reader.phone} writes ${wish}`, () => {
        world.wished.add(reader.phone);
        const request = (answered: () => void) => (running: Running) =>
          running.write?.(n, reader.phone, wish).then((id) => {
            answered();
            if (world.written.has(id)) return;
            world.written.add(id);
            postNewsAfterwards(reader, outside);
          });
        asking.repeat(`is told that ${reader.phone} wrote ${wish}`, request);
      });
    }
  };
}

/** Items for digests. */
function postItems({ world: { scheduler }, during, post }: Outside): void {
  const { add, between } = scheduler;
  for (let n = between(2, 9); n > 0; n -= 1) {
    const email = `collector-${between(1, COLLECTORS)}@example.com`;
    add(between(0, during), null, 'there is an item', () => post('item', { email }));
  }
}

/** What happens to parcels. Some events come at the same moment, and around deadlines. */
function postParcels({ world: { scheduler }, during, post }: Outside): void {
  const { add, between } = scheduler;
  for (let n = between(0, 12); n > 0; n -= 1) {
    const parcel = `parcel-${between(1, 3)}`;
    const status = PARCEL_STATUSES[between(0, PARCEL_STATUSES.length - 1)] ?? 'sent';
    const at = between(0, 1) === 0 ? between(0, during) : 1_000 * between(0, Math.floor(during / 1_000));
    add(at, null, `${parcel} is ${status}`, () => post(status, { parcel, email: `${parcel}@example.com` }));
  }
}

/** The provider reports what became of a message: some reports come before the process has its answer, and in any order. */
function reportAfterwards({ world, asking }: Outside): void {
  const { scheduler } = world;
  world.afterTaking((call) => {
    for (const [n, said] of reportsOf(scheduler, call).entries()) {
      const what = `${said.over} says ${said.report.verdict} of ${call.deliveryId.slice(0, 12)}`;
      const request = (answered: () => void) => (running: Running) =>
        running.report?.(said.report, said.over).then((id) => {
          world.reported.set(id, said);
          answered();
        });
      const delay = world.isCalm() ? scheduler.between(0, 500) : scheduler.between(0, n === 0 ? 1_500 : 8_000);
      asking.beginLater(delay, what, () => {
        asking.repeat(`is told that ${what}`, request, 'report');
        if (scheduler.chance() < 0.2) asking.repeat(`is told once more that ${what}`, request, 'report');
      });
    }
  });
}

function publishLater({ world: { scheduler }, asking, during }: Outside, published: { number: number }): void {
  for (const [at, wishes] of LATER_WISHES.entries()) {
    if (scheduler.chance() < 0.5) continue;
    scheduler.add(scheduler.between(0, during), null, `somebody changes the configuration (${at})`, () => {
      asking.ask(`is to publish (${at})`, 'publish', (running) =>
        running.publish?.(wishes).then((number) => {
          scheduler.note(`· somebody is told that configuration ${number} counts`);
          published.number = Math.max(published.number, number);
        }),
      );
    });
  }
}

/** An operator decides what becomes of deliveries. */
function operate({ world, asking, during }: Outside): void {
  const { add, between } = world.scheduler;
  for (let n = between(0, 4); n > 0; n -= 1) {
    add(between(0, during), null, 'somebody looks at the deliveries', () => {
      const decidable = world.ledger.all().filter(({ state }) => ACTS[state]);
      const seen: Delivery | undefined = decidable[between(0, Math.max(0, decidable.length - 1))];
      const acts = (seen && ACTS[seen.state]) ?? [];
      const act = acts[between(0, Math.max(0, acts.length - 1))];
      if (seen && act) asking.ask(`is to ${act} ${seen.id}`, 'operate', (running) => running.operate?.(seen.id, act));
    });
  }
}

const READ_BY_STAGES: readonly TopicName[] = [
  'carillon.events',
  'carillon.triggers',
  'carillon.lookups',
  'carillon.cohorts',
  'carillon.intents',
  'carillon.receipts',
];

/** A program that is not of this product, or one that is broken, has written to a topic of it. */
async function breakOne({ log, scheduler, broken, saw }: World): Promise<void> {
  const topic = READ_BY_STAGES[scheduler.between(0, READ_BY_STAGES.length - 1)] ?? 'carillon.events';
  const partition = scheduler.between(0, log.partitions(topic) - 1);
  const record = { topic, partition, key: 'unreadable', value: Uint8Array.of(7, 7, 7), headers: {} };
  const { end: offset } = log.bounds(topic, partition);
  broken.add(formatPosition({ logId: log.logId, topic, partition, offset }));
  saw('unreadable record');
  await log.connect(createDirectWire()).append([record]);
}
