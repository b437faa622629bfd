import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Reading } from '../harness/bench.ts';
import { createDelays, recordDelay } from '../harness/delays.ts';
import type { ClosedLoad, CountedLoad, OpenLoad } from '../harness/load.ts';
import type { TwilioCallbacks } from './target.ts';

/** What the generator is told. */
export type LoadPlan = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The size of each body. */
  readonly bytes: number;
  readonly load: ClosedLoad | CountedLoad | OpenLoad;
  readonly twilio?: TwilioCallbacks | undefined;
};

/** What it answers. */
export type LoadResult = {
  readonly seconds: number;
  /** CPU seconds of its one thread in each of these seconds. */
  readonly busy: number;
  /** The id of each event that was answered with 202, as the answer named it; of a status the sid of its message. */
  readonly acknowledged: readonly string[];
  /** Every other answer, and how often it came. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Milliseconds from the request, or from when it was due, to its 202. */
  readonly delays: Float64Array;
  /** When each of these was answered: milliseconds since 1970, in fractions. */
  readonly answeredAt: Float64Array;
};

/** Posts over connections that are kept, in a process of its own. */
export type HttpLoad = {
  readonly pid: number;
  run(plan: LoadPlan): Promise<LoadResult>;
  stop(): Promise<void>;
};

export function startHttpLoad(): HttpLoad {
  const child = fork(join(import.meta.dirname, 'generator.ts'), { serialization: 'advanced' });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the load generator ended (${signal ?? code})`);
  });
  ended.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    async run(plan) {
      child.send(plan);
      const [result] = (await Promise.race([once(child, 'message'), ended])) as [LoadResult];
      return result;
    },
    async stop() {
      child.disconnect();
      await ended.catch(() => undefined);
    },
  };
}

/** What a run says of the side that it was sent to. */
export function readingOf({ acknowledged, seconds, delays, busy }: LoadResult): Reading {
  const recorded = createDelays();
  for (const delay of delays) recordDelay(recorded, delay);
  return { done: acknowledged.length, seconds, delays: recorded, loadBusy: busy };
}
