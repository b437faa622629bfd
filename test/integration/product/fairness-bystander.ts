/** Measures how long events of a second workspace, `blog`, take while the first workspace is under attack. */
import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { expect } from 'vitest';
import { request, type Files, type Shop } from './shop.ts';

const EVENTS = 60;
const INTERVAL_MS = 50;
/** Bound of each figure: FACTOR times its value without an attack, plus EXTRA_MS. */
const FACTOR = 2;
const EXTRA_MS = 50;

/** A rule of a stream of this name that sends an email by a template of this name. */
export const ruleFile = (stream: string, recipients: string): string => `name: ${stream}
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
export const templateFiles = (workspace: string, name: string, html: string): Files => ({
  [`workspaces/${workspace}/templates/${name}/email.yaml`]: 'subject: News\nfrom: Shop <shop@example.com>\n',
  [`workspaces/${workspace}/templates/${name}/email.txt`]: 'Hello.\n',
  [`workspaces/${workspace}/templates/${name}/email.html`]: html,
});
export const TO_EMAIL = '      to: { email: event.email }\n      unique_id: event.order_id';
export const SECURED = 'security: { api_keys: [backend] }\n';

export const BLOG_FILES: Files = {
  'workspaces/blog/workspace.yaml': 'name: Blog\n',
  'workspaces/blog/streams/news.yaml': SECURED,
  'workspaces/blog/notifications/news.yaml': ruleFile('news', TO_EMAIL),
  ...templateFiles('blog', 'news', '<p>Hello {{ order_id }}.</p>\n'),
};

/** Milliseconds until each event was answered, and its message sent. */
export type Spans = { readonly answers: readonly number[]; readonly messages: readonly number[] };
/** Milliseconds within which 95 of 100 events were answered, and their messages sent. */
export type Figures = { readonly answer: number; readonly message: number };
export const figuresOf = (spans: readonly Spans[]): Figures => ({
  answer: p95(spans.flatMap(({ answers }) => answers)),
  message: p95(spans.flatMap(({ messages }) => messages)),
});
const p95 = (spans: readonly number[]): number =>
  spans.toSorted((a, b) => a - b)[Math.ceil(spans.length * 0.95) - 1] ?? Number.NaN;

export type Bystander = {
  /** Sends events of `blog`, each of which has to be taken and sent. */
  time(): Promise<Spans>;
  /** The same, as figures. */
  measure(): Promise<Figures>;
};

/** The workspace `blog` of a running product. Its first events are sent here: they wait until code is compiled. */
export async function openBystander(shop: Pick<Shop, 'api' | 'product'>): Promise<Bystander> {
  const made = await shop.api<{ key: string }>('POST', '/v1/workspaces/blog/api-keys', {
    name: 'backend',
    new_workspace: true,
  });
  const headers = { authorization: `Bearer ${made.body.key}`, 'content-type': 'application/json' };
  let sent = 0;

  async function time(): Promise<Spans> {
    const answers: number[] = [];
    const begun = new Map<string, number>();
    for (let at = 0; at < EVENTS; at += 1) {
      const body = JSON.stringify({ order_id: `B-${(sent += 1)}`, email: `b${sent}@example.com` });
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
      await pause(INTERVAL_MS);
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
    return { answers, messages: spans };
  }

  await time();
  return { time, measure: async () => figuresOf([await time()]) };
}

export function expectFair(alone: Figures, during: Figures): void {
  expect(during.answer, 'until its answer').toBeLessThanOrEqual(alone.answer * FACTOR + EXTRA_MS);
  expect(during.message, 'until its message').toBeLessThanOrEqual(alone.message * FACTOR + EXTRA_MS);
}
