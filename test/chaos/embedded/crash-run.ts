import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  launchProduct,
  startLedgerSmtp,
  untilFound,
  type LaunchedProduct,
  type LedgerSmtp,
  type Product,
} from '@carillon/testing';
import { between, createChance } from '../../harness/chance.ts';
import { coverageOf, showsTooLittle } from '../coverage.ts';
import { figuresOf } from '../figures.ts';
import type { Cut } from '../cuts.ts';
import { startBookedPartner, type BookedPartner } from '../partner.ts';
import { startPosters, type Posters } from '../posters.ts';
import type { Mixture, Posts } from '../posts.ts';
import { readBooks, startProviders, type Providers } from '../providers.ts';
import { createReporter, type Reporter } from '../reporter.ts';
import { openShop, SHOP_ENVIRONMENT } from '../shop.ts';
import type { Finding } from '../../harness/promises.ts';
import { judge, type Course } from '../verdict.ts';
import { comeToRest, settleInLife } from './rest.ts';
import { standingStill, type Rest } from '../settle.ts';

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
  readonly smtp?: { readonly latency: number; readonly tempfail: number; readonly drop: number };
  /**
   * What befalls the first life, under load. When it is over that life has to come to rest; only then it is killed. Answers
   * when calls may have been cut off, or what came of them.
   */
  readonly trouble?: (product: Product, posters: Posters) => Promise<Cut>;
  /** Whether so much was taken that the clients may end; left out: when the last kill is over. */
  readonly isEnough?: (posts: Posts) => boolean;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
};

export type CrashReport = {
  readonly findings: readonly Finding[];
  /** Null: it shows enough, or the machine was too slow to say. */
  readonly showsTooLittle: string | null;
  readonly figures: Readonly<Record<string, number>>;
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
export async function runCrashes(options: CrashOptions): Promise<CrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-crash-'));
  const mail = join(folder, 'mail.jsonl');
  const smtp = await startLedgerSmtp({ file: mail, seed: String(options.seed), ...(options.smtp ?? SMTP) });
  const partner = await startBookedPartner(options.seed);
  const onSms: { tell: Reporter['onSms'] } = { tell: async () => undefined };
  const providers = await startProviders(folder, (message) => onSms.tell(message));
  try {
    return await crash(options, folder, { smtp, partner, providers }, onSms);
  } finally {
    await providers.stop();
    await partner.stop();
    await smtp.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Others = { readonly smtp: LedgerSmtp; readonly partner: BookedPartner; readonly providers: Providers };

async function crash(
  options: CrashOptions,
  folder: string,
  others: Others,
  onSms: { tell: Reporter['onSms'] },
): Promise<CrashReport> {
  const { smtp, partner, providers } = others;
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
    await first.ready;
    const posters = startPosters({
      seed: options.seed,
      keys: await openShop(folder, dataDir, {
        smtpPort: smtp.port,
        partnerUrl: partner.url,
        providers: providers.places,
      }),
      gateway: address.current,
      posters: options.posters ?? 8,
      rate: options.rate ?? 10,
      ...(options.mixture && { mixture: options.mixture }),
    });
    const { posts } = posters;
    const reporter = createReporter({ seed: options.seed, gateway: address.current, optedOut: posts.optedOut });
    onSms.tell = reporter.onSms;
    const troubles: Cut[] = [];
    const standing: Finding[] = [];
    let recoveredAfter = 0;
    if (options.trouble) {
      const product = await first.ready;
      address.up(product.gatewayUrl);
      troubles.push(await options.trouble(product, posters));
      // A start would set right what stands still.
      const settled = await settleInLife(dataDir, { posts, since: await posters.finish() });
      recoveredAfter = settled.after;
      standing.push(...standingStill(settled));
    }
    const kills = await killRepeatedly(options, first, launch, address, partner);
    const { evidence, settledAfter, leftOpen } = await comeToRest({
      dataDir,
      launch,
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
    return await report(
      {
        reporter,
        options,
        posters,
        kills,
        troubles,
        standing,
        evidence,
        leftOpen,
        settledAfter: Math.max(recoveredAfter, settledAfter),
        ...others,
      },
      lives.map((life) => life.stderr()).join(''),
    );
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

type Run = Others & {
  readonly reporter: Reporter;
  readonly options: CrashOptions;
  readonly posters: Posters;
  readonly kills: readonly Cut[];
  readonly troubles: readonly Cut[];
  /** What did not go on when the trouble was over. */
  readonly standing: readonly Finding[];
} & Rest;

async function report(
  {
    options,
    posters,
    reporter,
    smtp,
    partner,
    providers,
    kills,
    troubles,
    standing,
    evidence,
    leftOpen,
    settledAfter,
  }: Run,
  stderr: string,
): Promise<CrashReport> {
  const { mail, sends } = await readBooks(smtp, providers, evidence);
  const { acknowledged, changes, firstMembers } = posters.posts;
  const cuts = [...troubles, ...kills];
  const course: Course = {
    acknowledged,
    changes,
    firstMembers,
    mail,
    atKills: { sends, kills: cuts },
    partner: { calls: partner.calls, cuts },
    settledAfter,
    leftOpen,
    reports: reporter,
  };
  const coverage = coverageOf(course, evidence);
  return {
    findings: [...standing, ...judge(course, evidence)],
    showsTooLittle: showsTooLittle(coverage),
    stderr,
    figures: {
      kills: options.rounds,
      settledAfter,
      ...coverage,
      ...figuresOf(posters, evidence),
      leavers: changes.filter(({ user }) => user.startsWith('club-')).length,
      partnerAnswers: partner.calls.filter(({ answered }) => answered).length,
      messages: mail.length,
      texted: providers.twilio.messages.length,
      pushed: providers.fcm.messages.length,
      reported: reporter.answered.size,
      optedOut: evidence.deliveries.filter(({ reason }) => reason === 'opted_out').length,
      dropsPlanted: mail.filter(({ dropped }) => dropped).length,
    },
  };
}
