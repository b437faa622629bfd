import { untilFound } from '@carillon/testing';
import { order } from '../product/shop.ts';
import type { FilledShop } from './filled-shop.ts';

type Parameter = { readonly in: string; readonly name: string };
type Document = {
  readonly paths: Readonly<
    Record<string, { readonly get?: { readonly operationId: string; readonly parameters?: readonly Parameter[] } }>
  >;
};
type Row = Readonly<Record<string, unknown>>;
type Page = { readonly items: readonly Row[]; readonly next: string | null };

/** What was seen of a list. */
export type SeenList = {
  readonly operation: string;
  /** Rows of one page that has room for all. */
  readonly whole: readonly string[];
  /** The same, page by page, with room for one. */
  readonly paged: readonly string[];
};

const PASSWORD = 'correct horse battery staple';

/** Two rows of what a filled shop has one of, or none. */
export async function fillLists(filled: FilledShop): Promise<void> {
  const { api, product } = filled;
  const made = async (method: string, path: string, body: object): Promise<Row> => {
    const { status, body: answer } = await api<Row>(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const put = (path: string, body: object) =>
    fetch(`${product.controlUrl}${path}`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${product.token}`,
        'content-type': 'application/json',
        'if-none-match': '*',
      },
      body: JSON.stringify(body),
    });
  const shop = '/v1/workspaces/shop';
  for (const name of ['one', 'two']) {
    await made('POST', `${shop}/api-keys`, { name });
    await made('PUT', `${shop}/secrets/${name.toUpperCase()}`, { value: name });
    await made('PUT', `/v1/secrets/${name.toUpperCase()}`, { value: name });
    await made('POST', '/v1/tokens', { name, scopes: ['read'], workspaces: ['shop'] });
    await made('POST', `${shop}/suppressions`, { channel: 'email', address: `${name}@example.com` });
    await made('POST', `${shop}/consents`, { person: `${name}@example.com`, target: 'all', opted_out: true });
    const membership = { workspace: 'shop', role: 'viewer' };
    const wish = { email: `${name}@example.com`, memberships: [membership] };
    const { link } = await made('POST', '/v1/invitations', wish);
    const word = String(link).split('#').at(-1);
    const accepted = await fetch(`${product.controlUrl}/v1/invitations/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-carillon': '1', origin: product.controlUrl },
      body: JSON.stringify({ word, name, password: PASSWORD }),
    });
    if (!accepted.ok) throw new Error(`nobody joined: ${await accepted.text()}`);
    const partial = await put(`${shop}/partials/${name}`, { text: name });
    const draft = await put(`${shop}/layouts/${name}/draft`, { body: { html: '{{{body}}}' }, based_on: null });
    if (!partial.ok || !draft.ok) throw new Error(`not written: ${await partial.text()} ${await draft.text()}`);
    // A rule that ends in an error tells nobody.
    await filled.send(order(`dropped-${name}`, { total: 'many' }));
  }
  for (const one of (await filled.deliveries('&state=SENT')).slice(0, 2)) {
    await made('POST', `${shop}/deliveries/resend`, { ids: [one.id] });
  }
  await untilFound('the orders that end in an error were judged', async () => {
    const { body } = await api<Page>('GET', `${shop}/dropped`);
    return body.items.length >= 2 ? body.items : undefined;
  });
}

/** What tells a row from all others of its list. */
const IDENTITY = ['id', 'person', 'number', 'event', 'event_id', 'workspace', 'kind', 'name', 'path', 'rule', 'who'];
const MORE = ['channel', 'address', 'source', 'target', 'key_id', 'unique_id'];
const identityOf = (row: Row): string => JSON.stringify([...IDENTITY, ...MORE].map((name) => row[name] ?? null));

/** What is not as it should be: a row twice, or missing, or in another place. */
export const faultsOf = (lists: readonly SeenList[]): readonly SeenList[] =>
  lists.filter(
    ({ whole, paged }) => new Set(whole).size < whole.length || JSON.stringify(whole) !== JSON.stringify(paged),
  );

/** Every list of the description, read whole and page by page. */
export async function readEveryList({ api }: FilledShop): Promise<readonly SeenList[]> {
  const { paths } = (await api<Document>('GET', '/v1/openapi.json')).body;
  const people = (await api<Page>('GET', '/v1/people')).body.items;
  const needed: Readonly<Record<string, string>> = {
    listSessions: `&person=${String(people[0]?.['id'])}`,
    whyAddress: '&address=ada@example.com',
  };
  const names: readonly (readonly [string, string])[] = [
    ['/partials/{name}', 'footer'],
    ['/layouts/{name}', 'basic'],
    ['/streams/{name}', 'orders'],
    ['/integrations/{name}/cohorts', 'cohorts'],
    ['/integrations/{name}', 'crm'],
    ['/accounts/{name}', 'mail'],
    ['/jwt-providers/{name}', 'auth'],
    ['{name}', 'order-paid'],
  ];
  const seen: SeenList[] = [];
  for (const [path, { get: operation }] of Object.entries(paths)) {
    if (!operation?.parameters?.some((one) => one.in === 'query' && one.name === 'cursor')) continue;
    const [, name = ''] = names.find(([part]) => path.includes(part)) ?? [];
    const url = path.replace('{workspace}', 'shop').replace('{name}', name);
    if (url.includes('{')) continue;
    const page = async (query: string): Promise<Page | null> => {
      const { status, body } = await api<Page>('GET', `${url}?${query}${needed[operation.operationId] ?? ''}`);
      // What is about a person who is signed in is none of the owner token.
      if (status === 403) return null;
      if (status !== 200) throw new Error(`${url}?${query} answered ${status}: ${JSON.stringify(body)}`);
      return body;
    };
    const whole = await page('limit=500');
    if (!whole || !('items' in whole)) continue;
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null && paged.length <= 2 * whole.items.length + 1;) {
      const next: Page | null = await page(`limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...(next?.items ?? []).map(identityOf));
      cursor = next?.next ?? null;
    }
    seen.push({ operation: operation.operationId, whole: whole.items.map(identityOf), paged });
  }
  return seen;
}
