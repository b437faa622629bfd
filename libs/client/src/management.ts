import createFetchClient, { type Client } from 'openapi-fetch';
import type { ManagementOptions } from './management-options.ts';

export type { ManagementOptions } from './management-options.ts';

/**
 * Creates a client of the management API, typed by the API's description: `GET('/v1/workspaces/{workspace}/deliveries',
 * …)`. In the published package `Paths` is that description (schemas/openapi). Requests are not retried automatically.
 * Callers that retry set an Idempotency-Key.
 */
export function createManagementClient<Paths extends object>({ url, token, fetch }: ManagementOptions): Client<Paths> {
  const client = createFetchClient<Paths>({ baseUrl: url, redirect: 'error', ...(fetch && { fetch }) });
  client.use({
    async onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
      return request;
    },
  });
  return client;
}
