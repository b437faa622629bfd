import type { WhyNotBody } from '@carillon/contracts';
import { evaluateAll, projectAll } from '@carillon/testing/topology';
import { beforeAll, describe, expect, it } from 'vitest';
import { useDrafts, type Answer, type DraftFixture } from './draft-fixture.ts';
import { MAIL, ORDERS, PAID } from './resource-fixture.ts';

const under = useDrafts();
const RIVAL = 'rival';
const BEGIN = { 'if-none-match': '*' };
const question = { who: 'ada@example.com', notification: 'order-paid' };
const when = (condition: string) => ({ ...PAID, rules: { paid: { ...PAID.rules.paid, when: condition } } });

type Ask = DraftFixture['ask'];
let editor: Ask;

/** Asks as somebody, with the drafts. */
const whyNot = async (by: Ask, more: object = {}): Promise<Answer & { readonly body: WhyNotBody }> => {
  const answer = await by('POST', 'why-not', { ...question, drafts: true, ...more });
  return answer as unknown as Answer & { readonly body: WhyNotBody };
};

async function publishedAt(kind: 'notification' | 'template', name: string): Promise<number | null> {
  const { resources } = under.fixture.ports.configuration.current();
  return [...resources.values()].find(({ ref }) => ref.kind === kind && ref.name === name)?.number ?? null;
}
async function save(
  by: Ask,
  kind: 'notification' | 'template',
  name: string,
  body: object,
): Promise<() => Promise<unknown>> {
  const path = `${kind}s/${name}/draft`;
  const saved = await by('PUT', path, { body, based_on: await publishedAt(kind, name) }, BEGIN);
  expect(saved).toMatchObject({ status: 200 });
  return () => by('DELETE', path, undefined, { 'if-match': saved.etag });
}

beforeAll(async () => {
  const { topology } = under.fixture;
  await under.apply('workspace', '', { name: 'Rival' }, RIVAL);
  await under.apply('stream', 'takeover', ORDERS, RIVAL);
  await topology.event({ order_id: 'A-1', status: 'open', email: question.who });
  await evaluateAll(topology);
  await projectAll(topology);
  topology.clock.pass(1_000);
  editor = await under.as('ada', ['read', 'bodies', 'configure'], 'shop');
});

describe('Why not, with the drafts of the workspace', () => {
  it('says what the drafts make of each event', async () => {
    const discard = await save(editor, 'notification', 'order-paid', when('event.status == "open"'));
    const { status, body } = await whyNot(editor);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        verdict: 'stopped',
        gate: 'condition',
        with_drafts: { result: 'notified', gate: null, words: 'notified' },
        drafts_left_out: [],
      },
    });
    const { body: without } = await whyNot(editor, { drafts: false });
    expect(without.with_drafts).toBeNull();
    await discard();
  });

  it('gives a viewer the same result without event values', async () => {
    const discard = await save(editor, 'notification', 'order-paid', when('event.status == "gone"'));
    const viewer = await under.as('vic', ['read'], 'shop');
    const { status, body } = await whyNot(viewer);
    expect({ status, drafts: body.with_drafts }).toEqual({
      status: 200,
      drafts: {
        result: 'stopped',
        gate: 'condition',
        text: '`when` is false',
        words: 'stopped at: The rule fired (`when` is false)',
      },
    });
    await discard();
  });

  it('knows a notification that only a draft has', async () => {
    const discard = await save(editor, 'notification', 'order-open', when('event.status == "open"'));
    const { body } = await whyNot(editor, { notification: 'order-open' });
    expect(body).toMatchObject({ rule: 'order-open.paid', gate: 'rule', with_drafts: { result: 'notified' } });
    expect(await whyNot(editor, { notification: 'order-opem' })).toMatchObject({ status: 400 });
    expect(await whyNot(editor, { notification: 'order-open', drafts: false })).toMatchObject({ status: 400 });
    await discard();
  });

  it('refuses mistakes in drafts of the caller or the notification, and skips faulty drafts of others', async () => {
    const ben = await under.as('ben', ['read', 'configure'], 'shop');
    const broken = { email: { ...MAIL.email, html: '<p>{{#if a}}</p>', strict: false } };
    const discard = await save(ben, 'template', 'broken', broken);
    expect(await whyNot(editor)).toMatchObject({
      status: 200,
      body: { drafts_left_out: [{ kind: 'template', name: 'broken' }], with_drafts: { result: 'stopped' } },
    });
    expect(await whyNot(ben)).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    await discard();
    const discardOwn = await save(ben, 'notification', 'order-paid', when('event.status =='));
    const { status, body } = await whyNot(editor);
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    expect(JSON.stringify(body)).toContain('rules.paid.when');
    await discardOwn();
  });

  it('refuses a workspace without drafts, and the drafts of another workspace', async () => {
    expect(await whyNot(editor)).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    const rival = await under.as('rita', ['read', 'bodies', 'configure'], RIVAL);
    expect(await whyNot(rival)).toMatchObject({ status: 403 });
  });

  it('refuses a cursor of a request with drafts in a request without drafts', async () => {
    const discard = await save(editor, 'notification', 'order-paid', when('event.status == "open"'));
    const { readModels, clock } = under.fixture.ports;
    const event = (offset: number) => ({
      id: `evt_${offset}`,
      workspace: 'shop',
      stream: 'shop/orders',
      partition: 0,
      offset: 1_000 + offset,
      at: clock.now() - 60_000 - offset,
      bytes: 10,
      configNumber: 1,
      reused: false,
      traceId: null,
    });
    await readModels.put({ events: Array.from({ length: 450 }, (_, offset) => event(offset)) });
    const first = await whyNot(editor);
    const { next } = first.body;
    expect(next).not.toBeNull();
    expect(await whyNot(editor, { cursor: next })).toMatchObject({ status: 200, body: { next: null } });
    expect(await whyNot(editor, { cursor: next, drafts: false })).toMatchObject({ status: 400 });
    await discard();
  });
});
