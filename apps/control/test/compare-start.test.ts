import type { RunId } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { MAIL, ORDERS, PAID } from './resource-fixture.ts';
import { useRunStarts, yaml } from './run-start-fixture.ts';

const RIVAL = 'rival';
/** Names that only the other workspace has. */
const SECRETS = ['takeover', 'acquisition', RIVAL];

const starts = useRunStarts(async (under) => {
  await under.apply('workspace', '', { name: 'Rival' }, RIVAL);
  await under.apply('stream', 'takeover', ORDERS, RIVAL);
  await under.apply('template', 'order-paid', MAIL, RIVAL);
  await under.apply('partial', 'acquisition', { text: 'Hello' }, RIVAL);
});
const { under } = starts;

describe('the start of a run', () => {
  it.each(['compare', 'verify'])('of kind %s refuses a text', async (kind) => {
    expect(await starts.start({ kind, text: 'ada@example.com' })).toMatchObject({
      status: 400,
      body: { detail: 'text: only a search (kind find) takes a text' },
    });
  });

  it('names the notification that was probably meant', async () => {
    const answer = await starts.start({ notifications: ['order-payd'] });
    expect(answer).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('did you mean order-paid?') as unknown },
    });
  });
});

describe('the starts of runs', () => {
  it('leave at most five unfinished in a workspace, even with concurrent starts', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => starts.start({})));
    expect(Map.groupBy(answers, ({ status }) => status).get(202)).toHaveLength(5);
    expect(answers.filter(({ body }) => 'code' in body && body.code === 'wrong_state')).toHaveLength(3);
    expect((await starts.stores.runs.list('shop', 10)).items).toHaveLength(5);
  });
});

describe('the start of a run over two versions', () => {
  it('compares a version with the one before it', async () => {
    const newest = under.fixture.topology.ports.configuration.current().number;
    const { status, body } = await starts.start({ before: newest - 2, after: newest - 1 });
    expect({ status, body }).toMatchObject({
      status: 202,
      body: { before: newest - 2, published: newest - 1, changes: [] },
    });
  });

  it('refuses a version that is not there, and a version together with an edit', async () => {
    const refused = (pointer: string) => ({ status: 400, body: { code: 'invalid_request', pointer } });
    expect(await starts.start({ after: 1_000_000 })).toMatchObject(refused('/after'));
    expect(await starts.start({ before: 1_000_000 })).toMatchObject(refused('/before'));
    expect(await starts.start({ after: 1, drafts: true })).toMatchObject(refused('/after'));
  });
});

describe('the start of a run over drafts', () => {
  it('skips drafts of other people that contain mistakes, and lists them', async () => {
    const ben = await under.as('ben');
    const broken = { email: { subject: 'x', html: '<p>{{#if a}}</p>', strict: false } };
    const draft = { body: broken, based_on: null };
    expect(await ben('PUT', 'templates/broken/draft', draft, { 'if-none-match': '*' })).toMatchObject({ status: 200 });
    const { status, body } = await starts.start({ drafts: true });
    expect({ status, body }).toMatchObject({
      status: 202,
      body: {
        changes: [],
        notes: expect.arrayContaining([
          'Drafts of other people that have mistakes are left out: template broken.',
        ]) as unknown,
      },
    });
  });
});

describe('the start of a run over a folder', () => {
  it('removes no resources of other workspaces, and neither stores nor shows them', async () => {
    const { status, body, text } = await starts.fold({}, true);
    expect({ status, changes: body.changes }).toEqual({
      status: 202,
      changes: [{ kind: 'notification', name: 'order-paid', action: 'delete', revision: null }],
    });
    const id = body.id as RunId;
    const stored = [await starts.stores.runs.get(id), await starts.stores.runs.edit(id)];
    for (const secret of SECRETS) {
      expect(text).not.toContain(secret);
      expect(JSON.stringify(stored)).not.toContain(secret);
    }
  });

  it('takes rules that keep state', async () => {
    const rule = { ...PAID.rules.paid, cooldown: '1h' };
    const { status, body } = await starts.fold({
      'workspaces/shop/notifications/order-paid.yaml': yaml({ ...PAID, rules: { paid: rule } }),
    });
    expect(status).toBe(202);
    expect(body).toMatchObject({ notifications: ['order-paid'] });
  });

  it('leaves out files of other workspaces, and their mistakes', async () => {
    const { status, body } = await starts.fold({
      'workspaces/shop/notifications/order-paid.yaml': yaml({ ...PAID, enabled: false }),
      'workspaces/rival/partials/acquisition.hbs': 'Changed',
      'workspaces/rival/streams/takeover.yaml': yaml({ key: 'event.id' }),
      'workspaces/new/workspace.yaml': 'nonsense: true',
      'carillon.yaml': yaml({ portal_url: 'https://carillon.example.com' }),
    });
    expect({ status, changes: body.changes }).toMatchObject({
      status: 202,
      changes: [{ kind: 'notification', name: 'order-paid', action: 'update' }],
    });
  });

  it('gives a new rule the same id each time', async () => {
    const files = { 'workspaces/shop/notifications/fresh.yaml': yaml(PAID) };
    const ruleBodies = async () => {
      const edit = await starts.stores.runs.edit((await starts.fold(files)).body.id as RunId);
      return edit.map(({ body }) => body);
    };
    const first = await ruleBodies();
    expect(first).toMatchObject([{ rules: { paid: { id: expect.any(String) as unknown } } }]);
    expect(await ruleBodies()).toEqual(first);
  });

  it('refuses mistakes without naming a resource of another workspace', async () => {
    const mistakes = [
      { 'workspaces/shop/workspace.yaml': yaml({ environment: 'test', of: 'rivals' }) },
      { 'workspaces/shop/workspace.yaml': yaml({ environment: 'test', of: 'nobody' }) },
      { 'workspaces/shop/notifications/order-paid.yaml': yaml({ ...PAID, rules: { paid: { stream: 'takeovers' } } }) },
      { 'workspaces/shop/templates/order-paid/email.txt': '{{> acquisitions}}' },
    ];
    for (const files of mistakes) {
      const { status, text } = await starts.fold(files);
      expect({ files, status }).toEqual({ files, status: 400 });
      for (const secret of SECRETS) expect(text).not.toMatch(new RegExp(String.raw`\b${secret}\b`, 'u'));
    }
  });

  it('gives the same error for a workspace out of sight as for a missing workspace', async () => {
    const [there, missing] = await Promise.all(
      [RIVAL, 'nobody'].map(async (of) => {
        const { text } = await starts.fold({ 'workspaces/shop/workspace.yaml': yaml({ environment: 'test', of }) });
        return text.replaceAll(of, '').replaceAll(/"request_id":"[^"]*"/gu, '');
      }),
    );
    expect(there).toBe(missing);
  });

  it('refuses a folder without files of the workspace', async () => {
    const answer = await starts.start({
      folder: { files: { 'workspaces/shops/workspace.yaml': 'name: Shop' }, prune: true },
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', detail: expect.stringContaining('did you mean shops?') as unknown },
    });
  });
});
