import { untilFound } from '@carillon/testing';
import { openShop, order, shopFiles, type Shop } from '../product/shop.ts';
import { askEverything, type Asking, type Verdict } from './schemathesis.ts';

export type FilledShop = Shop & { close(): Promise<void> };

/** One resource of each kind, so that every address leads somewhere. */
const FILES = {
  ...shopFiles(),
  'workspaces/shop/layouts/basic.html': '<html><body>{{{body}}}</body></html>\n',
  'workspaces/shop/layouts/plain.html': '<html><body>{{{body}}}</body></html>\n',
  'workspaces/shop/partials/footer.hbs': 'Kind regards\n',
  'workspaces/shop/integrations/crm.yaml':
    'kind: lookup\nurl: https://crm.example.com/recipients\nauthorization: { scheme: Bearer, key: { secret: CRM_KEY } }\n',
  'workspaces/shop/integrations/cohorts.yaml': 'kind: amplitude\nauthorization: { key: { secret: CRM_KEY } }\n',
  'workspaces/shop/jwt-providers/auth.yaml': 'jwks_url: https://auth.example.com/keys\naudience: shop\n',
  'workspaces/shop/accounts/mail.yaml':
    'kind: smtp\nhost: smtp.example.com\nport: 587\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop-test/workspace.yaml': 'name: Shop, tests\nenvironment: test\nof: shop\n',
  'workspaces/club/workspace.yaml': 'name: Club\n',
};

/** A shop in which something of everything is there. */
export async function openFilledShop(env: Readonly<Record<string, string>> = {}): Promise<FilledShop> {
  const shop = await openShop({ files: FILES, env });
  for (let at = 0; at < 5; at += 1) await shop.send(order(`A-${at}`));
  await shop.send(order('A-0'));
  await shop.send(order('A-5', { email: 'nobody' }));
  await untilFound('the orders were told', async () => {
    const sent = (await shop.deliveries()).filter(({ state }) => state === 'SENT');
    return sent.length >= 5 ? sent : undefined;
  });
  const draft = await fetch(`${shop.product.controlUrl}/v1/workspaces/shop/partials/footer/draft`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${shop.product.token}`,
      'content-type': 'application/json',
      'if-none-match': '*',
    },
    body: JSON.stringify({ body: { text: 'Yours' }, based_on: null }),
  });
  if (!draft.ok) throw new Error(`no draft: ${await draft.text()}`);
  for (const [path, body] of [
    ['suppressions', { channel: 'email', address: 'bob@example.com' }],
    ['consents', { person: 'bob@example.com', target: 'all', opted_out: true }],
  ] as const) {
    const { status } = await shop.api('POST', `/v1/workspaces/shop/${path}`, body);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  }
  return shop;
}

/** What is there for the parameters of paths. */
async function placesOf(shop: FilledShop): Promise<Asking['places']> {
  const ids = async (path: string): Promise<readonly string[]> => {
    const { body } = await shop.api<{ items: readonly { readonly id: string }[] }>('GET', path);
    return body.items.map(({ id }) => id);
  };
  const workspace = ['shop', 'shop', 'shop', 'club', 'shop-test', '-'];
  const named = (part: string, ...name: string[]) => [part, { workspace, name, kind: [part.slice(1, -1)] }] as const;
  const known = (part: string, id: readonly string[]) => [part, { workspace, ...(id.length > 0 && { id }) }] as const;
  return [
    [
      '/{kind}/{name}',
      { workspace, kind: ['notifications', 'partials', 'streams'], name: ['order-paid', 'footer', 'orders'] },
    ],
    named('/notifications/', 'order-paid'),
    named('/rules/', 'order-paid.paid'),
    named('/templates/', 'order-paid'),
    named('/layouts/', 'basic'),
    named('/partials/', 'footer'),
    named('/streams/', 'orders'),
    named('/integrations/', 'crm'),
    named('/accounts/', 'mail'),
    named('/jwt-providers/', 'auth'),
    named('/api-keys/', 'backend'),
    known('/events/', await ids('/v1/workspaces/shop/events')),
    known('/deliveries/', await ids('/v1/workspaces/shop/deliveries')),
    known('/inbox', await ids('/v1/inbox')),
    known('', []),
  ];
}

/** Tokens of a viewer: one alone is held to its rate. */
async function viewers(shop: FilledShop): Promise<readonly string[]> {
  const made = [];
  for (let at = 0; at < 20; at += 1) {
    const wish = { name: `viewer ${at}`, scopes: ['read'], workspaces: ['shop'] };
    made.push((await shop.api<{ token: string }>('POST', '/v1/tokens', wish)).body.token);
  }
  return made;
}

/** Everything that the description of the shop's API has, asked with so many cases of each operation. */
export async function askShop(
  shop: FilledShop,
  who: 'owner' | 'viewer',
  { cases, seed }: Pick<Asking, 'cases' | 'seed'>,
): Promise<Verdict> {
  const document = (await shop.api<object>('GET', '/v1/openapi.json')).body;
  const tokens = who === 'owner' ? [shop.product.token] : await viewers(shop);
  return askEverything({ url: shop.product.controlUrl, document, tokens, places: await placesOf(shop), cases, seed });
}
