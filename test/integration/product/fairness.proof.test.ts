import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { forgeToken, inSeconds, makeSigningKey, signToken, startKeySetServer } from '@carillon/testing/tokens';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ATTACKERS, ATTACKS, type AttackOrders } from './fairness-attacks.ts';
import { openShop, request, type Files, type Shop } from './shop.ts';

/*
 * A stranger, or somebody with credentials of the workspace `shop`, does his worst on one product; `blog` beside it sends an event now and
 * then, and is measured: until its answer, and until its message is out. Each is compared with what it was just before.
 */

const EVENTS = 60;
const EVERY = 50;
const TIMES = 2;
const PLUS = 50;

const rule = (stream: string, recipients: string): string => `name: ${stream}
channels:
  email: { template: ${stream} }
rules:
  sent:
    stream: ${stream}
    when: has(event.order_id)
    recipients:
      from: event
${recipients}
`;
const template = (workspace: string, name: string, html: string): Files => ({
  [`workspaces/${workspace}/templates/${name}/email.yaml`]: 'subject: News\nfrom: Shop <shop@example.com>\n',
  [`workspaces/${workspace}/templates/${name}/email.txt`]: 'Hello.\n',
  [`workspaces/${workspace}/templates/${name}/email.html`]: html,
});
const toEmail = '      to: { email: event.email }\n      unique_id: event.order_id';
const dear = `      for_each: event.people
      to: { email: item.email }
      where: event.text.matches("(a+)+b")
      unique_id: event.order_id + item.email`;
const secured = 'security: { api_keys: [backend] }\n';
const files = (jwksUrl: string): Files => ({
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/quiet.yaml': secured,
  'workspaces/shop/streams/dear.yaml': secured,
  'workspaces/shop/streams/long.yaml': secured,
  'workspaces/shop/streams/app.yaml': 'security: { jwt_provider: auth }\n',
  'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: ${jwksUrl}\nissuer: https://auth.example.com/\naudience: shop\n`,
  'workspaces/shop/integrations/segment.yaml': 'kind: segment\nauthorization: { key: { secret: FEED } }\n',
  'workspaces/shop/integrations/feed.yaml': 'kind: generic\nauthorization: { key: { secret: FEED } }\n',
  'workspaces/shop/notifications/dear.yaml': rule('dear', dear),
  'workspaces/shop/notifications/long.yaml': rule('long', toEmail),
  ...template('shop', 'dear', '<p>Hello.</p>\n'),
  ...template('shop', 'long', '{{#each items}}{{#each ../items}}{{ text }}{{/each}}{{/each}}\n'),
  'workspaces/blog/workspace.yaml': 'name: Blog\n',
  'workspaces/blog/streams/news.yaml': secured,
  'workspaces/blog/notifications/news.yaml': rule('news', toEmail),
  ...template('blog', 'news', '<p>Hello {{ order_id }}.</p>\n'),
});

type Figures = { readonly answer: number; readonly message: number };
const p95 = (spans: readonly number[]): number =>
  spans.toSorted((a, b) => a - b)[Math.ceil(spans.length * 0.95) - 1] ?? Number.NaN;

describe('what others do', () => {
  const SECRET = 'what-the-feed-shows';
  let shop: Shop & { close(): Promise<void> };
  let blogKey: string;
  let orders: Omit<AttackOrders, 'attack' | 'attacker'>;
  const ends: (() => Promise<void>)[] = [];
  const table: string[] = [];

  beforeAll(async () => {
    const signing = await makeSigningKey('a-1');
    const keySet = await startKeySetServer(signing);
    ends.unshift(() => keySet.close());
    shop = await openShop({
      files: files(keySet.url),
      env: { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1', CARILLON_SECRET_SHOP__FEED: SECRET },
    });
    ends.unshift(() => shop.close());
    const made = await shop.api<{ key: string }>('POST', '/v1/workspaces/blog/api-keys', {
      name: 'backend',
      new_workspace: true,
    });
    blogKey = made.body.key;
    const claims = { iss: 'https://auth.example.com/', aud: 'shop', sub: 'ada' };
    const numbers = Array.from({ length: 50 }, (_, jti) => jti);
    orders = {
      gateway: shop.product.gatewayUrl,
      key: shop.key,
      secret: SECRET,
      forged: numbers.map((jti) =>
        forgeToken({ alg: 'ES256', kid: 'a-1', typ: 'JWT' }, { ...claims, jti, exp: inSeconds(3600) }, 'A'.repeat(86)),
      ),
      expired: await Promise.all(
        numbers.map((jti) => signToken(signing, { claims: { ...claims, jti, exp: inSeconds(-60) } })),
      ),
    };
    // The first events of a process wait until its code is compiled.
    await measure();
  });
  afterAll(async () => {
    for (const end of ends) await end();
    console.log(['', ...table].join('\n'));
  });

  let sent = 0;
  /** Sends events of `blog`; each has to be taken. */
  async function measure(): Promise<Figures> {
    const answers: number[] = [];
    const begun = new Map<string, number>();
    for (let at = 0; at < EVENTS; at += 1) {
      const body = JSON.stringify({ order_id: `B-${(sent += 1)}`, email: `b${sent}@example.com` });
      const headers = { authorization: `Bearer ${blogKey}`, 'content-type': 'application/json' };
      const began = performance.now();
      const sentAt = Date.now();
      const answer = await request<{ id: string }>(`${shop.product.gatewayUrl}/events/blog/news`, {
        method: 'POST',
        headers,
        body,
      });
      answers.push(performance.now() - began);
      expect([answer.status, answer.body]).toEqual([202, { id: expect.any(String) as string }]);
      begun.set(answer.body.id, sentAt);
      await pause(EVERY);
    }
    const messages = await untilFound('all messages of the blog', async () => {
      const page = await shop.api<{ items: DeliveryBody[] }>(
        'GET',
        '/v1/workspaces/blog/deliveries?state=SENT&limit=500',
      );
      const ours = page.body.items.filter(({ event_id: id }) => begun.has(id ?? ''));
      return ours.length === EVENTS ? ours : undefined;
    });
    const spans = messages.map((one) => Date.parse(one.updated_at) - (begun.get(one.event_id ?? '') ?? Number.NaN));
    return { answer: p95(answers), message: p95(spans) };
  }

  const cells = ATTACKERS.flatMap((attacker) => ATTACKS.map((attack) => [attack, attacker] as const));
  it.each(cells)(
    '%s, by a %s: the p95 of somebody else stays within twice that of alone and 50 ms',
    async (attack, attacker) => {
      const alone = await measure();
      const child = fork(join(import.meta.dirname, 'fairness-process.ts'), [
        JSON.stringify({ ...orders, attack, attacker }),
      ]);
      try {
        await once(child, 'message');
        await pause(1_500);
        const during = await measure();
        child.send('how was it');
        const [answers] = (await once(child, 'message')) as [Readonly<Record<string, number>>];
        const whole = (figures: Figures): string => `${Math.round(figures.answer)} | ${Math.round(figures.message)}`;
        table.push(`| ${attack} | ${attacker} | ${whole(alone)} | ${whole(during)} | ${JSON.stringify(answers)} |`);
        expect(during.answer, 'until its answer').toBeLessThanOrEqual(alone.answer * TIMES + PLUS);
        expect(during.message, 'until its message').toBeLessThanOrEqual(alone.message * TIMES + PLUS);
      } finally {
        const ended = once(child, 'exit');
        child.disconnect();
        await ended;
      }
    },
  );
});
