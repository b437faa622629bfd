import { startProduct, type Product } from '@carillon/testing';
import type { Bench, BenchCase, Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import { folderWithDeliveries } from '../filled-folders.ts';
import { configure, STREAM_PATH, type Files } from '../product.ts';
import { shared, type Shared } from '../started-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { variedDelivery, variedFilters, VARIED_FROM } from '../varied-deliveries.ts';
import { secondsOf } from '../warm-up.ts';

const MANY = 1_000_000;
const FEW = 10_000;
const DAY = 86_400_000;
const SYNCS = 'each commit (SQLite, WAL, synchronous = FULL)';
const RESOURCES = 1_000;
const STREAMS = 200;
const STREAMS_OF_ONE = 20;
const POSTERS = 16;

type Stand = { readonly product: Product; readonly headers: Readonly<Record<string, string>> };

const template = (subject: string): string => `subject: ${subject}\nfrom: Shop <shop@example.com>\n`;
const shopWith = (templates: number): Files => {
  const files: Record<string, string> = {
    'workspaces/shop/workspace.yaml': 'name: Shop\n',
    'workspaces/shop/streams/orders.yaml': 'security: { api_keys: [backend] }\n',
  };
  for (let at = 0; at < templates; at += 1) {
    files[`workspaces/shop/templates/mail-${at}/email.yaml`] = template(`Mail ${at}`);
    files[`workspaces/shop/templates/mail-${at}/email.txt`] = 'Hello\n';
  }
  return files;
};

/** The product over a folder, with a workspace; all sides of a case ask the same one. */
function stand(folder: () => Promise<{ path: string; remove(): Promise<void> }>, files: Files): Shared<Stand> {
  const folders = new Map<Product, () => Promise<void>>();
  return shared(
    async () => {
      const kept = await folder();
      const product = await startProduct({ dataDir: kept.path, cwd: kept.path });
      folders.set(product, () => kept.remove());
      return { product, headers: await configure(product, files) };
    },
    async ({ product }) => {
      await product.kill('SIGTERM');
      await folders.get(product)?.();
    },
  );
}

type Asked = { readonly method?: string; readonly body?: string; readonly headers?: Readonly<Record<string, string>> };

/** Whatever is no success voids the side. */
function createAsker({ product }: Stand) {
  const faults = new Set<string>();
  async function ask(path: string, init: Asked = {}): Promise<string> {
    const answer = await fetch(path.startsWith('http') ? path : `${product.controlUrl}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${product.token}`, 'content-type': 'application/json', ...init.headers },
    });
    const text = await answer.text();
    if (!answer.ok) faults.add(`${path} answered ${answer.status}: ${text}`);
    return text;
  }
  return { ask, verify: async () => [...faults] };
}

type Asking = {
  readonly name: string;
  readonly on: Shared<Stand>;
  readonly open?: number;
  /** What is done once, and what then is done again and again. */
  readonly prepare: (
    stand: Stand,
    ask: ReturnType<typeof createAsker>['ask'],
  ) => Promise<(n: number) => Promise<unknown>>;
};

const asking = ({ name, on, open = 1, prepare }: Asking): Side => ({
  name,
  syncs: SYNCS,
  async open() {
    const started = await on.take();
    const { ask, verify } = createAsker(started);
    const one = await prepare(started, ask);
    return {
      processes: { carillon: started.product.pid, bench: process.pid },
      round: (round) => closedLoop({ open, seconds: secondsOf(round) }, one),
      verify,
      close: () => on.release(),
    };
  },
});

const many = stand(() => folderWithDeliveries(MANY), shopWith(1));
const few = stand(() => folderWithDeliveries(FEW), shopWith(1));

const reading = (name: string, path: string): Side =>
  asking({ name, on: many, prepare: async (_stand, ask) => () => ask(path) });

