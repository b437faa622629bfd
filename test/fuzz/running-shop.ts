import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { InboxMessageBody } from '@carillon/contracts';
import { bringMail, startScriptedSmtp, statusReport, untilFound } from '@carillon/testing';
import { freePorts } from '@carillon/testing/services';
import {
  forgeToken,
  makeSigningKey,
  signToken,
  startKeySetServer,
  type SigningKey,
  type TokenParts,
} from '@carillon/testing/tokens';
import { openShop, order } from '../integration/product/shop.ts';
import type { RequestCase } from './fuzz-case.ts';
import { operationsOf, type ApiDocument, type Operation } from './generators/management.ts';
import type { Secrets } from './oracle.ts';
import { BOUNCE_DOMAIN, CALLBACK_SECRET, COHORT_SECRET, fuzzedFiles } from './shop-files.ts';

/** What the fuzzer sends its cases to: the running product, or a double of it in the fuzzer's own tests. */
export type Target = {
  readonly ports: Readonly<Record<RequestCase['to'], number>>;
  readonly secrets: Secrets;
  readonly operations: readonly Operation[];
  /** The bytes of a request, with what only the running product knows. */
  fillIn(input: RequestCase): Promise<Uint8Array>;
  /** What it wrote to standard error; each call says only what is new. */
  newInLog(): string;
  /** How it stands: its event loop since the last call, its memory in bytes. */
  measure(): Promise<{
    readonly loopP99: number;
    readonly loopMax: number;
    readonly memory: number;
    readonly share: number;
  }>;
  /** Processor time that its main thread has had so far, in milliseconds. */
  ran(): number;
  /** Says why it is not well, after all cases: gone, not ready, or a good event is not told. Null: it is well. */
  wellness(): Promise<string | null>;
  close(): Promise<void>;
};

const STORED_SECRET = 'canary-stored-secret-Qx82';
const ROOT = resolve(import.meta.dirname, '../..');

/** Starts the product with the fuzzed shop in it. */
export async function openRunningShop(env: Readonly<Record<string, string>> = {}): Promise<Target> {
  const signing = await makeSigningKey('fuzz');
  const keySet = await startKeySetServer(signing);
  const [bounces = 0] = await freePorts(1);
  const mailServer = await startScriptedSmtp();
  const files = fuzzedFiles(keySet.url, mailServer.port);
  const shop = await openShop({
    files,
    env: {
      CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1',
      CARILLON_BOUNCES_LISTEN: `127.0.0.1:${bounces}`,
      CARILLON_SECRET_SHOP__COHORT_KEY: COHORT_SECRET,
      CARILLON_SECRET_LAB__PROOF: CALLBACK_SECRET,
      CARILLON_SECRET_SHOP__CRM_KEY: 'canary-partner-secret-Tz09',
      ...env,
    },
  });
  await shop.api('PUT', '/v1/workspaces/shop/secrets/STORED', { value: STORED_SECRET });
  const other = await shop.api<{ key: string }>('POST', '/v1/workspaces/lab/api-keys', {
    name: 'backend',
    new_workspace: true,
  });
  const document = await shop.api<ApiDocument>('GET', '/v1/openapi.json');
  const sample = await shop.send(order('sample'));
  const delivery = await shop.delivered(sample, 'SENT');
  const [message] = (await shop.api<{ items: InboxMessageBody[] }>('GET', '/v1/inbox')).body.items;
  const returning = { returning: true, updated_at: new Date().toISOString(), email: 'returning@example.com' };
  const posted = await shop.post('shop/timed', returning);
  if (posted.status !== 202) throw new Error(`the event that makes a return path is answered ${posted.status}`);
  const mailed = await untilFound('a message with a return path was sent', async () => mailServer.accepted[0]);
  const token = mailed.from.split('@', 1)[0] ?? '';
  const { product, key } = shop;
  const ports = {
    gateway: Number(new URL(product.gatewayUrl).port),
    control: Number(new URL(product.controlUrl).port),
    bounces,
  };
  const words: Readonly<Record<string, string>> = {
    key,
    other: other.body.key,
    owner: product.token,
    cohort: COHORT_SECRET,
    event: sample,
    delivery: delivery.id,
    message: message?.id ?? '',
    token,
    forged: token.slice(0, -1) + (token.endsWith('x') ? 'y' : 'x'),
  };
  let logged = 0;
  let exited: string | null = null;
  void product.exited.then(({ code, signal }) => (exited = `it ended with ${signal ?? code}`));
  let ran = schedule(product.pid);

  return {
    ports,
    operations: operationsOf(document.body),
    secrets: {
      'API key': key.slice(13, 45),
      'API key of another workspace': other.body.key.slice(13, 45),
      'owner token': product.token,
      'cohort secret': COHORT_SECRET,
      'secret of callbacks': CALLBACK_SECRET,
      'partner secret': 'canary-partner-secret-Tz09',
      'stored secret': STORED_SECRET,
      'folder of the program': ROOT,
      'folder of the data': shop.dataDir,
    },
    fillIn: (place) => fillIn(place, { words, ports, signing }),
    newInLog() {
      const text = product.stderr().slice(logged);
      logged += text.length;
      return text;
    },
    async measure() {
      const text = await (await fetch(`${product.controlUrl}/metrics`)).text();
      const metric = (name: string): number =>
        Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
      const before = ran;
      ran = schedule(product.pid);
      const [cpu, waited] = [ran.cpu - before.cpu, ran.waited - before.waited];
      return {
        loopP99: metric('nodejs_eventloop_lag_p99_seconds') * 1000,
        loopMax: metric('nodejs_eventloop_lag_max_seconds') * 1000,
        memory: metric('process_resident_memory_bytes'),
        share: cpu === 0 ? 1 : cpu / (cpu + waited),
      };
    },
    ran: () => schedule(product.pid).cpu / 1_000_000,
    async wellness() {
      const shopFault = exited === null ? await faultOfShop(shop, files, bounces, token) : null;
      return exited ?? shopFault;
    },
    async close() {
      await shop.close();
      await mailServer.stop();
      await keySet.close();
    },
  };
}

