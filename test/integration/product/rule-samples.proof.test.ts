import type { RuleSampleBody } from '@carillon/contracts';
import { CODE_LANGUAGES, type CodeLanguage } from '@carillon/insight';
import { untilFound } from '@carillon/testing';
import { startOpenIdProvider, type OpenIdProvider } from '@carillon/testing/openid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { runSample, SAMPLE_PROGRAMS } from '../../support/sample-programs.ts';
import { openShop, order, shopFiles, type Files, type Shop } from './shop.ts';

/*
 * What `rule sample` prints is saved to a file and run as it is, in each language, against the product over HTTP: it is
 * accepted, and it fires the rule wherever the sample says so.
 */

const AUDIENCE = 'https://events.example.com';

const notification = (rule: string): string => `channels:
  email: { template: order-paid }
security: { api_keys: [backend] }
rules:
  rule:
${rule.replaceAll(/^/gm, '    ')}
`;

const files = (jwksUrl: string, issuer: string): Files => ({
  ...shopFiles({ uniqueId: 'event_id' }),
  'workspaces/shop/notifications/quoted.yaml': notification(
    `when: |
  event.note == "it's \\"$HOME\\" \`id\` \\\\ \\n né 👩‍👧 {{x}}" && event.kind in ["a", "b"] && !has(event.gone)
recipients: { from: event, to: { email: event.email }, unique_id: event_id }`,
  ),
  'workspaces/shop/notifications/watched.yaml': notification(
    `when: event.comment.startsWith("#") || event.force
recipients:
  from: event
  for_each: event.watchers
  to: { email: item.email }
  where: item.muted == false
  unique_id: event_id`,
  ),
  'workspaces/shop/notifications/large.yaml': notification(
    `when: event.price * event.count > 1000
recipients: { from: event, to: { email: event.email }, unique_id: event_id }`,
  ),
  'workspaces/shop/streams/clicks.yaml': 'security: { jwt_provider: auth, claims: { sub: event.user_id } }\n',
  'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: ${jwksUrl}\nissuer: ${issuer}\naudience: ${AUDIENCE}\n`,
  'workspaces/shop/notifications/clicked.yaml': notification(
    `stream: clicks
open_recipients: true
when: event.button == "buy"
recipients: { from: event, to: { email: event.email }, unique_id: event_id }`,
  ).replace('security: { api_keys: [backend] }\n', ''),
  'workspaces/shop/integrations/crm.yaml':
    'kind: lookup\nurl: https://crm.example.com/recipients\nauthorization: { key: { secret: CRM_KEY } }\n',
  'workspaces/shop/notifications/asked.yaml': notification(
    `when: event.kind == "reply"
recipients: { from: lookup, integration: crm, user_ids: event.watchers, unique_id: event_id }`,
  ),
});

let provider: OpenIdProvider;
let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  provider = await startOpenIdProvider();
  const env = { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1', CARILLON_SECRET_SHOP__CRM_KEY: 'secret' };
  shop = await openShop({ files: files(provider.jwksUrl, provider.issuer), env });
});
afterAll(async () => {
  await shop.close();
  await provider.stop();
});

const sampleOf = async (rule: string): Promise<RuleSampleBody> => {
  const { status, body } = await shop.api<RuleSampleBody>('GET', `/v1/workspaces/shop/rules/${rule}/sample`);
  expect(status).toBe(200);
  return body;
};
const printed = async (rule: string, name: CodeLanguage): Promise<string> => {
  const { code, stdout, stderr } = await shop.run(['rule', 'sample', rule, '--language', name]);
  expect(code, stderr).toBe(0);
  return stdout;
};

const RULES = ['order-paid.paid', 'quoted.rule', 'watched.rule'];

for (const name of CODE_LANGUAGES) {
  describeWith(SAMPLE_PROGRAMS[name].needs, `the sample in ${name}, run as printed`, () => {
    it.each(RULES)(
      'for %s is accepted, and fires the rule as it promises',
      async (rule) => {
        const sample = await sampleOf(rule);
        expect(sample).toMatchObject({ fires: true, recipients: 1 });
        const { code, out, err } = await runSample(name, await printed(rule, name), { CARILLON_API_KEY: shop.key });
        expect(code, err).toBe(0);
        const { id = '' } = /(?<id>evt_\w{26})/.exec(out)?.groups ?? {};
        const delivery = await shop.delivered(id, 'SENT');
        expect(delivery).toMatchObject({ rule, to: 'ada@example.com' });
      },
      240_000,
    );

    it('with a key that is not valid ends as a failure, and shows the answer', async () => {
      const { code, out, err } = await runSample(name, await printed('order-paid.paid', name), {
        CARILLON_API_KEY: 'wrong',
      });
      expect(code).not.toBe(0);
      expect(out + err).toContain('/docs/errors#unauthorized');
    }, 240_000);
  });
}

