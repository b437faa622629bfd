import { untilFound } from '@carillon/testing';
import { createNetwork, type Spans } from '../network.ts';
import { runCrashes, type CrashReport } from './crash-run.ts';

const TAKEN_WITHIN = 120_000;

export type EdgesOptions = {
  readonly seed: number;
  readonly spans: Spans;
  /** Told what happens next, and to whom. */
  readonly progress?: (what: string) => void;
};

/** Cuts and delays every edge of the product under load, lets it come to rest, and judges what it left behind. */
export async function runEdges({ seed, spans, progress }: EdgesOptions): Promise<CrashReport> {
  const network = createNetwork();
  try {
    return await runCrashes({
      seed,
      rounds: 0,
      rate: 4,
      smtp: { latency: 60, tempfail: 0.03, drop: 0.01 },
      network,
      async trouble(_product, posters) {
        // From then on there are requests, mails and calls to the partner that can be cut.
        await untilFound('orders are taken', () => posters.taken() >= 40 || undefined, TAKEN_WITHIN);
        await network.trouble(spans, progress);
        // Nobody is killed: the network says what it cut.
        return [];
      },
    });
  } finally {
    await network.stop();
  }
}
