import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  launchProduct,
  startLedgerSmtp,
  startProduct,
  untilFound,
  type LedgerSmtp,
  type Product,
} from '@carillon/testing';
import { between, createChance } from './chance.ts';
import { readEvidence, type Evidence } from './evidence.ts';
import { startPosters, type Acknowledged, type Posters } from './posters.ts';
import { CONNECTIONS, countDeliveries, openShop } from './shop.ts';
import { judge, type Course, type Finding } from './verdict.ts';

export type CrashOptions = {
  readonly seed: number;
  /** Kills; after the last one the product is left alone until it is done. */
  readonly rounds: number;
  readonly posters?: number;
  /** Events of each poster in a second, at most. */
  readonly rate?: number;
  readonly smtp?: { readonly latency: number; readonly tempfail: number; readonly drop: number };
  /** Dispatchers that the product under test has: each may have calls of its own under way. */
  readonly dispatchers?: number;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
};

export type CrashReport = {
  readonly findings: readonly Finding[];
  readonly figures: Readonly<Record<string, number>>;
  /** What the product wrote to standard error over all its lives. */
  readonly stderr: string;
};

const SMTP = { latency: 60, tempfail: 0.06, drop: 0.03 };
/** Share of kills that hit the product while it starts, and so while it recovers. */
const KILLED_AT_START = 0.2;
const SETTLES_WITHIN = 60_000;
/** Nothing is open and nothing came for so long: what is still missing does not come. Longer than any retry. */
const QUIET = 4_000;

/** Where the product listens, across its lives. Posters wait here while it is dead. */
function createAddress() {
  let next = Promise.withResolvers<string>();
  return {
    up: (url: string) => next.resolve(url),
    /** To be called after `up` only: who waits already would never hear of the next one. */
    down: () => {
      next = Promise.withResolvers<string>();
    },
    current: () => next.promise,
  };
}

/** Kills and restarts the product under load, lets it come to rest, stops it and judges what it left behind. */
export async function runCrashes(options: CrashOptions): Promise<CrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-crash-'));
  const mail = join(folder, 'mail.jsonl');
  const smtp = await startLedgerSmtp({ file: mail, seed: String(options.seed), ...(options.smtp ?? SMTP) });
  try {
    return await crash(options, folder, smtp);
  } finally {
    await smtp.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function crash(options: CrashOptions, folder: string, smtp: LedgerSmtp): Promise<CrashReport> {
  const dataDir = join(folder, 'data');
  const stderr: string[] = [];
  const apiKey = await prepare(folder, dataDir, smtp.port);
  const address = createAddress();
  const posters = startPosters({
    seed: options.seed,
    apiKey,
    gateway: address.current,
    posters: options.posters ?? 8,
    rate: options.rate ?? 10,
  });
  const start = { dataDir, ...(options.env && { env: options.env }) };
  const chance = createChance(options.seed ^ 0x5eed);
  let startTakes = 1_000;

  /** One life of the product: from its start, or in its midst, to its death. */
  async function liveAndDie(): Promise<void> {
    const launchedAt = Date.now();
    const launched = launchProduct(start);
    if (chance() < KILLED_AT_START) {
      await pause(between(chance, 0.2, 1) * startTakes);
    } else {
      const product = await launched.ready;
      startTakes = Date.now() - launchedAt;
      address.up(product.gatewayUrl);
      await pause(between(chance, 100, 1_500));
      await launched.kill('SIGKILL');
      address.down();
    }
    await launched.kill('SIGKILL');
    stderr.push(launched.stderr());
  }

  for (let round = 0; round < options.rounds; round += 1) await liveAndDie();
  const survivor = await startProduct(start);
  try {
    address.up(survivor.gatewayUrl);
    await posters.finish();
    await settle(survivor, posters.acknowledged);
  } finally {
    await survivor.kill('SIGTERM');
    stderr.push(survivor.stderr());
  }
  const { code, signal } = await survivor.exited;
  if (code !== 0) throw new Error(`the product did not stop as asked (${signal ?? code}): ${survivor.stderr()}`);
  return report(options, posters, smtp, await readEvidence(dataDir), stderr.join(''));
}

/** The first life: an operator sets the shop up. No bug is planted yet. */
async function prepare(folder: string, dataDir: string, smtpPort: number): Promise<string> {
  const product = await startProduct({ dataDir });
  try {
    return await openShop(folder, dataDir, smtpPort);
  } finally {
    await product.kill('SIGTERM');
  }
}

/** Waits until every slot has a delivery and none is open, or until nothing moves any more: then the rest is lost. */
async function settle(product: Product, acknowledged: readonly Acknowledged[]): Promise<void> {
  const slots = new Set(acknowledged.map(({ uniqueId }) => uniqueId)).size;
  let last = '';
  let since = Date.now();
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
      return all >= slots || Date.now() - since > QUIET ? true : undefined;
    },
    SETTLES_WITHIN,
  ).catch((error: unknown) => {
    throw new Error(`it did not come to rest, the last count was ${last}`, { cause: error });
  });
}

async function report(
  options: CrashOptions,
  posters: Posters,
  smtp: LedgerSmtp,
  evidence: Evidence,
  stderr: string,
): Promise<CrashReport> {
  const mail = await smtp.entries();
  const course: Course = {
    acknowledged: posters.acknowledged,
    mail,
    callsAtKills: options.rounds * CONNECTIONS * (options.dispatchers ?? 1),
  };
  const inDoubt = (reason: string): number =>
    evidence.deliveries.filter((one) => one.state === 'IN_DOUBT' && one.reason === reason).length;
  return {
    findings: judge(course, evidence),
    stderr,
    figures: {
      kills: options.rounds,
      acknowledged: posters.acknowledged.length,
      requestsCut: posters.cut(),
      messages: mail.length,
      deliveries: evidence.deliveries.length,
      duplicates: evidence.deliveries.reduce((sum, one) => sum + one.duplicates, 0),
      failed: evidence.deliveries.filter((one) => one.state === 'FAILED').length,
      attempts: evidence.deliveries.reduce((sum, one) => sum + one.attempts.length, 0),
      doubtsByKill: inDoubt('lease_ran_out'),
      doubtsByDrop: inDoubt('answer_unknown'),
      dropsPlanted: mail.filter(({ dropped }) => dropped).length,
      evaluationsRepeated: repeated(evidence),
    },
  };
}

/** Evaluation records that begin where another one did: batches that a kill had done twice. */
const repeated = ({ evaluations }: Evidence): number =>
  evaluations.length - new Set(evaluations.map(({ partition, from }) => `${partition}/${from}`)).size;
