import type { OpenSide, Side } from '../harness/bench.ts';
import type { ClosedLoad, OpenLoad } from '../harness/load.ts';
import { EVENT_BYTES } from '../corpus.ts';
import { compareStored } from '../peers/topic.ts';
import type { Shared } from '../started-once.ts';
import { secondsOf } from '../warm-up.ts';
import { type HttpLoad, readingOf } from './load.ts';
import type { HttpTarget } from './target.ts';

/** What the sides of a case stand on. */
export type Stand = { readonly load: HttpLoad };

export type HttpSideOptions<S extends Stand> = {
  readonly name: string;
  readonly syncs: string;
  readonly stand: Shared<S>;
  start(stand: S): Promise<HttpTarget>;
  /** How it is posted to in a round of so many seconds. */
  load(seconds: number): ClosedLoad | OpenLoad;
  /** Process id by name, of what works for every side; the generator is added. */
  shares(stand: S): Readonly<Record<string, number>>;
};

/** Events posted to one target. Every 202 has to be on its log, once. */
export function httpSide<S extends Stand>(options: HttpSideOptions<S>): Side {
  const { name, syncs, stand } = options;

  async function open(): Promise<OpenSide> {
    const on = await stand.take();
    let target: HttpTarget;
    try {
      target = await options.start(on);
    } catch (error) {
      await stand.release();
      throw error;
    }
    const acknowledged: string[] = [];
    const refused = new Map<string, number>();
    const { url, headers, stored, twilio, storedAs = (id: string) => id } = target;
    return {
      processes: { ...target.processes, ...options.shares(on), load: on.load.pid },
      async round(round) {
        const load = options.load(secondsOf(round));
        const result = await on.load.run({ url, headers, bytes: EVENT_BYTES, load, twilio });
        for (const id of result.acknowledged) acknowledged.push(id);
        for (const [what, count] of Object.entries(result.refusals))
          refused.set(what, (refused.get(what) ?? 0) + count);
        return { ...readingOf(result), ...('rate' in load && { offered: load.rate }) };
      },
      async verify() {
        return [
          ...[...refused].map(([what, count]) => `${count} were answered with ${what}`),
          ...(stored ? compareStored(acknowledged.map(storedAs), await stored()) : []),
        ];
      },
      async close() {
        await target.stop();
        await stand.release();
      },
    };
  }
  return { name, syncs, open };
}
