import { CHANGED_BY_OWNER, findResource, type ResourceChange, foldConfiguration } from '@carillon/domain/configuration';
import { writeConsentLink, type ConsentLink, type Consents } from '@carillon/domain/consent';
import type { ConsentStore } from '@carillon/ports';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunningGateway } from '../src/index.ts';
import { prepareFixture, type Fixture } from './gateway-fixture.ts';

let fixture: Fixture;
let gateway: RunningGateway;
let people = 0;
const notification = (name: string, more: object): ResourceChange => ({
  ref: { kind: 'notification', workspace: 'shop', name },
  based_on: null,
  body: { name: `About <${name}>`, rules: {}, channels: { email: { template: 'x' } }, ...more },
});
beforeAll(async () => {
  fixture = await prepareFixture();
  const changes = [
    notification('paid', { id: 'ntf_paid', category: 'orders' }),
    notification('news', { id: 'ntf_news', category: 'news' }),
    notification('single', { id: 'ntf_single' }),
    notification('password', { id: 'ntf_password', category: 'security', transactional: true }),
  ];
  const record = { id: 'req_2', at: '2026-01-01T00:00:00.000Z', by: CHANGED_BY_OWNER, changes };
  fixture.configuration.current = foldConfiguration(fixture.configuration.current, record, 1).configuration;
});
beforeEach(async () => {
  people += 1;
  gateway = await fixture.start();
});
afterEach(() => fixture.stopGateways());

const person = (): string => `ada-${people}@example.com`;
const link = (more: Partial<ConsentLink> = {}): ConsentLink => ({
  workspace: 'shop',
  person: person(),
  notificationId: 'ntf_paid',
  category: 'orders',
  channel: 'email',
  test: false,
  ...more,
});
const tokenOf = (more: Partial<ConsentLink> = {}): string => fixture.backend.links.seal(writeConsentLink(link(more)));
async function call(path: string, init: RequestInit = {}) {
  const answer = await fetch(`${gateway.address}${path}`, { redirect: 'manual', ...init });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}
const stored = async (): Promise<Consents | undefined> => (await fixture.backend.consents.find('shop', [person()]))[0];
const outs = async (): Promise<readonly string[]> =>
  ((await stored())?.words ?? [])
    .filter(({ optedOut }) => optedOut)
    .map(({ target, channel }) => `${target.kind === 'all' ? 'all' : `${target.kind} ${target.name}`} ${channel}`);
const form = (fields: readonly (readonly [string, string])[]): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])),
});
const ONE_CLICK = form([['List-Unsubscribe', 'One-Click']]);

describe('the unsubscribe link', () => {
  it('shows a page on GET and changes nothing', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, body } = await call(`/unsubscribe/${tokenOf()}`, { method });
      expect(status).toBe(200);
      if (method === 'GET') expect(body).toContain('<form method="post"><button>Stop them</button></form>');
    }
    await call(`/preferences/${tokenOf()}`);
    expect(await stored()).toBeUndefined();
  });

  it('opts out of the category on the channel with one POST, without cookie or redirect, stored before the response', async () => {
    const { status, headers } = await call(`/unsubscribe/${tokenOf()}`, ONE_CLICK);
    expect(status).toBe(200);
    expect(headers.get('set-cookie')).toBeNull();
    expect(await outs()).toEqual(['category orders email']);
    expect((await stored())?.words[0]).toMatchObject({ way: 'one_click' });
    await expect.poll(async () => (await stored())?.unpublished).toEqual([]);
    const told = (await fixture.records('carillon.consents')).map(({ value }) =>
      fixture.backend.codecs.consent.decode(value),
    );
    expect(told).toContainEqual(expect.objectContaining({ ok: true }));
  });

  it('accepts the POST of a mail program in any form, and a repeat changes nothing', async () => {
    const body = new FormData();
    body.set('List-Unsubscribe', 'One-Click');
    for (const init of [{ method: 'POST', body }, { method: 'POST' }, { method: 'POST', body: '{}' }]) {
      expect((await call(`/unsubscribe/${tokenOf()}`, init)).status).toBe(200);
    }
    expect(await stored()).toMatchObject({ words: [{ optedOut: true }] });
    expect(await outs()).toHaveLength(1);
  });

  it('opts out of the notification if it has no category', async () => {
    await call(`/unsubscribe/${tokenOf({ notificationId: 'ntf_single', category: null })}`, ONE_CLICK);
    expect(await outs()).toEqual(['notification ntf_single email']);
  });

  it('of a test message shows its effect without doing it', async () => {
    const { body } = await call(`/unsubscribe/${tokenOf({ test: true })}`, ONE_CLICK);
    expect(body).toContain('Nothing was changed');
    await call(`/preferences/${tokenOf({ test: true })}`, form([['do', 'stop']]));
    expect(await stored()).toBeUndefined();
  });

  it('of a test message hides the person’s choices, because its sender could read them', async () => {
    await call(`/preferences/${tokenOf()}`, form([['do', 'stop']]));
    expect((await call(`/preferences/${tokenOf()}`)).body).toContain('You stopped everything');
    const { body } = await call(`/preferences/${tokenOf({ test: true })}`);
    expect(body).toContain('This link belongs to a test message');
    expect(body).not.toContain('You stopped everything');
  });

  it('says that nothing was saved if the store is unavailable', async () => {
    await gateway.close();
    const away: ConsentStore = { ...fixture.backend.consents, replace: () => Promise.reject(new Error('away')) };
    gateway = await fixture.start({}, { consents: away });
    const { status, body } = await call(`/unsubscribe/${tokenOf()}`, ONE_CLICK);
    expect(status).toBe(503);
    expect(body).toContain('could not be saved');
    expect(body).not.toContain('will not get');
  });

  it('works while the configuration cannot be read', async () => {
    await gateway.close();
    const configuration = {
      ...fixture.configuration,
      current: () => fixture.configuration.current,
      readToEndAt: () => 0,
    };
    gateway = await fixture.start({}, { configuration: configuration as never });
    expect((await call(`/unsubscribe/${tokenOf()}`, ONE_CLICK)).status).toBe(200);
    expect(await outs()).toHaveLength(1);
  });
});

