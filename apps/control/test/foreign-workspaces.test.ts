import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { accessOf, openControl, personWith } from './control-fixture.ts';
import { useDrafts } from './draft-fixture.ts';
import { MAIL, ORDERS, PAID, SHOP } from './resource-fixture.ts';

const under = useDrafts();
/** Names that only other workspaces have. */
const SECRETS = ['rival', 'raider', 'takeover', 'acquisition'];
const yaml = (body: object): string => JSON.stringify(body);
const FILES = {
  'workspaces/shop/workspace.yaml': yaml(SHOP),
  'workspaces/shop/streams/orders.yaml': yaml(ORDERS),
  'workspaces/shop/templates/order-paid/email.yaml': yaml({ subject: MAIL.email.subject }),
  'workspaces/shop/templates/order-paid/email.txt': MAIL.email.text,
  'workspaces/shop/notifications/order-paid.yaml': yaml(PAID),
};

let app: FastifyInstance;
beforeAll(async () => {
  await under.apply('workspace', '', { name: 'Rival' }, 'rival');
  await under.apply('workspace', '', { name: 'Raider', environment: 'test', of: 'rival' }, 'raider');
  await under.apply('stream', 'takeover', ORDERS, 'rival');
  await under.apply('template', 'order-paid', MAIL, 'rival');
  await under.apply('partial', 'acquisition', { text: 'Hello' }, 'rival');
  const access = accessOf(personWith('olga', ['read', 'configure'], 'shop'));
  app = (await openControl(access, under.fixture.ports)).control.app;
});

const [RULE] = Object.keys(PAID.rules);
const tryRule = async (files: object) => {
  const url = `/v1/workspaces/shop/rules/order-paid.${RULE}/test`;
  const payload = { event: yaml({ order_id: 'A-1' }), files: { ...FILES, ...files } };
  const answer = await app.inject({ method: 'POST', url, payload });
  return { status: answer.statusCode, text: answer.body };
};

/** Names of other workspaces in a text, apart from those that its request had. */
const leaked = (text: string, given = ''): readonly string[] =>
  SECRETS.filter((secret) => !given.includes(secret) && new RegExp(String.raw`\b${secret}\b`, 'u').test(text));

describe('the test of a rule with a folder', () => {
  it('refuses mistakes without naming a resource of another workspace', async () => {
    const mistakes = [
      { 'workspaces/shop/workspace.yaml': yaml({ environment: 'test', of: 'rivals' }) },
      { 'workspaces/shop/notifications/order-paid.yaml': yaml({ ...PAID, rules: { paid: { stream: 'takeovers' } } }) },
      { 'workspaces/shop/templates/order-paid/email.txt': '{{> acquisitions}}' },
    ];
    for (const files of mistakes) {
      const { status, text } = await tryRule(files);
      expect({ files, status, leaked: leaked(text) }).toEqual({ files, status: 400, leaked: [] });
    }
  });

  it('leaves out files of other workspaces', async () => {
    const { status, text } = await tryRule({
      'workspaces/rival/workspace.yaml': yaml({ environment: 'test', of: 'nobody' }),
      'workspaces/rival/streams/takeover.yaml': 'nonsense: true',
    });
    expect({ status, leaked: leaked(text) }).toEqual({ status: 200, leaked: [] });
  });
});

describe('a draft of the settings of a workspace', () => {
  it.each(['rivals', 'nobody', 'raider'])('names no other workspace if it is a test environment of %s', async (of) => {
    const url = '/v1/workspaces/shop/settings/draft';
    const payload = { body: { ...SHOP, environment: 'test', of }, based_on: null };
    const answer = await app.inject({ method: 'PUT', url, payload, headers: { 'if-none-match': '*' } });
    const plan = await app.inject({ method: 'POST', url: '/v1/workspaces/shop/drafts/plan', payload: {} });
    expect([answer.statusCode, plan.statusCode]).toEqual([200, 200]);
    expect(plan.body).toMatch(/there is no workspace|is a test environment itself/);
    expect(leaked(answer.body + plan.body, of)).toEqual([]);
    await app.inject({ method: 'DELETE', url, headers: { 'if-match': String(answer.headers.etag) } });
  });
});
