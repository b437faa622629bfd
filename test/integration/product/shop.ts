import { mkdtemp, rm } from 'node:fs/promises';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import type { AppliedBody, DeliveryBody, Problem, TraceBody } from '@carillon/contracts';
import { cli, startProduct, untilFound, type CliAnswer, type CliOptions, type Product } from '@carillon/testing';

export type Files = Readonly<Record<string, string>>;

/** A workspace with one stream, one rule and one email; `carillon.yaml` may name another account. */
export function shopFiles(more: { readonly deployment?: string; readonly uniqueId?: string } = {}): Files {
  return {
    'carillon.yaml': more.deployment ?? 'backend: embedded\n',
    'workspaces/shop/workspace.yaml': 'name: Shop\n',
    'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
    'workspaces/shop/notifications/order-paid.yaml': `name: Order paid
channels:
  email: { template: order-paid }
rules:
  paid:
    stream: orders
    when: event.status == "paid" && event.total > 100
    recipients:
      from: event
      to: { email: event.email }
      unique_id: ${more.uniqueId ?? 'event.order_id'}
retry: { attempts: 3, first: 1h, max: 4h }
`,
    'workspaces/shop/templates/order-paid/email.yaml': 'subject: Order {{ order_id }}\nfrom: Shop <shop@example.com>\n',
    'workspaces/shop/templates/order-paid/email.txt': 'Hello {{ name }}, order {{ order_id }} is paid.\n',
    'workspaces/shop/templates/order-paid/email.html': '<p>Hello {{ name }}, order {{ order_id }} is paid.</p>\n',
  };
}

/** `carillon.yaml` that sends through a mail server on this machine. */
export const smtpDeployment = (port: number, more = ''): string =>
  `backend: embedded
accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${port}, tls: none, from: Shop <shop@example.com>${more} }
`;

export function writeFiles(folder: string, files: Files): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** A folder of its own, and what takes it away. */
export async function scratch(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-product-'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

export type Answered<T> = { readonly status: number; readonly body: T; readonly headers: Headers };

export async function request<T>(url: string, init: RequestInit): Promise<Answered<T>> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: (text === '' ? null : JSON.parse(text)) as T };
}

