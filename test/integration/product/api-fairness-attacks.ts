/** Requests of a service token with small rights that cost much; `NUMBER` is another number each time. */
export type ApiRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};
export type ApiAttackOrders = {
  /** `http://127.0.0.1:7401`. */
  readonly control: string;
  readonly token: string;
  readonly requests: readonly [ApiRequest, ...ApiRequest[]];
};

const JSON_BODY = { 'content-type': 'application/json' };
const ITEMS = Array.from({ length: 99 }, (_, at) => ({ n: at, text: '<&>'.repeat(10) }));

/** The name of a draft that the shop has many of. */
export const draftName = (at: number): string => `part-${at}`;

export const API_ATTACKS: Readonly<Record<string, ApiAttackOrders['requests']>> = {
  'reading a draft beside 4 MiB of drafts': [{ method: 'GET', path: '/v1/workspaces/shop/partials/part-1/draft' }],
  'beginning and discarding a draft beside them': [
    {
      method: 'PUT',
      path: '/v1/workspaces/shop/partials/new-NUMBER/draft',
      headers: { ...JSON_BODY, 'if-none-match': '*' },
      body: JSON.stringify({ body: { text: 'New.' }, based_on: null }),
    },
  ],
  'planning all drafts': [{ method: 'POST', path: '/v1/workspaces/shop/drafts/plan', headers: JSON_BODY, body: '{}' }],
  'audit filters that match nothing': [{ method: 'GET', path: '/v1/workspaces/shop/audit?target=nothing-NUMBER' }],
  'CSV exports': [{ method: 'GET', path: '/v1/workspaces/shop/suppressions/export' }],
  'CSV imports': [
    {
      method: 'POST',
      path: '/v1/workspaces/shop/suppressions/import',
      headers: { 'content-type': 'text/csv' },
      body: `channel,address\n${Array.from({ length: 5_000 }, (_, at) => `email,p${at}@example.com`).join('\n')}\n`,
    },
  ],
  'previews with nested loops': [
    {
      method: 'POST',
      path: '/v1/workspaces/shop/templates/long/preview',
      headers: JSON_BODY,
      body: JSON.stringify({ event: JSON.stringify({ order_id: 'NUMBER', email: 'p@example.com', items: ITEMS }) }),
    },
  ],
};