const reads: BenchCase = {
  title: 'reads of one resource',
  counted: 'reads',
  delays: 'from the request to its answer',
  sides: [
    reading('/livez', '/livez'),
    reading('a template', '/v1/workspaces/shop/templates/mail-0'),
    reading('a delivery', `/v1/workspaces/shop/deliveries/${variedDelivery(MANY / 2, MANY).id}`),
  ],
  comparisons: ['a template', 'a delivery'].map((side) => ({
    side,
    to: '/livez',
    measure: 'p99',
    wanted: 'at most',
    floor: 3,
  })),
};

/** Each filter in its turn. A page that is empty is a filter that nothing matches: then there is no figure. */
const paging = (deliveries: number, on: Shared<Stand>): Side =>
  asking({
    name: deliveries.toLocaleString('en'),
    on,
    async prepare(_stand, ask) {
      const filters = variedFilters(deliveries);
      return async (n) => {
        const filter = filters[n % filters.length] ?? '';
        const page = await ask(`/v1/workspaces/shop/deliveries?limit=50&${filter}`);
        if (!page.includes('"dlv_')) throw new Error(`nothing matches ${filter}: ${page}`);
      };
    },
  });

const [ALL, SOME] = [MANY.toLocaleString('en'), FEW.toLocaleString('en')];
const pages: BenchCase = {
  title: 'a page of 50 deliveries, by each filter in turn',
  counted: 'pages',
  delays: 'from the request to its answer',
  sides: [paging(MANY, many), paging(FEW, few)],
  comparisons: [
    { side: ALL, measure: 'p99', wanted: 'at most', floor: 50 },
    { side: ALL, to: SOME, measure: 'p99', wanted: 'at most', floor: 1.5 },
  ],
};

/** Not from a whole minute, and each time a little later, as who looks at the last day asks. */
const counting: Side = asking({
  name: 'insights',
  on: many,
  prepare: async (_stand, ask) => (n) => {
    const [from, to] = [1, DAY].map((at) => new Date(VARIED_FROM + at + (n % 60) * 1_000).toISOString());
    return ask(`/v1/workspaces/shop/insights?from=${from}&to=${to}&bucket=1h`);
  },
});
const insights: BenchCase = {
  title: `insights over a day of ${ALL} deliveries`,
  counted: 'answers',
  delays: 'from the request to its answer',
  sides: [counting],
  comparisons: [{ side: 'insights', measure: 'p50', wanted: 'at most', floor: 150 }],
};

const full = stand(temporaryFolder, shopWith(RESOURCES));
const [PUBLISH, APPLY] = ['PUT of one', 'apply of the folder'];
const publishing: BenchCase = {
  title: `one change among ${RESOURCES.toLocaleString('en')} resources`,
  counted: 'changes',
  delays: 'from the request to its answer',
  sides: [
    asking({
      name: PUBLISH,
      on: full,
      async prepare({ product }, ask) {
        const path = '/v1/workspaces/shop/templates/mail-1';
        let etag = `"${(JSON.parse(await ask(path)) as { number: number }).number}"`;
        return async (n) => {
          const body = JSON.stringify({ email: { subject: `Mail ${n} ${Date.now()}`, text: 'Hello\n' } });
          const answer = await fetch(`${product.controlUrl}${path}`, {
            method: 'PUT',
            headers: { authorization: `Bearer ${product.token}`, 'content-type': 'application/json', 'if-match': etag },
            body,
          });
          if (!answer.ok) throw new Error(await answer.text());
          etag = answer.headers.get('etag') ?? '';
          await answer.text();
        };
      },
    }),
    asking({
      name: APPLY,
      on: full,
      async prepare(_stand, ask) {
        const files = shopWith(RESOURCES);
        const own = 'workspaces/shop/templates/mail-2/email.yaml';
        return (n) => {
          const changed: Record<string, string> = { ...files, [own]: template(`Mail ${n} ${Date.now()}`) };
          // What the other side has changed is not told of.
          delete changed['workspaces/shop/templates/mail-1/email.yaml'];
          delete changed['workspaces/shop/templates/mail-1/email.txt'];
          return ask('/v1/configuration/apply', {
            method: 'POST',
            body: JSON.stringify({ files: changed, prune: false }),
          });
        };
      },
    }),
  ],
  comparisons: [{ side: PUBLISH, to: APPLY, measure: 'p50', wanted: 'at most', floor: 1.2 }],
};

