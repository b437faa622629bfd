import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import type { LaunchedProduct, Product } from '@carillon/testing';
import { readEvidence, type Evidence } from '../../harness/evidence.ts';
import { findWrongOutputs } from '../../support/verify-log.ts';
import type { Posts } from '../posts.ts';
import { settle, type Patience, type Rest, type Settled } from '../settle.ts';
import { lookInto, openBeside } from './unsettled.ts';

/** A stop may leave the last record of the log unread, such as a marker of the start; seldom twice in a row. */
const RESTS = 5;

/** What was posted, and from when on it is waited for. */
export type Expected = Patience & {
  readonly posts: Pick<Posts, 'acknowledged' | 'changes'>;
  readonly since: number;
};

export type Resting = Expected & {
  readonly dataDir: string;
  readonly launch: () => LaunchedProduct;
  /** Whoever is to come to rest; left out: a product that is started for it. */
  readonly running?: LaunchedProduct;
  /** Called when it takes requests: whatever is still to be said. Answers when that was done. */
  readonly begun?: (product: Product) => Promise<number>;
};

/**
 * Waits until it is done, stops it, and reads what it left behind. What is not done then does not get another life: no
 * restart hides it. Only what came up while it was stopped is waited for in the next one.
 */
export async function comeToRest({ dataDir, launch, running, begun, ...expected }: Resting): Promise<Rest> {
  let settledAfter: number | undefined;
  for (let time = 1; ; time += 1) {
    const life = time === 1 && running ? running : launch();
    const product = await life.ready;
    const posted = (await begun?.(product)) ?? 0;
    const settled = await settleInLife(dataDir, { ...expected, since: Math.max(expected.since, posted) });
    settledAfter ??= settled.after;
    const { code, signal } = await life.kill('SIGTERM');
    if (code !== 0) throw new Error(`the product did not stop as asked (${signal ?? code}): ${life.stderr()}`);
    const evidence = await readEmbeddedEvidence(dataDir);
    const isOver = settled.open.length + settled.missing.length > 0 || evidence.unread.length === 0 || time === RESTS;
    if (isOver) return { evidence, settledAfter, leftOpen: settled.open };
  }
}

/** Opens the data folder of a stopped product as its next start would, verifies its log, and reads what is there. */
async function readEmbeddedEvidence(dataDir: string): Promise<Evidence> {
  const stores = await openEmbedded({ dataDir, clock: systemClock, holder: 'crash test' });
  try {
    const wrong = await findWrongOutputs(dataDir, stores);
    if (wrong.length > 0) throw new Error(`the log does not give what it has: ${wrong.join('; ')}`);
    return await readEvidence(stores);
  } finally {
    await stores.close();
  }
}

/** Waits until the running product has a delivery for every slot and nothing is left to do, or nothing moves any more. */
export async function settleInLife(
  dataDir: string,
  { posts: { acknowledged, changes }, ...expected }: Expected,
): Promise<Settled> {
  const subjects = acknowledged.filter(({ fires }) => fires).map(({ subject }) => subject);
  const slots = new Set(subjects).size + changes.length;
  const database = openBeside(dataDir);
  try {
    return await settle(() => Promise.resolve(lookInto(database)), { ...expected, slots });
  } finally {
    database.close();
  }
}
