import type { ScreenTest } from './test-screens.ts';

const STREAMS = 'GET /v1/workspaces/{workspace}/streams';
const STREAM = 'GET /v1/workspaces/{workspace}/streams/{name}';
const DRAFTS = 'GET /v1/workspaces/{workspace}/drafts';

type Api = ScreenTest['api'];
/** Serves a published stream `orders` that reads `public.orders`. */
export function serveReadStream(api: Api): void {
  const body = { from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } } };
  const resource = { ...api.example(STREAM), name: 'orders', body };
  api.answer(STREAM, resource);
  api.answer(STREAMS, { items: [resource], next: null });
  api.answer(DRAFTS, { items: [], next: null });
}