/** Live streams of tokens, each of which may have so many. */
async function follow(
  { product }: Stand,
  ask: ReturnType<typeof createAsker>['ask'],
  leaving: AbortSignal,
): Promise<void> {
  for (let made = 0; made < STREAMS / STREAMS_OF_ONE; made += 1) {
    const wish = { name: `reader ${made}`, scopes: ['read'], workspaces: ['shop'], expires_in: '1h' };
    const { token } = JSON.parse(await ask('/v1/tokens', { method: 'POST', body: JSON.stringify(wish) })) as {
      token: string;
    };
    const opened = Array.from({ length: STREAMS_OF_ONE }, async () => {
      const answer = await fetch(`${product.controlUrl}/v1/workspaces/shop/live?topics=deliveries,events`, {
        headers: { authorization: `Bearer ${token}` },
        signal: leaving,
      });
      if (!answer.ok) throw new Error(await answer.text());
      // Read, so that nothing waits for a slow reader.
      void answer.body?.pipeTo(new WritableStream()).catch(() => undefined);
    });
    await Promise.all(opened);
  }
}

const taking = stand(temporaryFolder, shopWith(1));
const [ALONE, FOLLOWED] = ['nobody follows', `${STREAMS} live streams`];
const intake = (name: string, isFollowed: boolean): Side => {
  const side = asking({
    name,
    on: taking,
    open: POSTERS,
    prepare:
      async ({ product, headers }, ask) =>
      (n) =>
        ask(`${product.gatewayUrl}${STREAM_PATH}`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ order_id: `A-${n}`, status: 'paid', total: 120 }),
        }),
  });
  return {
    ...side,
    async open() {
      const started = await taking.take();
      const { ask } = createAsker(started);
      const opened = await side.open();
      return {
        ...opened,
        async round(round) {
          const leaving = new AbortController();
          if (isFollowed) await follow(started, ask, leaving.signal);
          try {
            return await opened.round(round);
          } finally {
            leaving.abort();
          }
        },
        async close() {
          await opened.close?.();
          await taking.release();
        },
      };
    },
  };
};

const live: BenchCase = {
  title: `intake beside ${STREAMS} live streams`,
  counted: 'events',
  delays: 'from the request to its 202',
  sides: [intake(ALONE, false), intake(FOLLOWED, true)],
  comparisons: [{ side: FOLLOWED, to: ALONE, measure: 'rate', wanted: 'at least', floor: 0.98 }],
};

export const management: Bench = {
  name: 'management',
  title: 'The management API',
  what: `\`carillon up\` on the embedded backend as a process; each side asks it by HTTP, the next request when the last is answered. Reads stand beside \`/livez\` of the same
process, over a ledger of ${ALL} deliveries of one day, in all states, on three channels, to 50,000 people. Pages take each filter of the list in turn, so that the slowest
one decides the p99. Insights count that day by hours, states and notifications, and its people, each time from a second later on; nothing moves meanwhile, and the
round before has read the rows. One template among ${RESOURCES.toLocaleString('en')} is changed by \`PUT\`, and by an \`apply\`
of the whole folder. Events come over ${POSTERS} connections while nobody, or ${STREAMS} live streams, follow events and deliveries; who reads these shares the cores. That
ratio swings from round to round on a machine that does other work too: where its range lies on both sides of the floor, nothing is shown.`,
  cases: [reads, pages, insights, publishing, live],
};
