import type { ScreenTest } from './test-screens.ts';

const SOURCES = 'GET /v1/workspaces/{workspace}/sources';
const TABLES = 'GET /v1/workspaces/{workspace}/integrations/{name}/tables';
const TOPICS = 'GET /v1/workspaces/{workspace}/integrations/{name}/topics';
const INTEGRATIONS = 'GET /v1/workspaces/{workspace}/integrations';
const INTEGRATION = 'GET /v1/workspaces/{workspace}/integrations/{name}';
const STREAMS = 'GET /v1/workspaces/{workspace}/streams';
const STREAM = 'GET /v1/workspaces/{workspace}/streams/{name}';
const DRAFTS = 'GET /v1/workspaces/{workspace}/drafts';

type Api = ScreenTest['api'];
export type ScriptedSource = { readonly [field: string]: unknown };

/** Returns the example of a running source with these fields. */
export function sourceWith(api: Api, fields: ScriptedSource): ScriptedSource {
  const [example] = api.example(SOURCES)['items'] as readonly ScriptedSource[];
  return {
    ...example,
    workspace: 'shop',
    name: 'shop-db',
    state: 'running',
    reason: null,
    fix: null,
    continues_at: null,
    span: null,
    span_at_end: null,
    lag_records: null,
    reset_requested_at: null,
    streams: ['orders'],
    ...fields,
  };
}

/** Serves these sources. */
export const serveSources = (api: Api, ...items: readonly ScriptedSource[]): void =>
  api.answer(SOURCES, { items, next: null });

/** Serves a published integration `shop-db` of kind postgres, without streams and drafts. */
export function serveDatabase(api: Api): void {
  const body = { kind: 'postgres', url: { secret: 'SHOP_DB' } };
  const resource = { ...api.example(INTEGRATION), name: 'shop-db', body };
  api.answer(INTEGRATION, resource);
  api.answer(INTEGRATIONS, { items: [resource], next: null });
  api.answer(STREAMS, { items: [], next: null });
  api.answer(DRAFTS, { items: [], next: null });
}

/** Serves a published stream `orders` that reads `public.orders`. */
export function serveReadStream(api: Api): void {
  const body = { from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } } };
  const resource = { ...api.example(STREAM), name: 'orders', body };
  api.answer(STREAM, resource);
  api.answer(STREAMS, { items: [resource], next: null });
  api.answer(DRAFTS, { items: [], next: null });
}

/** Serves a published integration `bus` of kind kafka, without streams and drafts. */
export function serveCluster(api: Api): void {
  const resource = { ...api.example(INTEGRATION), name: 'bus', body: { kind: 'kafka', brokers: ['kafka:9092'] } };
  api.answer(INTEGRATION, resource);
  api.answer(INTEGRATIONS, { items: [resource], next: null });
  api.answer(STREAMS, { items: [], next: null });
  api.answer(DRAFTS, { items: [], next: null });
}

/** Serves a published stream `orders` that reads the topic `app.public.orders`. */
export function serveTopicStream(api: Api, format: 'json' | 'debezium'): void {
  const from = { integration: 'bus', topics: { 'app.public.orders': 'event.id' } };
  const body = { ...(format === 'debezium' && { format }), from };
  const resource = { ...api.example(STREAM), name: 'orders', body };
  api.answer(STREAM, resource);
  api.answer(STREAMS, { items: [resource], next: null });
}

type Table = {
  readonly table: string;
  readonly columns?: readonly (readonly [name: string, type: string, key?: 'key'])[];
  readonly identity?: 'full' | 'key' | 'nothing';
  readonly problem?: object;
};

/** Serves tables of the database. A table has an id, a status and a card number unless it says otherwise. */
export function serveTables(api: Api, ...tables: readonly Table[]): void {
  const standard = [
    ['id', 'bigint', 'key'],
    ['status', 'text'],
    ['card_number', 'text'],
  ] as const;
  const items = tables.map(({ table, columns = standard, identity = 'full', problem = null }) => ({
    table,
    columns: columns.map(([name, type, key]) => ({ name, type, key: key === 'key' })),
    identity,
    problem,
  }));
  api.answer(TABLES, { items, next: null, problem: null });
}

/** Serves topics of the Kafka cluster. A topic has three partitions unless it says otherwise. */
export function serveTopics(
  api: Api,
  ...topics: readonly { readonly topic: string; readonly partitions?: number; readonly problem?: object }[]
): void {
  const items = topics.map((topic) => ({ partitions: 3, problem: null, ...topic }));
  api.answer(TOPICS, { items, next: null, problem: null });
}
