import { stateText } from '@carillon/domain/deliveries';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, picture } from '../portal/accessible.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

type Delivery = { readonly id: string; readonly to: string; readonly state: string; readonly [field: string]: unknown };

const LIST = 'GET /v1/workspaces/{workspace}/deliveries';
const LIVE = 'GET /v1/workspaces/{workspace}/live';
const AT = '/workspaces/shop/deliveries';
/** A page that nobody looks at for so long gives its connection back. */
const HIDDEN_FOR_MS = 10_000;
const FIRST = 30;

testScreens('a list that shows changes as they come', ({ api, guard, open }) => {
  let deliveries: readonly Delivery[] = [];
  const rows = (page: Page) => page.locator('main [data-key]');
  const fresh = (page: Page) => page.getByRole('button', { name: /^\d+\+? new$/ });
  const first = (page: Page) => rows(page).first().textContent();

  const delivery = (at: number, state = 'SENT'): Delivery => {
    const time = new Date(Date.parse('2026-11-22T10:00:00.000Z') + at * 1_000).toISOString();
    const [example] = api.example(LIST)['items'] as readonly Delivery[];
    const id = `dlv_${String(at).padStart(26, '0')}`;
    const to = `reader-${String(at).padStart(3, '0')}@example.com`;
    return { ...example, id, to, state, state_words: stateText(state), created_at: time, updated_at: time };
  };
  /** Serves this many deliveries, newest first, in pages as the portal asks for them. */
  function serve(count: number, oldest = delivery(1)): void {
    deliveries = [...Array.from({ length: count - 1 }, (_, at) => delivery(count - at)), oldest];
    api.answer(LIST, ({ query }: Call) => {
      const from = Number(query.get('cursor') ?? 0);
      const to = from + Number(query.get('limit') ?? 50);
      return { items: deliveries.slice(from, to), next: to < deliveries.length ? String(to) : null };
    });
  }
  /** Adds a delivery, or puts it in place of the one with its id, and tells the open streams of it. */
  function put(one: Delivery): string {
    const isThere = deliveries.some(({ id }) => id === one.id);
    deliveries = isThere ? deliveries.map((old) => (old.id === one.id ? one : old)) : [one, ...deliveries];
    api.push('deliveries', one);
    return one.to;
  }
  const send = (): string => put(delivery(deliveries.length + 1));
  /** Opens the list and waits until its stream is there and has had it read again. */
  async function openLive(options: object = {}): Promise<Page> {
    const page = await open(AT, { viewport: { width: 1440, height: 700 }, ...options });
    await rows(page).first().waitFor();
    await page.getByText('Live: changes show as they come').waitFor();
    await expect.poll(() => api.calls(LIST).length).toBeGreaterThan(1);
    return page;
  }

  it('shows a new delivery and its state changes, and sends no requests while nothing happens', async () => {
    serve(FIRST);
    const page = await open('about:blank');
    await page.clock.install();
    await page.goto(`${api.url}${AT}`);
    await rows(page).first().waitFor();
    await page.getByText('Live: changes show as they come').waitFor();
    const email = put(delivery(FIRST + 1, 'WAITING'));
    await expect.poll(() => first(page)).toContain(email);
    put(delivery(FIRST + 1, 'SENT'));
    await expect.poll(() => first(page)).toMatch(new RegExp(`Sent.*${email}`));
    /** How often the list was asked for while the page's clock went on. */
    const askedIn = async (span: number): Promise<number> => {
      const before = api.calls(LIST).length;
      await page.clock.runFor(span);
      await page.evaluate(`fetch('/v1/me').then((answer) => answer.text())`);
      return api.calls(LIST).length - before;
    };
    let quiet = 0;
    await expect.poll(async () => (quiet = (await askedIn(2_000)) === 0 ? quiet + 1 : 0)).toBe(3);
    expect(await askedIn(20_000)).toBe(0);
  });

  it('moves no row under the pointer or under the focus of a keyboard: new ones wait and are counted', async () => {
    serve(FIRST);
    const page = await openLive();
    const third = (await rows(page).nth(2).textContent()) ?? '';
    const box = await rows(page).nth(2).boundingBox();
    await page.mouse.move((box?.x ?? 0) + 300, (box?.y ?? 0) + 10);
    const [one, two] = [send(), send()];
    await expect.poll(() => fresh(page).textContent()).toBe('2 new');
    expect(await rows(page).nth(2).textContent()).toContain(/reader-\d+/.exec(third)?.[0]);
    expect((await rows(page).nth(2).boundingBox())?.y).toBe(box?.y);
    await expectAccessible(page, 'new rows that wait');
    await picture(page, 'waiting');
    // By the keyboard they are taken in, and the focus goes to the newest.
    await fresh(page).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => first(page)).toContain(two);
    expect(await rows(page).nth(1).textContent()).toContain(one);
    await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toContain(two);
    // While the focus stays there the next one waits too.
    await page.mouse.move(5, 5);
    const three = send();
    await fresh(page).waitFor();
    expect(await first(page)).toContain(two);
    await page.getByRole('searchbox').focus();
    await expect.poll(() => first(page)).toContain(three);
    expect(await fresh(page).count()).toBe(0);
  });

  it('delivers a click to its row, and delays a new row until the pointer has left', async () => {
    serve(5);
    const page = await openLive();
    const pressed = rows(page).nth(1);
    const key = await pressed.getAttribute('data-key');
    await pressed.hover();
    await page.mouse.down();
    await page.locator(`main [data-key="${key}"]:focus`).waitFor();
    const late = send();
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.locator('main [data-key]:focus').getAttribute('data-key')).toBe(key);
    await page.mouse.up();
    await page.getByRole('region', { name: 'Story' }).waitFor();
    await expect.poll(() => page.url()).toContain(`open=${key}`);
    expect(await rows(page).filter({ hasText: late }).count()).toBe(0);
    await page.getByRole('region', { name: 'Story' }).getByRole('heading').first().hover();
    await rows(page).filter({ hasText: late }).waitFor();
  });

  it('updates an old row that is no longer on the newest page', async () => {
    const doubtful = delivery(1, 'IN_DOUBT');
    serve(100, doubtful);
    const page = await openLive();
    const row = page.locator(`[data-key="${doubtful.id}"]`);
    // Its page is asked for on the way down.
    await expect
      .poll(async () => {
        await page.evaluate('document.querySelector("main ol").parentElement.scrollTop += 1000');
        return row.count();
      })
      .toBe(1);
    await row.scrollIntoViewIfNeeded();
    expect(await row.textContent()).toContain('In doubt');
    put({ ...doubtful, state: 'SENT', state_words: stateText('SENT'), updated_at: '2026-11-22T11:00:00.000Z' });
    await expect.poll(() => row.textContent()).toContain('Sent');
  });

  it('falls back to polling while the stream is refused, says so, and reconnects', async () => {
    guard.allowStatus(503);
    serve(FIRST);
    api.answer(LIVE, problem(503, 'overloaded', 'Too many streams are open.', { 'retry-after': '3' }));
    const page = await open(AT);
    await page.getByText('Live updates stopped').waitFor();
    await page.getByText(/Next try in \d s/).waitFor();
    await expectAccessible(page, 'a lost stream');
    await picture(page, 'lost');
    const email = send();
    await expect.poll(() => first(page)).toContain(email);
    api.forget(LIVE);
    await page.getByText('Live: changes show as they come').waitFor();
    await page.getByText('Live updates stopped').waitFor({ state: 'detached' });
    const next = send();
    await expect.poll(() => first(page)).toContain(next);
  });

  it('closes its connection while the page is hidden, and resumes after the last event id', async () => {
    serve(FIRST);
    const page = await open('about:blank');
    await page.clock.install();
    await page.goto(`${api.url}${AT}`);
    await rows(page).first().waitFor();
    await page.getByText('Live: changes show as they come').waitFor();
    const email = send();
    await expect.poll(() => first(page)).toContain(email);
    const show = (state: string): Promise<unknown> =>
      page.evaluate(`{
        Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }`);
    const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/live?'));
    await show('hidden');
    await page.clock.runFor(HIDDEN_FOR_MS);
    await closed;
    const before = api.calls(LIVE).length;
    await show('visible');
    await expect.poll(() => api.calls(LIVE).length).toBe(before + 1);
    expect(api.calls(LIVE).at(-1)?.headers['last-event-id']).toBe('2');
    await page.getByText('Live: changes show as they come').waitFor();
    const missed = send();
    await expect.poll(() => first(page)).toContain(missed);
  });

  it('brings the numbers of the overview up to date', async () => {
    const insights = 'GET /v1/workspaces/{workspace}/insights';
    const page = await open('/workspaces/shop');
    const lead = page.getByText(/[\d,.]+ messages? in 24 hours|messages today/).first();
    await lead.waitFor();
    const before = await lead.textContent();
    api.answer(insights, { ...api.example(insights), messages: 1_181 });
    // The overview opens its stream anew for each part that it loads.
    await expect
      .poll(() => {
        api.push('deliveries', delivery(1));
        return lead.textContent();
      })
      .not.toBe(before);
  });

  it('brings the list of events up to date', async () => {
    const events = 'GET /v1/workspaces/{workspace}/events';
    const [event] = api.example(events)['items'] as readonly object[];
    const page = await open('/workspaces/shop/events');
    await rows(page).first().waitFor();
    await page.getByText('Live: changes show as they come').waitFor();
    const next = { ...event, id: 'evt_5N6R3WD0GMPXQ2V7T1C9H4B8KJ', at: '2026-11-22T10:45:00.000Z' };
    api.answer(events, { items: [next, event], next: null });
    api.push('events', next);
    await expect.poll(() => rows(page).first().getAttribute('data-key')).toContain(next.id);
  });
});
