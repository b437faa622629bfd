import type { Duration } from '@carillon/kernel';
import type { Machine, Machines, Running } from './machines.ts';
import { cohortPostOf, eventOf, LATER_WISHES } from './shop.ts';
import type { Shared, World } from './world.ts';

/** Asks the process once; where nothing comes of it, nothing is heard. */
type Ask = (running: Running) => Promise<unknown> | undefined;

/**
 * Everybody outside: who posts events and repeats each until it gets its 202, a platform that does the same, and an
 * operator who changes the configuration now and then, and does not repeat it.
 */
export function startCustomers(world: World, machines: Machines, { ids }: Shared, during: Duration) {
  const { scheduler } = world;
  const { add, between } = scheduler;
  let waiting = 0;
  let published = -1;

  function upWith(can: 'post' | 'publish'): Machine | undefined {
    const able = machines.all.filter(({ running, state }) => state === 'up' && running?.[can]);
    return able[between(0, Math.max(0, able.length - 1))];
  }

  function ask(what: string, can: 'post' | 'publish', request: Ask): void {
    const machine = upWith(can);
    if (!machine) return;
    add(0, machine.process, what, () => {
      const refused = (error: unknown): void =>
        scheduler.note(() => `${machine.process.name} refuses: ${String(error)}`);
      if (machine.running) request(machine.running)?.catch(refused);
    });
  }

  /** Until it is answered. */
  function repeat(what: string, request: (answered: () => void) => Ask): void {
    waiting += 1;
    let done = false;
    const answered = (): void => {
      if (!done) waiting -= 1;
      done = true;
    };
    const attempt = (): void => {
      if (done) return;
      ask(what, 'post', request(answered));
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

  return { areDone: (): boolean => waiting === 0 };
}
