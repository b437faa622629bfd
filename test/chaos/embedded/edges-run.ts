import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchProduct, startLedgerSmtp, type LaunchedProduct, type LedgerSmtp } from '@carillon/testing';
import { createNetwork, type Network, type Spans } from '../network.ts';
import { startBookedPartner, type BookedPartner } from '../partner.ts';
import { startPosters } from '../posters.ts';
import { openShop, SHOP_ENVIRONMENT } from '../shop.ts';
import type { Finding } from '../../harness/promises.ts';
import { judge } from '../verdict.ts';
import { comeToRest } from './rest.ts';

export type EdgesOptions = {
  readonly seed: number;
  readonly spans: Spans;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
  /** Told what happens next, and to whom. */
  readonly progress?: (what: string) => void;
};

export type EdgesReport = {
  readonly findings: readonly Finding[];
  readonly figures: Readonly<Record<string, number>>;
  readonly stderr: string;
};

const SMTP = { latency: 60, tempfail: 0.03, drop: 0.01 };
const POSTERS = 8;
/** Events of each in a second. */
const RATE = 4;

/** Cuts and delays every edge of the product under load, lets it come to rest, and judges what it left behind. */
export async function runEdges(options: EdgesOptions): Promise<EdgesReport> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-edges-'));
  const smtp = await startLedgerSmtp({ file: join(folder, 'mail.jsonl'), seed: String(options.seed), ...SMTP });
  const partner = await startBookedPartner(options.seed);
  const network = createNetwork();
  try {
    return await wreck(options, folder, { smtp, partner, network });
  } finally {
    await network.stop();
    await partner.stop();
    await smtp.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Others = { readonly smtp: LedgerSmtp; readonly partner: BookedPartner; readonly network: Network };

async function wreck(options: EdgesOptions, folder: string, { smtp, partner, network }: Others): Promise<EdgesReport> {
  const dataDir = join(folder, 'data');
  const lives: LaunchedProduct[] = [];
  const launch = (): LaunchedProduct => {
    const life = launchProduct({ dataDir, env: { ...SHOP_ENVIRONMENT, ...options.env } });
    lives.push(life);
    return life;
  };
  try {
    const life = launch();
    const { gatewayUrl } = await life.ready;
    const gateway = await network.through('clients-gateway', gatewayUrl);
    const mailServer = await network.through('delivery-smtp', `127.0.0.1:${smtp.port}`);
    const neighbours = {
      smtpPort: Number(mailServer.split(':')[1]),
      partnerUrl: await network.through('engine-partner', partner.url),
    };
    const posters = startPosters({
      seed: options.seed,
      keys: await openShop(folder, dataDir, neighbours),
      gateway: () => Promise.resolve(gateway),
      posters: POSTERS,
      rate: RATE,
    });
    await network.trouble(options.spans, options.progress);
    const since = await posters.finish();
    // The same life: a start would set right what stands still.
    const { evidence, settledAfter, leftOpen } = await comeToRest({
      dataDir,
      launch,
      running: life,
      posts: posters.posts,
      since,
    });
    const mail = await smtp.entries();
    const { acknowledged, changes, firstMembers } = posters.posts;
    const inDoubt = evidence.deliveries.filter(({ state }) => state === 'IN_DOUBT');
    return {
      findings: judge(
        {
          acknowledged,
          changes,
          firstMembers,
          mail,
          // Nobody was killed.
          atKills: { sends: await smtp.sends(), kills: [] },
          answersLost: network.resets('delivery-smtp'),
          partner: { calls: partner.calls, cuts: network.cuts() },
          settledAfter,
          leftOpen,
        },
        evidence,
      ),
      stderr: lives.map((one) => one.stderr()).join(''),
      figures: {
        edges: network.edges().length,
        settledAfter,
        acknowledged: posters.taken(),
        requestsCut: posters.cut(),
        partnerCalls: partner.calls.length,
        messages: mail.length,
        deliveries: evidence.deliveries.length,
        attempts: evidence.deliveries.reduce((sum, one) => sum + one.attempts.length, 0),
        failed: evidence.deliveries.filter(({ state }) => state === 'FAILED').length,
        doubts: inDoubt.length,
        mailsReset: network.resets('delivery-smtp').reduce((sum, { most }) => sum + most, 0),
      },
    };
  } finally {
    await Promise.all(lives.map((one) => one.kill('SIGKILL')));
  }
}
