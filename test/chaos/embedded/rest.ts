import { setTimeout as pause } from 'node:timers/promises';
import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { untilFound, type LaunchedProduct, type Product } from '@carillon/testing';
import { readEvidence, type Evidence } from '../evidence.ts';
import type { Posts } from '../posts.ts';
import { CALL_LEASE, countDeliveries } from '../shop.ts';

const SETTLES_WITHIN = 180_000;
/** Longer than any retry or lease. */
const QUIET = CALL_LEASE + 4_000;
/** A stop may leave the last record of the log unread, seldom twice in a row. */
const RESTS = 5;

export type Resting = {
  readonly dataDir: string;
  readonly launch: () => LaunchedProduct;
  /** What was posted. */
  readonly posts: Pick<Posts, 'acknowledged' | 'changes'>;
  /** Called when it takes requests again: whatever is still to be said. */
  readonly begun?: (product: Product) => Promise<void>;
  /** Nothing is open and nothing came for so long: what is still missing does not come. */
  readonly quiet?: number;
};

/** Starts it a last time and stops it when it is done; again, as long as something on the log is left to be read. */
export async function comeToRest({ dataDir, launch, begun, ...resting }: Resting): Promise<Evidence> {
  for (let time = 1; ; time += 1) {
    const life = launch();
    const product = await life.ready;
    await begun?.(product);
    // What a dead process had begun to ask is open until its lease is over.
    await settle(product, resting, time === 1 ? 0 : CALL_LEASE);
    const { code, signal } = await life.kill('SIGTERM');
    if (code !== 0) throw new Error(`the product did not stop as asked (${signal ?? code}): ${life.stderr()}`);
    const evidence = await readEmbeddedEvidence(dataDir);
    if (evidence.unread.length === 0 || time === RESTS) return evidence;
  }
}

/** Opens the data folder of a stopped product as its next start would, and reads what is there. */
async function readEmbeddedEvidence(dataDir: string): Promise<Evidence> {
  const stores = await openEmbedded({ dataDir, clock: systemClock, holder: 'crash test' });
  try {
    return await readEvidence(stores);
  } finally {
    await stores.close();
  }
}

/** Waits until every slot has a delivery and none is open, or until nothing moves any more: then the rest is lost. */
async function settle(
  product: Product,
  { posts: { acknowledged, changes }, quiet = QUIET }: Pick<Resting, 'posts' | 'quiet'>,
  atLeast: number,
): Promise<void> {
  const subjects = acknowledged.filter(({ fires }) => fires).map(({ subject }) => subject);
  const slots = new Set(subjects).size + changes.length;
  const began = Date.now();
  let last = '';
  let since = began;
  await untilFound(
    'deliveries that are sent, failed or in doubt',
    async () => {
      const counts = await countDeliveries(product);
      const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const now = JSON.stringify(counts);
      if (now !== last) {
        last = now;
        since = Date.now();
      }
      if ((counts['WAITING'] ?? 0) + (counts['SENDING'] ?? 0) > 0) return undefined;
      await pause(50);
      if (Date.now() - began < atLeast) return undefined;
      return all >= slots || Date.now() - since > quiet ? true : undefined;
    },
    SETTLES_WITHIN,
  ).catch((error: unknown) => {
    throw new Error(`it did not come to rest, the last count was ${last}`, { cause: error });
  });
}
