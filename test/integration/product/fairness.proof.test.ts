import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { forgeToken, inSeconds, makeSigningKey, signToken, startKeySetServer } from '@carillon/testing/tokens';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { ATTACKERS, ATTACKS, type AttackOrders } from './fairness-attacks.ts';
import {
  BLOG_FILES,
  expectFair,
  openBystander,
  ruleFile,
  SECURED,
  templateFiles,
  TO_EMAIL,
  type Bystander,
  type Figures,
} from './fairness-bystander.ts';
import { openShop, type Files, type Shop } from './shop.ts';

/*
 * A stranger, or somebody with credentials of the workspace `shop`, does his worst on one product; `blog` beside it sends an event now and
 * then, and is measured: until its answer, and until its message is out. Each is compared with what it was just before.
 */

const dear = `      for_each: event.people
      to: { email: item.email }
      where: event.text.matches("(a+)+b")
      unique_id: event.order_id + item.email`;
const files = (jwksUrl: string): Files => ({
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/quiet.yaml': SECURED,
  'workspaces/shop/streams/dear.yaml': SECURED,
  'workspaces/shop/streams/long.yaml': SECURED,
  'workspaces/shop/streams/app.yaml': 'security: { jwt_provider: auth }\n',
  'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: ${jwksUrl}\nissuer: https://auth.example.com/\naudience: shop\n`,
  'workspaces/shop/integrations/segment.yaml': 'kind: segment\nauthorization: { key: { secret: FEED } }\n',
  'workspaces/shop/integrations/feed.yaml': 'kind: generic\nauthorization: { key: { secret: FEED } }\n',
  'workspaces/shop/notifications/dear.yaml': ruleFile('dear', dear),
  'workspaces/shop/notifications/long.yaml': ruleFile('long', TO_EMAIL),
  ...templateFiles('shop', 'dear', '<p>Hello.</p>\n'),
  ...templateFiles('shop', 'long', '{{#each items}}{{#each ../items}}{{ text }}{{/each}}{{/each}}\n'),
  ...BLOG_FILES,
});

describe('the load of other senders', () => {
  const SECRET = 'what-the-feed-shows';
  let shop: Shop & { close(): Promise<void> };
  let blog: Bystander;
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
    blog = await openBystander(shop);
  });
  afterAll(async () => {
    for (const end of ends) await end();
    console.log(['', ...table].join('\n'));
  });

  const cells = ATTACKERS.flatMap((attacker) => ATTACKS.map((attack) => [attack, attacker] as const));
  it.each(cells)(
    '%s, by a %s: the p95 of another sender stays below twice its unloaded p95 and below 50 ms',
    async (attack, attacker) => {
      const alone = await blog.measure();
      const child = fork(join(import.meta.dirname, 'fairness-process.ts'), [
        JSON.stringify({ ...orders, attack, attacker }),
      ]);
      try {
        await once(child, 'message');
        await pause(1_500);
        const during = await blog.measure();
        child.send('how was it');
        const [answers] = (await once(child, 'message')) as [Readonly<Record<string, number>>];
        const whole = (figures: Figures): string => `${Math.round(figures.answer)} | ${Math.round(figures.message)}`;
        table.push(`| ${attack} | ${attacker} | ${whole(alone)} | ${whole(during)} | ${JSON.stringify(answers)} |`);
        expectFair(alone, during);
      } finally {
        const ended = once(child, 'exit');
        child.disconnect();
        await ended;
      }
    },
  );
});