/** Calls of the management API with the owner's token. */
export const caller =
  (product: Pick<Product, 'controlUrl' | 'token'>) =>
  <T = Problem>(method: string, path: string, body?: unknown): Promise<Answered<T>> =>
    request<T>(`${product.controlUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${product.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

export const order = (id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  order_id: id,
  status: 'paid',
  total: 120,
  name: 'Ada',
  email: 'ada@example.com',
  ...more,
});

export type Shop = {
  readonly product: Product;
  readonly folder: string;
  readonly dataDir: string;
  /** API key `backend` of the workspace `shop`. */
  readonly key: string;
  readonly api: <T = Problem>(method: string, path: string, body?: unknown) => Promise<Answered<T>>;
  run(args: readonly string[], options?: Omit<CliOptions, 'dataDir'>): Promise<CliAnswer>;
  apply(files: Files): Promise<AppliedBody>;
  post(
    stream: string,
    event: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered<{ id: string } & Problem>>;
  /** Posts to the stream `orders`, expects it to be taken, and answers its event id. */
  send(event: unknown, headers?: Readonly<Record<string, string>>): Promise<string>;
  deliveries(query?: string): Promise<readonly DeliveryBody[]>;
  /** The delivery of an event, once it is in one of these states. */
  delivered(eventId: string, ...states: string[]): Promise<DeliveryBody>;
  /** The delivery of an event, once it was tried and waits to be tried again. One that is new waits too. */
  putOff(eventId: string): Promise<DeliveryBody>;
  /** The trace of an event, once it was judged. */
  judged(eventId: string): Promise<TraceBody>;
  /** What `carillon trace` prints of an event, once it was judged. */
  story(eventId: string): Promise<string>;
};

/** A busy machine may keep the gateway from its configuration for a moment: nothing was taken, and clients come again. */
const untilTaken = <Answer extends { readonly body: { readonly code: string } }>(
  post: () => Promise<Answer>,
): Promise<Answer> =>
  untilFound('the gateway has read its configuration', async () => {
    const answer = await post();
    return answer.body.code === 'configuration_stale' ? undefined : answer;
  });

/** What a test does with a running product that has the shop's key and configuration. */
export function shopOf(product: Product, folder: string, dataDir: string, key: string): Shop {
  const api = caller(product);
  const shop: Shop = {
    product,
    folder,
    dataDir,
    key,
    api,
    run: (args, options = {}) => cli(args, { ...options, dataDir, cwd: options.cwd ?? folder }),
    async apply(files) {
      // Applying again changes nothing. A busy machine may not have done it within the time of a request.
      const { status, body } = await untilFound('the configuration is applied', async () => {
        const answer = await api<AppliedBody>('POST', '/v1/configuration/apply', { files, prune: false });
        return answer.status === 503 ? undefined : answer;
      });
      if (status !== 200 || body.faults.length > 0) throw new Error(`not applied: ${JSON.stringify(body)}`);
      return body;
    },
    post: (stream, event, headers = {}) =>
      request(`${product.gatewayUrl}/events/${stream}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof event === 'string' ? event : JSON.stringify(event),
      }),
    async send(event, headers) {
      const { status, body } = await untilTaken(() => shop.post('shop/orders', event, headers));
      if (status !== 202) throw new Error(`refused: ${JSON.stringify(body)}`);
      return body.id;
    },
    async deliveries(query = '') {
      const { body } = await api<{ items: DeliveryBody[] }>('GET', `/v1/workspaces/shop/deliveries?limit=500${query}`);
      return body.items;
    },
    delivered: (eventId, ...states) =>
      untilFound(`a delivery of ${eventId} that is ${states.join(' or ') || 'there'}`, async () => {
        const found = await shop.deliveries(`&event=${eventId}`);
        return found.find((one) => states.length === 0 || states.includes(one.state));
      }),
    putOff: (eventId) =>
      untilFound(`a delivery of ${eventId} that was put off`, async () => {
        const found = await shop.deliveries(`&event=${eventId}&state=WAITING`);
        return found.find(({ attempts }) => attempts.length > 0);
      }),
    judged: (eventId) =>
      untilFound(`${eventId} was judged`, async () => {
        const path = `/v1/workspaces/shop/events/${eventId}/trace`;
        const { status, body } = await api<TraceBody>('GET', path);
        const judged = (one: TraceBody['steps'][number]): boolean =>
          one.step === 'evaluation' && !one.text.startsWith('not evaluated yet');
        return status === 200 && body.steps.some(judged) ? body : undefined;
      }),
    async story(eventId) {
      await shop.judged(eventId);
      return (await shop.run(['trace', eventId])).stdout;
    },
  };
  return shop;
}

/** Makes the API key. A busy machine may not have done it within the time of a request, so the request is repeated with its key. */
async function makeKey({ controlUrl, token }: Product): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': 'key-of-the-shop',
  };
  const init = { method: 'POST', headers, body: JSON.stringify({ name: 'backend' }) };
  const made = await untilFound('the API key is made', async () => {
    const answer = await request<{ key: string }>(`${controlUrl}/v1/workspaces/shop/api-keys`, init);
    return answer.status === 503 ? undefined : answer;
  });
  return made.body.key;
}

/** The product over an empty folder, with the shop in it. */
export async function openShop(
  options: { readonly files?: Files; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Shop & { close(): Promise<void> }> {
  const { folder, remove } = await scratch();
  const dataDir = join(folder, 'data');
  const product = await startProduct({ dataDir, cwd: folder, ...(options.env && { env: options.env }) });
  const shop = shopOf(product, folder, dataDir, await makeKey(product));
  await shop.apply(options.files ?? shopFiles());
  return {
    ...shop,
    async close() {
      await product.kill('SIGKILL');
      await remove();
    },
  };
}

/** Stops the product of a shop, writes to its data, and starts it over the same folder. */
export async function restartOver(
  opened: Shop & { close(): Promise<void> },
  write: (data: Embedded) => Promise<void>,
): Promise<Shop & { close(): Promise<void> }> {
  await opened.product.kill('SIGTERM');
  const data = await openEmbedded({ dataDir: opened.dataDir, clock: systemClock });
  await write(data);
  await data.close();
  const product = await startProduct({ dataDir: opened.dataDir });
  return {
    ...shopOf(product, opened.folder, opened.dataDir, opened.key),
    async close() {
      await product.kill('SIGKILL');
      await opened.close();
    },
  };
}
