import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { launchProduct, startScriptedSmtp, untilFound, type LaunchedProduct } from '@carillon/testing';
import { between, createChance } from '../../harness/chance.ts';
import { readEvidence } from '../../harness/evidence.ts';
import { planting } from '../../harness/planting.ts';
import { caller, shopOf, smtpDeployment } from '../../integration/product/shop.ts';
import { verifyWhole } from '../../support/verify-log.ts';
import { evaluateAgain } from '../evaluate-again.ts';
import { armFailpoint } from '../failpoints/arming.ts';
import { FAILPOINTS_IN_THE_PRODUCT } from '../failpoints/planted-failpoints.ts';
import { settle } from '../settle.ts';
import {
  compareOwed,
  owedBy,
  startOrderClients,
  WAITING_FILES,
  waitingFailpoint,
  type TakenMail,
} from '../waiting-orders.ts';
import { lookInto, openBeside } from './unsettled.ts';

export type WaitsOptions = {
  readonly seed: number;
  readonly orders: number;
  /** Lives after which the process is stopped for longer than any lease, by their number. */
  readonly stops: ReadonlySet<number>;
  /** Environment of the product: how bugs are planted. */
  readonly env?: Readonly<Record<string, string>>;
};

/** Longer than the lease of a delivery. */
const STOPPED_MS = 35_000;

/** Kills and stops a product while orders come, and compares what it sent with what the log owes. */
export async function runWaits({ seed, orders, stops, env = {} }: WaitsOptions) {
  const mails: TakenMail[] = [];
  const smtp = await startScriptedSmtp({
    onAccepted: async ({ raw }) => {
      mails.push({ at: Date.now(), subject: /^subject: (.*)$/im.exec(raw)?.[1]?.trim() ?? '' });
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'carillon-waits-'));
  const dataDir = join(folder, 'data');
  const lives: LaunchedProduct[] = [];
  const launch = (): LaunchedProduct => {
    const failing = { FAILPOINTS: `@${join(folder, 'orders')}`, ...planting(FAILPOINTS_IN_THE_PRODUCT) };
    const life = launchProduct({ dataDir, env: { NODE_COMPILE_CACHE: join(folder, 'cache'), ...failing, ...env } });
    lives.push(life);
    return life;
  };
  let address = Promise.withResolvers<string>();
  const chance = createChance(seed ^ 0x5eed);
  const figures = { kills: 0, stops: 0, failpoints: 0 };
  try {
    let life = launch();
    /** Launches until a life takes requests. One may fail at its failpoint before. */
    const start = async (): Promise<string> => {
      for (;;) {
        life = launch();
        const isReady = await life.ready.then(
          () => true,
          () => false,
        );
        if (isReady) return (await life.ready).gatewayUrl;
        if (!hasFailed(life)) throw new Error(`the product did not start: ${life.stderr()}`);
        figures.kills += 1;
        figures.failpoints += 1;
      }
    };
    const first = await life.ready;
    const { body } = await caller(first)<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
    await shopOf(first, folder, dataDir, body.key).apply({
      'carillon.yaml': smtpDeployment(smtp.port),
      ...WAITING_FILES,
    });
    address.resolve(first.gatewayUrl);
    const clients = startOrderClients({ orders, seed, key: body.key }, () => address.promise);
    let isDone = false;
    const done = clients.done.then(() => {
      isDone = true;
    });
    const lastStop = Math.max(0, ...stops);
    while (!isDone || lives.length <= lastStop) {
      const isStopped = stops.has(lives.length);
      if (isStopped) await rm(join(folder, 'orders'), { force: true });
      else await armFailpoint(folder, waitingFailpoint(chance));
      await Promise.race([...(isDone ? [] : [done]), life.exited, pause(between(chance, 500, 8_000))]);
      if (isStopped) {
        figures.stops += Number(await stopFor(life, STOPPED_MS));
        await pause(between(chance, 0, 2_000));
      }
      await life.kill('SIGKILL');
      figures.kills += 1;
      if (hasFailed(life)) figures.failpoints += 1;
      address = Promise.withResolvers();
      address.resolve(await start());
    }
    await done;
    await rm(join(folder, 'orders'), { force: true });
    if (hasFailed(life)) {
      await life.kill('SIGKILL');
      await start();
    }
    await comeToRest(dataDir);
    await life.kill('SIGTERM');
    const data = await openEmbedded({ dataDir, clock: systemClock, holder: 'crash test' });
    try {
      const owed = await owedBy(data.log);
      const report = compareOwed(owed, await readEvidence(data), mails);
      const intents = await evaluateAgain(data.log, data.registry, dataDir, async () => undefined);
      const verified = await verifyWhole(dataDir, data);
      return { ...report, intents, verified, figures: { ...figures, events: clients.taken() }, stderr: life.stderr() };
    } finally {
      await data.close();
    }
  } finally {
    await Promise.all(lives.map((life) => life.kill('SIGKILL')));
    await smtp.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const hasFailed = (life: LaunchedProduct): boolean => life.stderr().includes('failpoint ');

/** Stops a process and lets it go on. Returns false if it has ended before. */
async function stopFor({ pid }: LaunchedProduct, span: number): Promise<boolean> {
  try {
    process.kill(pid, 'SIGSTOP');
  } catch {
    return false;
  }
  await pause(span);
  process.kill(pid, 'SIGCONT');
  return true;
}

const AT_REST_WITHIN = 300_000;

/** Waits until nothing waits, and every message has ended or is in doubt. */
async function comeToRest(dataDir: string): Promise<void> {
  const database = openBeside(dataDir);
  const waiting = database.prepare('SELECT count(*) AS count FROM rule_states WHERE next_due IS NOT NULL');
  try {
    await untilFound('nothing waits', () => (waiting.get()?.['count'] === 0 ? true : undefined), AT_REST_WITHIN);
    const { open } = await settle(async () => lookInto(database), { since: Date.now() });
    if (open.length > 0) throw new Error(`it does not go on: ${open.join('; ')}`);
  } finally {
    database.close();
  }
}
