import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { launchProduct, untilFound, type LaunchedProduct, type Product } from '@carillon/testing';
import { between, createChance } from '../../harness/chance.ts';
import type { Finding } from '../../harness/promises.ts';
import { startClients } from '../clients.ts';
import type { Cut } from '../cuts.ts';
import { judgeRun, type JudgedRun } from '../judge-run.ts';
import { neighboursThrough, type Network } from '../network.ts';
import { withOutsideServers, type OutsideOptions, type OutsideServers } from '../outside-servers.ts';
import type { BookedPartner } from '../partner.ts';
import type { Posters } from '../posters.ts';
import type { Mixture, Posts } from '../posts.ts';
import { standingStill } from '../settle.ts';
import { openShop, SHOP_ENVIRONMENT } from '../shop.ts';
import { comeToRest, settleInLife } from './rest.ts';

export type CrashOptions = {
  readonly seed: number;
  /** Kills; after the last one the product is left alone until it is done. */
  readonly rounds: number;
  /**
   * One life in five, by the seed, is left alone for some seconds, and killed at a moment at which the partner is being
   * asked. Left out: none is.
   */
  readonly calm?: boolean;
  readonly posters?: number;
  /** Events of each poster in a second, at most. */
  readonly rate?: number;
  readonly mixture?: Mixture;
  readonly smtp?: OutsideOptions['smtp'];
  /**
   * What befalls the first life, under load. When it is over that life has to come to rest; only then it is killed. Returns
   * when calls may have been cut off, or what came of them.
   */
  readonly trouble?: (product: Product, posters: Posters) => Promise<readonly Cut[]>;
  /** Stands between all parts during the trouble. Left out if nothing does. */
  readonly network?: Network;
  /** Whether so much was taken that the clients may end; left out: when the last kill is over. */
  readonly isEnough?: (posts: Posts) => boolean;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
};

export type CrashReport = Omit<JudgedRun, 'sends'> & {
  /** What the product wrote to standard error over all its lives. */
  readonly stderr: string;
};

const SMTP = { latency: 60, tempfail: 0.06, drop: 0.03 };
/** Share of kills that hit the product while it starts, and so while it recovers. */
const KILLED_AT_START = 0.2;
const ENOUGH_WITHIN = 120_000;
/** How long a calm life lasts: far longer than any slack, so that most of what it does is near no kill. */
const CALM = { every: 5, least: 4_000, most: 6_000 };
const ASKED_WITHIN = 60_000;

type Address = { up(url: string): void; down(): void; readonly current: () => Promise<string> };

/** Where the product listens, across its lives. Posters wait here while it is dead. */
function createAddress(): Address {
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
export const runCrashes = (options: CrashOptions): Promise<CrashReport> =>
  withOutsideServers({ seed: options.seed, smtp: options.smtp ?? SMTP }, (servers) => crash(options, servers));

async function crash(options: CrashOptions, servers: OutsideServers): Promise<CrashReport> {
  const { rounds, network, trouble } = options;
  const { folder, providers } = servers;
  const dataDir = join(folder, 'data');
  const lives: LaunchedProduct[] = [];
  const launch = (): LaunchedProduct => {
    const life = launchProduct({ dataDir, env: { ...SHOP_ENVIRONMENT, ...providers.env, ...options.env } });
    lives.push(life);
    return life;
  };
  const address = createAddress();
  try {
    const first = launch();
    const product = await first.ready;
    const firstUrl = network ? await network.through('clients-gateway', product.gatewayUrl) : product.gatewayUrl;
    const { posters, reporter } = startClients(servers, {
      seed: options.seed,
      keys: await openShop(folder, dataDir, await neighboursThrough(network, servers)),
      gateway: address.current,
      posters: options.posters ?? 8,
      rate: options.rate ?? 10,
      mixture: options.mixture,
    });
    const { posts } = posters;
    const troubles: Cut[] = [];
    const standing: Finding[] = [];
    let recoveredAfter = 0;
    if (trouble) {
      address.up(firstUrl);
      troubles.push(...(await trouble(product, posters)));
      // A start would set right what stands still.
      const settled = await settleInLife(dataDir, { posts, since: await posters.finish() });
      recoveredAfter = settled.after;
      standing.push(...standingStill(settled));
    }
    const kills = await killRepeatedly(options, first, launch, address, servers.partner);
    const rest = await comeToRest({
      dataDir,
      launch,
      ...(rounds === 0 && { running: first }),
      posts,
      since: Date.now(),
      async begun({ gatewayUrl }) {
        address.up(gatewayUrl);
        const { isEnough } = options;
        // Where it never is, the figures say so, or the clients do.
        if (isEnough)
          await untilFound('enough', () => isEnough(posts) || undefined, ENOUGH_WITHIN).catch(() => undefined);
        return posters.finish();
      },
    });
    await reporter.stop();
    const cuts = [...troubles, ...kills];
    const judged = await judgeRun({
      ...rest,
      settledAfter: Math.max(recoveredAfter, rest.settledAfter),
      servers,
      clients: { posters, reporter },
      cuts: { delivery: cuts, engine: cuts },
      network,
    });
    return {
      ...judged,
      findings: [...standing, ...judged.findings],
      figures: { kills: rounds, ...judged.figures },
      stderr: lives.map((life) => life.stderr()).join(''),
    };
  } finally {
    await Promise.all(lives.map((life) => life.kill('SIGKILL')));
  }
}

/**
 * One life after the other, each killed in its midst or while it starts. The first is there already, and is not spared.
 * Answers when.
 */
async function killRepeatedly(
  { seed, rounds, calm = false }: CrashOptions,
  first: LaunchedProduct,
  launch: () => LaunchedProduct,
  address: Address,
  partner: BookedPartner,
): Promise<readonly Cut[]> {
  const kills: Cut[] = [];
  const kill = async (life: LaunchedProduct): Promise<void> => {
    const from = Date.now();
    await life.kill('SIGKILL');
    kills.push({ from, until: Date.now() });
  };
  const chance = createChance(seed ^ 0x5eed);
  const calmRounds = calm ? chooseCalm(rounds, chance) : new Set<number>();
  const isAsked = (): true | undefined => partner.calls.some(({ endedAt }) => endedAt === Infinity) || undefined;
  let startTakes = 1_000;
  let life = first;
  for (let round = 1; round <= rounds; round += 1) {
    if (life !== first && !calmRounds.has(round) && chance() < KILLED_AT_START) {
      await pause(between(chance, 0.2, 1) * startTakes);
      await kill(life);
    } else {
      const since = Date.now();
      address.up((await life.ready).gatewayUrl);
      startTakes = Math.max(startTakes, Date.now() - since);
      if (calmRounds.has(round)) {
        await pause(between(chance, CALM.least, CALM.most));
        // The partner answers in this very process: nothing comes between the look and the signal.
        await untilFound('a call to the partner', isAsked, ASKED_WITHIN).catch(() => undefined);
      } else {
        await pause(between(chance, 100, 1_500));
      }
      await kill(life);
      address.down();
    }
    if (round < rounds) life = launch();
  }
  return kills;
}

/** One of each few. */
const chooseCalm = (rounds: number, chance: () => number): ReadonlySet<number> =>
  new Set(
    Array.from({ length: Math.ceil(rounds / CALM.every) }, (_, turn) => {
      const before = turn * CALM.every;
      return before + 1 + Math.floor(chance() * Math.min(CALM.every, rounds - before));
    }),
  );