type FilledWith = {
  readonly words: Readonly<Record<string, string>>;
  readonly ports: Target['ports'];
  readonly signing: SigningKey;
};

/** Returns the bytes of a request, with what its placeholders stand for. */
async function fillIn(
  { to, request }: Parameters<Target['fillIn']>[0],
  { words, ports, signing }: FilledWith,
): Promise<Buffer> {
  const headEnd = request.indexOf('\r\n\r\n');
  const [head, body] = headEnd < 0 ? [request, ''] : [request.slice(0, headEnd), request.slice(headEnd)];
  const here: Record<string, string> = { ...words, host: `127.0.0.1:${ports[to]}`, port: String(ports[to]) };
  if (head.includes('{hmac}')) {
    const bytes = Buffer.from(body.slice(4), 'latin1');
    here['hmac'] = createHmac('sha1', COHORT_SECRET).update(bytes).digest('hex');
  }
  const [whole, parts] = /\{signed:([\w-]+)\}/.exec(head) ?? [];
  const signed = whole === undefined ? head : head.replace(whole, await sign(signing, parts ?? ''));
  const filled = signed.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => here[name] ?? placeholder);
  return Buffer.from(filled + body, 'latin1');
}

/** Returns what is wrong with the shop after the fuzzing: a good event or report that it does not take. Null if nothing is. */
async function faultOfShop(
  shop: Awaited<ReturnType<typeof openShop>>,
  files: ReturnType<typeof fuzzedFiles>,
  bounces: number,
  token: string,
): Promise<string | null> {
  const { product } = shop;
  try {
    await shop.apply(files);
    const told = await shop.delivered(await shop.send(order(`last-${Date.now()}`)), 'SENT');
    const inbox = await shop.api<{ items: InboxMessageBody[] }>('GET', '/v1/inbox?limit=500');
    const arrived = inbox.body.items.some((one) => one.delivery_id === told.id);
    const ready = await Promise.all([product.gatewayUrl, product.controlUrl].map((url) => fetch(`${url}/readyz`)));
    if (!arrived) return 'the message of a good event is not in the inbox';
    const report = statusReport('ada@example.com', '4.4.7', '450 4.4.7 given up');
    const reply = await bringMail(bounces, `${token}@${BOUNCE_DOMAIN}`, report);
    if (!reply.startsWith('250')) return `a good report is not taken: ${reply}`;
    return ready.every(({ ok }) => ok) ? null : 'it is not ready';
  } catch (error) {
    return `a good event is not told: ${String(error)}`;
  }
}

/** The token that a placeholder asks for. What the library will not sign is sent without a signature. */
function sign(key: SigningKey, parts: string): Promise<string> {
  const { header, claims } = JSON.parse(Buffer.from(parts, 'base64url').toString()) as Required<TokenParts>;
  return signToken(key, { header, claims }).catch(() => forgeToken(header, claims));
}

/** Nanoseconds that the main thread ran, and that it was ready and had to wait for a processor. */
function schedule(pid: number): { readonly cpu: number; readonly waited: number } {
  try {
    const [cpu = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { cpu, waited };
  } catch {
    return { cpu: 0, waited: 0 };
  }
}
