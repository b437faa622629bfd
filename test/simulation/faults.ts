import type { Duration, Instant } from '@carillon/kernel';
import { WireFault, type Asked, type Wire } from '@carillon/testing/memory';
import type { Process, Scheduler } from './scheduler.ts';

/**
 * What becomes of a request: it and its answer arrive; it never arrives; it happens and the answer is lost; a part of it
 * happens; it is given up and happens after that; it happens twice, as a client does that repeats what got no answer.
 */
type Fate = 'fine' | 'not_reached' | 'no_answer' | 'partly' | 'late' | 'again';

/** How often what goes wrong: of requests, and of steps. */
export type Rates = {
  readonly notReached: number;
  readonly noAnswer: number;
  readonly late: number;
  readonly again: number;
  readonly slow: number;
  readonly crash: number;
  readonly stop: number;
  readonly freeze: number;
  readonly expel: number;
  readonly outage: number;
};

export const NOTHING_GOES_WRONG: Rates = {
  notReached: 0,
  noAnswer: 0,
  late: 0,
  again: 0,
  slow: 0,
  crash: 0,
  stop: 0,
  freeze: 0,
  expel: 0,
  outage: 0,
};

const MOST: Rates = {
  notReached: 0.06,
  noAnswer: 0.08,
  late: 0.06,
  again: 0.05,
  slow: 0.04,
  crash: 0.02,
  stop: 0.004,
  freeze: 0.006,
  expel: 0.01,
  outage: 0.004,
};

/** Each kind of fault in about half of the seeds, from rare to often: alone as well as with all others. */
export function ratesOf({ chance }: Scheduler, during: Duration): Rates {
  const rates = Object.entries(MOST).map(([name, most]) => {
    const there = chance() < 0.55;
    return [name, there ? most * (0.1 + 0.9 * chance()) : 0] as const;
  });
  const drawn = Object.fromEntries(rates) as Rates;
  // In a long run processes die as often as in a short one: some live long enough to come back after a freeze.
  const share = Math.min(1, 10_000 / during);
  return { ...drawn, crash: drawn.crash * share, stop: drawn.stop * share, expel: drawn.expel * share };
}

/** A write that people are told of as soon as it stands, and of which there are few: it goes wrong oftener than others. */
const FRAGILE = 'consents.write';

const GIVEN_UP_AFTER: Duration = 10_000;
/** Longer than the lease of a delivery, so that it has to be renewed. */
const SLOWEST: Duration = 45_000;

export type Network = {
  rates: Rates;
  /** Ports, by the first part of their name, that cannot be reached until a time. */
  readonly away: Map<string, Instant>;
  wire(process: Process): Wire;
};

/**
 * `deadWritesArrive`: what a process asked of log and stores right before it died may still happen. `faulty` is told of
 * every request that does not simply arrive and get its answer.
 */
export function createNetwork(
  scheduler: Scheduler,
  rates: Rates,
  deadWritesArrive: boolean,
  faulty: (fate: string, port: string, asked: Asked, process: Process) => void,
): Network {
  const { add, between, chance, now } = scheduler;

  function fateOf(port: string, asked: Asked): Fate {
    if (asked.sure === 'always') return 'fine';
    if ((network.away.get(port.split('.')[0] ?? '') ?? 0) > now()) return 'not_reached';
    if (asked.sure) return 'fine';
    const { notReached, noAnswer, late, again } = network.rates;
    if (port === FRAGILE && network.rates !== NOTHING_GOES_WRONG && chance() < 0.4) {
      return chance() < 0.5 ? 'not_reached' : 'late';
    }
    let left = chance();
    if ((left -= notReached) < 0) return 'not_reached';
    if ((left -= noAnswer) < 0) return asked.partly && chance() < 0.5 ? 'partly' : 'no_answer';
    if (!asked.writes) return 'fine';
    if ((left -= late) < 0) return 'late';
    // A provider or partner is never asked again by a client of its own accord.
    const mayRepeat = !port.startsWith('provider.') && !port.startsWith('partner.');
    if (mayRepeat && left < again) return 'again';
    return 'fine';
  }

  /** Others take their time, so that calls are under way when something happens. */
  function latency(port: string, sure?: Asked['sure']): Duration {
    if (sure) return between(0, 4);
    if (chance() < network.rates.slow) return between(200, SLOWEST);
    const isOther = /^p(rovider|artner)/.test(port) && network.rates !== NOTHING_GOES_WRONG;
    return isOther && chance() < 0.3 ? between(100, 3_000) : between(0, 4);
  }

  const network: Network = {
    rates,
    away: new Map(),
    wire: (process) => ({
      ask<Answer>(port: string, effect: () => Answer, asked: Asked = {}): Promise<Answer> {
        if (!process.alive) return new Promise(() => undefined);
        const fate = fateOf(port, asked);
        if (fate !== 'fine') faulty(fate, port, asked, process);
        const shown = (end: string) => (): string =>
          `${process.name} ${port}${asked.about ? ` ${asked.about()}` : ''}${end}`;
        return new Promise((resolve, reject) => {
          const reply = (delay: Duration, told: () => void, end: string): void => {
            if (process.alive) add(delay, process, () => `← ${port}${end}`, told);
          };
          const happen = (): void => {
            // What a process sent right before it died may have got away, or not.
            const mayArrive = deadWritesArrive || /^p(rovider|artner)/.test(port);
            if (!process.alive && (!mayArrive || chance() < 0.5)) return;
            try {
              const answer = effect();
              const last = fate === 'again' ? effect() : answer;
              if (fate === 'no_answer') reply(between(5, 2000), () => reject(new WireFault(port, true)), ': no answer');
              else if (fate !== 'late') reply(latency(port, asked.sure), () => resolve(last), shownAnswer(last));
            } catch (error) {
              reply(0, () => reject(error), `: ${String(error)}`);
            }
          };
          switch (fate) {
            case 'not_reached':
              reply(between(1, 500), () => reject(new WireFault(port, false)), ': not reached');
              break;
            case 'partly':
              add(latency(port), null, shown(' IN PART'), () => asked.partly?.(chance));
              reply(between(10, 2000), () => reject(new WireFault(port, true)), ': no answer');
              break;
            case 'late':
              add(GIVEN_UP_AFTER + between(0, 10_000), null, shown(' LATE'), happen);
              reply(between(100, GIVEN_UP_AFTER), () => reject(new WireFault(port, true)), ': given up');
              break;
            case 'fine':
            case 'no_answer':
            case 'again':
              add(latency(port, asked.sure), null, shown(fate === 'again' ? ' TWICE' : ''), happen);
          }
        });
      },
      tell(what, told) {
        if (process.alive) add(latency(what, 'always'), process, what, told);
      },
    }),
  };
  return network;
}

const shownAnswer = (answer: unknown): string =>
  typeof answer === 'string' || typeof answer === 'boolean' ? `: ${answer}` : '';
