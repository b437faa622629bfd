import { WireFault, type Asked, type Wire } from '@carillon/testing/memory';
import { createScheduler, takeTimersOver, type Process } from '../scheduler.ts';
import { START } from '../world.ts';

/**
 * What befalls one request, by the number that it has among all requests of a run: it is not reached, its answer is lost,
 * only some of its parts happen, its process dies before or after it, or it is held up until others have made `until` more.
 */
export type Mishap = {
  readonly at: number;
  readonly kind: 'not_reached' | 'no_answer' | 'partly' | 'dies_before' | 'dies_after' | 'held';
  readonly until?: number;
  /** Which parts of it happen, as bits. */
  readonly parts?: number;
};

type Held = { readonly process: Process; readonly until: number; readonly goOn: () => void };

/** Told where a process dies, or is held up while others take it for dead. */
export type Events = { died(process: Process): void; held(process: Process): void };

/**
 * A table on which processes run in one order, but for the mishaps that are laid out: whoever lays them out in all ways
 * has seen every order within those bounds.
 */
export function createTable(mishaps: readonly Mishap[], events: Events) {
  const scheduler = createScheduler(1, START, false);
  const planned = new Map(mishaps.map((mishap) => [mishap.at, mishap]));
  const waiting: (() => void)[] = [];
  let held: Held[] = [];
  let asked = 0;

  const isHeld = (process: Process): boolean => held.some((one) => one.process === process);
  function release(which: (one: Held) => boolean): void {
    const free = held.filter(which);
    held = held.filter((one) => !free.includes(one));
    for (const { goOn } of free) goOn();
    if (free.length > 0) for (const told of waiting.splice(0)) told();
  }

  function wire(process: Process): Wire {
    return {
      ask<Answer>(port: string, effect: () => Answer, { sure, partly }: Asked = {}): Promise<Answer> {
        if (!process.alive) return new Promise(() => undefined);
        const mishap = sure ? undefined : planned.get(asked);
        if (!sure) asked += 1;
        const kind = mishap?.kind;
        return new Promise((resolve, reject) => {
          const reply = (told: () => void): void => {
            if (process.alive) scheduler.add(1, process, port, told);
          };
          const happen = (): void => {
            try {
              const answer = effect();
              reply(() => resolve(answer));
            } catch (error) {
              reply(() => reject(error));
            }
          };
          const fail = (reached: boolean): void => reply(() => reject(new WireFault(port, reached)));
          if (kind === 'not_reached') fail(false);
          else if (kind === 'dies_before') scheduler.add(0, null, port, () => events.died(process));
          else if (kind === 'held') {
            held.push({
              process,
              until: asked + (mishap?.until ?? 0),
              goOn: () => void scheduler.add(0, null, port, happen),
            });
            scheduler.add(0, null, port, () => events.held(process));
          } else {
            scheduler.add(1, null, port, () => {
              if (kind === 'partly' && partly) {
                let bits = mishap?.parts ?? 0;
                partly(() => ((bits >>= 1), bits & 1 ? 0 : 0.9));
                fail(true);
              } else if (kind === 'no_answer' || kind === 'partly') {
                effect();
                fail(true);
              } else if (kind === 'dies_after') {
                effect();
                events.died(process);
              } else happen();
            });
          }
          release(({ until }) => until < asked);
        });
      },
      tell(what, told) {
        const tell = (): void => {
          if (process.alive) scheduler.add(1, process, what, told);
        };
        if (isHeld(process)) waiting.push(tell);
        else tell();
      },
    };
  }

  return {
    scheduler,
    wire,
    asked: (): number => asked,
    /** Until nothing is left to do; `look` is called after each step. */
    async run(begin: () => void, look: () => void): Promise<void> {
      const giveTimersBack = takeTimersOver(scheduler);
      try {
        begin();
        for (let steps = 0; steps < 5_000; steps += 1) {
          if (await scheduler.take()) look();
          else if (held.length > 0) release(() => true);
          else return;
        }
        throw new Error('it never ends');
      } finally {
        giveTimersBack();
      }
    },
  };
}
export type Table = ReturnType<typeof createTable>;