describe('the preference page', () => {
  const boxes = ['category:news:email', 'category:orders:email'];
  const save = (...wanted: readonly string[]) =>
    call(
      `/preferences/${tokenOf()}`,
      form([
        ['do', 'save'],
        ...boxes.map((box) => ['shown', box] as const),
        ...wanted.map((box) => ['want', box] as const),
      ]),
    );

  it('offers every category except transactional ones, as text without scripts', async () => {
    const { body, headers } = await call(`/preferences/${tokenOf({ notificationId: 'ntf_single', category: null })}`);
    expect(body).toContain('<legend>Orders</legend>');
    expect(body).toContain('<legend>News</legend>');
    expect(body).toContain('<legend>About &lt;single&gt;</legend>');
    expect(body).not.toMatch(/security|<script|password\b.*legend|javascript/i);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(body).not.toContain(person());
  });

  it('saves the choices among the offered ones and shows them', async () => {
    const { body } = await save('category:orders:email');
    expect(body).toContain('Saved.');
    expect(body).toMatch(/value="category:orders:email" checked/);
    expect(body).not.toMatch(/value="category:news:email" checked/);
    expect(await outs()).toEqual(['category news email']);
    await save(...boxes);
    expect(await outs()).toEqual([]);
  });

  it('opts out of everything, and reverses it', async () => {
    const stopped = await call(`/preferences/${tokenOf()}`, form([['do', 'stop']]));
    expect(stopped.body).toContain('You stopped everything');
    expect(await outs()).toEqual(['all null']);
    await call(`/preferences/${tokenOf()}`, form([['do', 'allow']]));
    expect(await outs()).toEqual([]);
  });

  describe('a renamed category', () => {
    const before = () => fixture.configuration.current;
    let held: ReturnType<typeof before>;
    beforeEach(() => {
      held = before();
      const categories = {
        updates: { name: 'Your orders', description: 'What <you> bought', was: ['orders'] },
        news: {},
      };
      const changes = [
        { ref: { kind: 'workspace' as const, workspace: 'shop', name: '' }, based_on: null, body: { categories } },
        notification('paid', { id: 'ntf_paid', category: 'updates' }),
      ].map((change) => ({
        ...change,
        based_on: findResource(held, change.ref.kind, 'shop', change.ref.name)?.number ?? null,
      }));
      const record = { id: 'req_3', at: '2026-01-01T00:00:00.000Z', by: CHANGED_BY_OWNER, changes };
      fixture.configuration.current = foldConfiguration(held, record, 2).configuration;
    });
    afterEach(() => {
      fixture.configuration.current = held;
    });

    it('shows its title as opted out after a click in an older message, and reverses that', async () => {
      const clicked = await call(`/unsubscribe/${tokenOf()}`, ONE_CLICK);
      expect(clicked.body).toContain('“Your orders”');
      expect(await outs()).toEqual(['category orders email']);
      const page = await call(`/preferences/${tokenOf({ category: 'updates' })}`);
      expect(page.body).toContain('<legend>Your orders</legend><p class="note">What &lt;you&gt; bought</p>');
      expect(page.body).toContain('value="category:updates:email">');
      expect(page.body).not.toContain('category:orders:email');
      const back = form([
        ['do', 'save'],
        ['shown', 'category:updates:email'],
        ['want', 'category:updates:email'],
      ]);
      const saved = await call(`/preferences/${tokenOf()}`, back);
      expect(saved.body).toContain('value="category:updates:email" checked>');
      expect(await outs()).toEqual([]);
    });
  });

  it('ignores choices it did not offer', async () => {
    const foreign = ['category:security:email', 'notification:ntf_news:email', 'category:orders:fax', '<script>'];
    await call(`/preferences/${tokenOf()}`, form([['do', 'save'], ...foreign.map((box) => ['shown', box] as const)]));
    await call(`/preferences/${tokenOf()}`, form([['do', 'everything']]));
    expect(await stored()).toBeUndefined();
  });
});

describe('an invalid link', () => {
  it('shows the same page for every mistake, and logs nothing', async () => {
    const token = tokenOf();
    const bodies = new Set<string>();
    for (const bad of [token.slice(0, -3), `${token.slice(0, 20)}AAAA${token.slice(24)}`, 'x', '%3Cscript%3E']) {
      const { status, body } = await call(`/unsubscribe/${bad}`, ONE_CLICK);
      expect(status).toBe(404);
      bodies.add(body);
    }
    expect(bodies.size).toBe(1);
    expect(fixture.logged.join('\n')).not.toContain(token.slice(0, 20));
    expect(await stored()).toBeUndefined();
  });

  it('is rate-limited after many tries, while valid links work', async () => {
    const statuses: number[] = [];
    for (let tries = 0; tries < 40; tries += 1) statuses.push((await call(`/unsubscribe/nothing${tries}`)).status);
    expect(statuses.slice(0, 25).every((status) => status === 404)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
    expect((await call(`/unsubscribe/${tokenOf()}`, ONE_CLICK)).status).toBe(200);
  });
});
