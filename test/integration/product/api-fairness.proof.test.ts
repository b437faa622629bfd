import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_ATTACKS, draftName, type ApiAttackOrders } from './api-fairness-attacks.ts';
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
import { openShop, request, type Files, type Shop } from './shop.ts';

const FILES: Files = {
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/long.yaml': SECURED,
  'workspaces/shop/notifications/long.yaml': ruleFile('long', TO_EMAIL),
  ...templateFiles('shop', 'long', '{{#each items}}{{#each ../items}}{{ text }}{{/each}}{{/each}}\n'),
  ...BLOG_FILES,
};
/** Drafts of almost 4 MiB together. */
const DRAFTS = 66;
const DRAFT_CHARACTERS = 60_000;
/** Suppressed addresses that an export writes, and audit records that a filter looks through. */
const IMPORTS = 4;
const ROWS = 5_000;

describe('dear calls of the management API by a token of another workspace', () => {
  let shop: Shop & { close(): Promise<void> };
  let blog: Bystander;
  const table: string[] = [];

  beforeAll(async () => {
    shop = await openShop({ files: FILES });
    const send = (method: string, path: string, body: string, headers: Readonly<Record<string, string>>) =>
      request(`${shop.product.controlUrl}${path}`, {
        method,
        body,
        headers: { authorization: `Bearer ${shop.product.token}`, 'content-type': 'application/json', ...headers },
      });
    const text = 'Hello {{ name }}. '.repeat(20).padEnd(DRAFT_CHARACTERS, 'x');
    for (let at = 0; at < DRAFTS; at += 1) {
      const path = `/v1/workspaces/shop/partials/${draftName(at)}/draft`;
      const saved = await send('PUT', path, JSON.stringify({ body: { text }, based_on: null }), {
        'if-none-match': '*',
      });
      expect(saved.status).toBe(200);
    }
    for (let file = 0; file < IMPORTS; file += 1) {
      const rows = Array.from({ length: ROWS }, (_, at) => `email,f${file}-${at}@example.com`);
      const csv = `channel,address\n${rows.join('\n')}\n`;
      const path = '/v1/workspaces/shop/suppressions/import';
      expect((await send('POST', path, csv, { 'content-type': 'text/csv' })).status).toBe(200);
    }
    blog = await openBystander(shop);
  });
  afterAll(async () => {
    await shop.close();
    console.log(['| calls | alone: answer, message | during | answers |', ...table].join('\n'));
  });

  /** A service token for everything in `shop` but its people. */
  async function newToken(name: string): Promise<string> {
    const scopes = ['read', 'configure', 'operate'];
    const made = await shop.api<{ token: string }>('POST', '/v1/tokens', { name, scopes, workspaces: ['shop'] });
    expect(made.status).toBe(201);
    return made.body.token;
  }

  it.each(Object.entries(API_ATTACKS))(
    '%s: the p95 of another workspace stays below twice its unloaded p95 and below 50 ms',
    async (name, requests) => {
      const token = await newToken(name.slice(0, 60));
      const alone = await blog.measure();
      const orders: ApiAttackOrders = { control: shop.product.controlUrl, token, requests };
      const child = fork(join(import.meta.dirname, 'api-fairness-process.ts'), [JSON.stringify(orders)]);
      try {
        await once(child, 'message');
        await pause(1_500);
        const during = await blog.measure();
        child.send('how was it');
        const [answers] = (await once(child, 'message')) as [Readonly<Record<string, number>>];
        const whole = (figures: Figures): string => `${Math.round(figures.answer)}, ${Math.round(figures.message)}`;
        table.push(`| ${name} | ${whole(alone)} | ${whole(during)} | ${JSON.stringify(answers)} |`);
        // Each attack was served for a while: a call that is always refused would show nothing.
        const served = Object.entries(answers).filter(([status]) => status.startsWith('2'));
        expect(served.length, JSON.stringify(answers)).toBeGreaterThan(0);
        expectFair(alone, during);
      } finally {
        const ended = once(child, 'exit');
        child.disconnect();
        await ended;
      }
    },
  );
});
