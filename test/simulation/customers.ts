import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import { formatPosition } from '@carillon/domain/events';
import type { Duration } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { createDirectWire } from '@carillon/testing/memory';
import type { Machine, Machines, OperatorAct, Running } from './machines.ts';
import { reportsOf } from './reports.ts';
import { cohortPostOf, eventOf, LATER_WISHES, readerOf, type Reader } from './shop.ts';
import type { Shared, World } from './world.ts';

/** Asks the process once; where nothing comes of it, nothing is heard. */
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

/**
 * Everybody outside: who posts events and repeats each until it gets its 202, a platform and a provider that do the same, and an
 * operator who changes the configuration now and then, or decides what becomes of a delivery, and does not repeat it.
 */
export function startCustomers(world: World, machines: Machines, { ids }: Shared, during: Duration) {
  const { scheduler } = world;
  const { add, between } = scheduler;
  let waiting = 0;
  let published = -1;

  function upWith(can: Can): Machine | undefined {
    const able = machines.all.filter(({ running, state }) => state === 'up' && running?.[can]);
    return able[between(0, Math.max(0, able.length - 1))];
  }

  function ask(what: string, can: Can, request: Ask): void {
    const machine = upWith(can);
    if (!machine) return;
    add(0, machine.process, what, () => {
      const refused = (error: unknown): void =>
        scheduler.note(() => `${machine.process.name} refuses: ${String(error)}`);
      if (machine.running) request(machine.running)?.catch(refused);
    });
  }

  /** Until it is answered. */
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

  const events = between(8, 16);
  const changes = between(2, 9);
  for (let n = 1; n <= events; n += 1) {
    const body = eventOf(scheduler, n);
    const id = ids.derive('event', 'shop/orders', 'http', `post-${n}`);
    add(between(0, during), null, `event ${n} happens`, () => {
      world.judgedFrom.set(id, published);
      repeat(
        `is posted event ${n}`,
        (answered) => (running) =>
          running.post?.(n, body).then(() => {
            world.acknowledged.add(id);
            answered();
          }),
      );
    });
  }
  for (let n = 1; n <= changes; n += 1) {
    const post = cohortPostOf(scheduler, n);
    add(between(0, during), null, `the cohort changes (${n})`, () => {
      repeat(`is told of a cohort (${n})`, (answered) => (running) => running.postCohort?.(post).then(answered));
    });
  }
  /** Somebody orders something of his own. */
  let posted = 0;
  let wrote = 0;
  function orderFor(email: string): void {
    posted += 1;
    const n = events + posted;
    const body = { n, status: 'paid', order_id: `order-of-${n}`, email };
    repeat(`is posted event ${n}`, (answered) => (running) => running.post?.(n, body).then(answered));
  }
  for (let n = between(0, 3); n > 0; n -= 1) {
    const email = `order-${between(1, 6)}-${between(1, 2)}@example.com`;
    add(between(0, during), null, `${email} wants no more`, () => {
      world.wished.add(email);
      repeat(
        `is told that ${email} wants no more`,
        (answered) => (running) =>
          running.optOut?.(email).then(() => {
            answered();
            if (world.optedOut.has(email)) return;
            world.optedOut.set(email, scheduler.now());
            orderFor(email);
          }),
      );
    });
  }
  /** Somebody posts news, until it is answered. */
  function postNews(reader: Reader): void {
    posted += 1;
    const n = events + posted;
    const body = { n, status: 'news', ...reader };
    repeat(`is posted event ${n}`, (answered) => (running) => running.post?.(n, body).then(answered));
  }
  /** News at the very moment at which somebody was told that nothing comes any more, and a little later. */
  function newsAfterwards(reader: Reader): void {
    for (let n = between(1, 3); n > 0; n -= 1) add(between(0, 400), null, 'there is news', () => postNews(reader));
  }
  for (let reader = 1; reader <= READERS; reader += 1) {
    const one = readerOf(reader);
    for (let n = between(1, 3); n > 0; n -= 1) add(between(0, during), null, 'there is news', () => postNews(one));
    if (scheduler.chance() < 0.6) wantsNoMore(one);
    if (scheduler.chance() < 0.6) writesToUs(one);
  }
  for (let n = between(2, 9); n > 0; n -= 1) {
    const email = `collector-${between(1, COLLECTORS)}@example.com`;
    add(between(0, during), null, 'there is an item', () => {
      posted += 1;
      const body = { n: events + posted, status: 'item', email };
      const request = (answered: () => void) => (running: Running) => running.post?.(body.n, body).then(answered);
      repeat(`is posted event ${body.n}`, request);
    });
  }
  function wantsNoMore(reader: Reader): void {
    const { email, phone } = reader;
    add(between(0, during), null, `${email} wants no more`, () => {
      for (const address of [email, phone]) world.wished.add(address);
      repeat(
        `is told that ${email} wants no more`,
        (answered) => (running) =>
          running.optOut?.(email).then(() => {
            answered();
            if (world.optedOut.has(email)) return;
            world.optedOut.set(email, scheduler.now());
            newsAfterwards(reader);
          }),
      );
    });
  }
  /** STOP, and perhaps START and STOP again; each is brought until it is answered. */
  function writesToUs(reader: Reader): void {
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
            newsAfterwards(reader);
          });
        repeat(`is told that ${reader.phone} wrote ${wish}`, request);
      });
    }
  }
  world.afterTaking((call) => {
    for (const [n, said] of reportsOf(scheduler, call).entries()) {
      const what = `${said.over} says ${said.report.verdict} of ${call.deliveryId.slice(0, 12)}`;
      const request = (answered: () => void) => (running: Running) =>
        running.report?.(said.report, said.over).then((id) => {
          world.reported.set(id, said);
          answered();
        });
      // Some come before the process has its answer, and in any order.
      const delay = world.isCalm() ? between(0, 500) : between(0, n === 0 ? 1_500 : 8_000);
      waiting += 1;
      add(delay, null, what, () => {
        waiting -= 1;
        repeat(`is told that ${what}`, request, 'report');
        if (scheduler.chance() < 0.2) repeat(`is told once more that ${what}`, request, 'report');
      });
    }
  });
  for (const [at, wishes] of LATER_WISHES.entries()) {
    if (scheduler.chance() < 0.5) continue;
    add(between(0, during), null, `somebody changes the configuration (${at})`, () => {
      ask(`is to publish (${at})`, 'publish', (running) =>
        running.publish?.(wishes).then((number) => {
          scheduler.note(`· somebody is told that configuration ${number} counts`);
          published = Math.max(published, number);
        }),
      );
    });
  }

  for (let n = between(0, 4); n > 0; n -= 1) {
    add(between(0, during), null, 'somebody looks at the deliveries', () => {
      const decidable = world.ledger.all().filter(({ state }) => ACTS[state]);
      const seen: Delivery | undefined = decidable[between(0, Math.max(0, decidable.length - 1))];
      const acts = (seen && ACTS[seen.state]) ?? [];
      const act = acts[between(0, Math.max(0, acts.length - 1))];
      if (seen && act) ask(`is to ${act} ${seen.id}`, 'operate', (running) => running.operate?.(seen.id, act));
    });
  }

  for (let n = scheduler.chance() < 0.3 ? between(1, 2) : 0; n > 0; n -= 1) {
    add(between(0, during), null, 'somebody puts on the log what nobody can read', () => void breakOne(world));
  }

  return { areDone: (): boolean => waiting === 0 };
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