describe('a rule for which no values can be made up', () => {
  it('has a sample of placeholders that is accepted and does not claim to fire', async () => {
    const sample = await sampleOf('large.rule');
    expect(sample).toMatchObject({
      fires: false,
      event: '{"price":1,"count":1,"email":"ada@example.com","order_id":"A-1001","name":"<name>"}',
    });
    expect(sample.code.curl).toContain('No values are known that make it fire');
    const answer = await shop.post('shop/large.rule', JSON.parse(sample.event));
    expect(answer.status).toBe(202);
  });

  it('shows the values of the first event that fired it, without the address', async () => {
    const { body } = await shop.post(
      'shop/large.rule',
      order('A-7', { price: 300, count: 5, email: 'grace@example.org' }),
    );
    await shop.delivered(body.id, 'SENT');
    // The event is on the log before it is among those that can be looked up.
    const sample = await untilFound('values of that event', async () => {
      const found = await sampleOf('large.rule');
      return found.fires ? found : undefined;
    });
    expect(JSON.parse(sample.event)).toEqual({
      price: 300,
      count: 5,
      email: 'ada@example.com',
      order_id: 'A-7',
      name: 'Ada',
    });
    expect(sample.fields.map(({ path, origin }) => `${path} ${origin}`)).toContain('price fired_event');
  });
});

describe('the command', () => {
  it('shows the fields with their use, where the values come from, and the code', async () => {
    const { stdout } = await shop.run(['rule', 'sample', 'order-paid.paid']);
    expect(stdout).toMatch(/^status +string +"paid" +from the condition +when$/m);
    expect(stdout).toMatch(/^order_id +string +"A-1001" +placeholder +key, template$/m);
    expect(stdout).toContain('the rule fires for it, and notifies 1');
    expect(stdout).toContain(`${shop.product.gatewayUrl}/events/shop/orders`);
    expect(stdout).toContain('CARILLON_API_KEY');
  });

  it('refuses an unknown rule and an unknown language', async () => {
    expect(await shop.run(['rule', 'sample', 'order-paid'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('name it notification.rule') as string,
    });
    const { code, stderr } = await shop.run(['rule', 'sample', 'order-paid.paid', '--language', 'cobol']);
    expect(code).toBe(2);
    expect(stderr).toContain('curl, javascript, python, go');
  });
});

describe('a stream that takes tokens', () => {
  it('has a sample with a token, and names the claim that the event must match', async () => {
    const sample = await sampleOf('clicked.rule');
    expect(sample.credential).toMatchObject({ kind: 'jwt', variable: 'CARILLON_JWT' });
    const code = await printed('clicked.rule', 'javascript');
    expect(code).toContain('event.user_id must equal the claim sub of the token.');
    expect(code).not.toContain('API');
    const env = { CARILLON_JWT: await provider.token('ada', AUDIENCE) };
    expect((await runSample('javascript', code, env)).out).toContain('403');
    const { code: exit, out, err } = await runSample('javascript', code.replace('<user_id>', 'ada'), env);
    expect(exit, err).toBe(0);
    await shop.delivered(/evt_\w{26}/.exec(out)?.[0] ?? '', 'SENT');
  });
});

describe('a rule that asks a partner', () => {
  it('has a sample with the user ids, and names the fields that the partner must return', async () => {
    expect(await sampleOf('asked.rule')).toMatchObject({
      event: '{"kind":"reply","watchers":"<watchers>"}',
      fires: true,
      recipients: 1,
      asks: 'crm',
      answered: ['order_id', 'name'],
    });
    const { stdout } = await shop.run(['rule', 'sample', 'asked.rule']);
    expect(stdout).toContain('the rule fires for it, and asks crm about 1');
    expect(stdout).toContain('crm gives for the templates: order_id, name');
  });
});

describe('the fields seen on a stream', () => {
  const at = '/v1/workspaces/shop/streams/shop%2Forders/fields';
  type Fields = { items: { path: string; count: number; sample: string | null; types: string[] }[] };

  it('are what its events held, each event counted once', async () => {
    const before = (await shop.api<Fields>('GET', at)).body.items.find(({ path }) => path === 'weight')?.count ?? 0;
    await shop.send(order('W-1', { weight: 3, tags: ['\u001b[31mred'] }));
    await shop.send(order('W-2', { weight: null }));
    const fields = await untilFound('both events', async () => {
      const { items } = (await shop.api<Fields>('GET', at)).body;
      return items.find(({ path }) => path === 'weight')?.count === before + 2 ? items : undefined;
    });
    expect(fields.find(({ path }) => path === 'weight')).toMatchObject({ types: ['null', 'number'], sample: '3' });
    const { stdout } = await shop.run(['events', 'fields', 'shop/orders']);
    expect(stdout).toMatch(/^weight +null, number +2 .* 3$/m);
    expect(stdout).toMatch(/^tags\[\] +string +1 /m);
    expect(stdout).not.toContain('\u001b');
    expect((await shop.run(['events', 'fields', 'orders'])).stdout).toBe(stdout);
  });

  it('need the owner, and a stream that is there', async () => {
    expect((await fetch(`${shop.product.controlUrl}${at}`)).status).toBe(401);
    expect((await shop.api('GET', '/v1/workspaces/shop/streams/other/fields')).status).toBe(404);
    expect((await shop.api('GET', '/v1/workspaces/elsewhere/streams/shop%2Forders/fields')).status).toBe(404);
  });
});
