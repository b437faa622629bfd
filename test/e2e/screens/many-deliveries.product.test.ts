import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { startJob } from './jobs.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

type Delivery = {
  readonly id: string;
  readonly to: string;
  readonly unique_id: string;
  readonly state: string;
  readonly created_at: string;
  readonly [field: string]: unknown;
};

const LIST = 'GET /v1/workspaces/{workspace}/deliveries';
const READ = 'GET /v1/workspaces/{workspace}/deliveries/{id}';
const COUNT = 'GET /v1/workspaces/{workspace}/deliveries/count';
const COUNT_CHOSEN = 'POST /v1/workspaces/{workspace}/deliveries/count';
const RESEND_MANY = 'POST /v1/workspaces/{workspace}/deliveries/resend';
const DISMISS_MANY = 'POST /v1/workspaces/{workspace}/deliveries/dismiss';
const DISMISS = 'POST /v1/workspaces/{workspace}/deliveries/{id}/dismiss';
const INSIGHTS = 'GET /v1/workspaces/{workspace}/insights';
const AT = '/workspaces/shop/deliveries';
const DOUBTS = 12;

testScreens('many deliveries at once', ({ api, open }) => {
  const rows = (page: Page) => page.locator('main [data-key]');
  const search = (page: Page, name: string) => page.getByRole('searchbox', { name });
  const bar = (page: Page) => page.getByRole('region', { name: 'Chosen rows' });
  const box = (page: Page, at: number) =>
    page.locator(`main li[aria-posinset="${at}"]`).getByRole('checkbox', { name: /^Choose / });

  const delivery = (at: number, state: string, to = `doubt-${at}@example.com`): Delivery => {
    const time = new Date(Date.parse('2026-11-22T10:00:00.000Z') - at * 1_000).toISOString();
    const id = `dlv_${String(at).padStart(26, '0')}`;
    const example = (api.example(LIST)['items'] as readonly Delivery[])[0];
    return { ...example, id, to, unique_id: to, state, created_at: time, updated_at: time };
  };
  const doubts = (): readonly Delivery[] => Array.from({ length: DOUBTS }, (_, at) => delivery(at + 1, 'IN_DOUBT'));

  /** Serves these deliveries, filtered as the screen asks, and the jobs that change them. */
  function serve(first: readonly Delivery[]): void {
    let all = first;
    const isAsked = (one: Delivery, query: URLSearchParams): boolean =>
      [null, one.state].includes(query.get('state')) &&
      one.to.startsWith(query.get('recipient') ?? '') &&
      one.unique_id.startsWith(query.get('unique_id') ?? '') &&
      one.created_at >= (query.get('from') ?? '') &&
      one.created_at < (query.get('to') ?? '9');
    const settle = (ids: readonly string[], state: string): void => {
      all = all.map((one) => (ids.includes(one.id) ? { ...one, state } : one));
    };
    const count = (action: unknown, fitting: readonly Delivery[], ids?: readonly string[]): object => ({
      action,
      count: fitting.length,
      people: fitting.length,
      by_state: Object.fromEntries(
        fitting.map(({ state }) => [state, fitting.filter((one) => one.state === state).length]),
      ),
      more: false,
      ceiling: 10_000,
      ...(ids && { ids: fitting.map(({ id }) => id) }),
    });
    const settleJob = (action: string, { body }: Call, state: string): object => {
      const { ids, filter } = body as {
        readonly ids?: readonly string[];
        readonly filter?: { readonly state: readonly string[] };
      };
      const meant = all.filter(({ id, state: of }) => ids?.includes(id) ?? filter?.state.includes(of));
      settle(
        meant.map(({ id }) => id),
        state,
      );
      return startJob(api, { action, of: meant.length });
    };
    api.answer(LIST, ({ query }: Call) => ({ items: all.filter((one) => isAsked(one, query)), next: null }));
    api.answer(
      READ,
      ({ params }: Call) => all.find(({ id }) => id === params['id']) ?? problem(404, 'not_found', 'none'),
    );
    api.answer(COUNT, ({ query }: Call) => {
      const states = query.get('action') === 'cancel' ? ['WAITING'] : ['FAILED', 'IN_DOUBT'];
      return count(
        query.get('action'),
        all.filter((one) => isAsked(one, query) && states.includes(one.state)),
      );
    });
    api.answer(COUNT_CHOSEN, ({ body }: Call) => {
      const { action, ids } = body as { readonly action: string; readonly ids: readonly string[] };
      return count(
        action,
        all.filter(({ id }) => ids.includes(id)),
        ids,
      );
    });
    api.answer(RESEND_MANY, (call: Call) => settleJob('resend_deliveries', call, 'SENT'));
    api.answer(DISMISS_MANY, (call: Call) => settleJob('dismiss_deliveries', call, 'FAILED'));
    api.answer(DISMISS, ({ params: { id = '' } }: Call) => {
      settle([id], 'SENT');
      const ended = all.find((one) => one.id === id);
      if (!ended) return problem(404, 'not_found', 'none');
      api.push('deliveries', ended);
      return ended;
    });
  }

  it('are searched by typing in the middle of the text, which the address gets after a pause', async () => {
    serve([delivery(0, 'SENT', 'ada@example.com'), ...doubts()]);
    const page = await open(AT);
    await rows(page).first().waitFor();
    await search(page, 'Recipient').pressSequentially('da@example.com');
    await page.keyboard.press('Home');
    await search(page, 'Recipient').pressSequentially('a');
    await page.waitForURL(/recipient=ada%40example.com/);
    await page.keyboard.type('x');
    expect(await search(page, 'Recipient').inputValue()).toBe('axda@example.com');
    await page.getByText('No delivery matches this filter').waitFor();
    await search(page, 'Recipient').fill('ada@');
    await expect.poll(() => rows(page).count()).toBe(1);
    await expectAccessible(page, 'a search');
    await page.getByRole('button', { name: /Search by/ }).click();
    await page.getByRole('option', { name: 'unique_id' }).click();
    await search(page, 'unique_id').fill('ada@example.com');
    await page.waitForURL(/unique_id=ada%40example.com/);
    expect(page.url()).not.toContain('recipient=');
    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(await search(page, 'unique_id').inputValue()).toBe('ada@example.com');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rows(page).count()).toBe(DOUBTS + 1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
  });

  it('are narrowed to a part of the bars by the mouse and by the keyboard, which the address gets', async () => {
    serve(doubts());
    // 24 hours, of which the last one has deliveries.
    const buckets = Array.from({ length: 24 }, (_, hour) => ({
      at: new Date(Date.parse('2026-11-21T10:00:00.000Z') + hour * 3_600_000).toISOString(),
      states: hour === 23 ? { IN_DOUBT: DOUBTS } : {},
    }));
    api.answer(INSIGHTS, {
      ...api.example(INSIGHTS),
      from: buckets[0]?.at,
      to: '2026-11-22T10:00:00.000Z',
      states: { IN_DOUBT: DOUBTS },
      buckets,
    });
    const page = await open(AT);
    const bars = page.getByRole('img', { name: /12 deliveries by state/ });
    await bars.waitFor();
    const { x, y, width } = (await bars.boundingBox())!;
    await page.mouse.move(x + width * 0.1, y + 20);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.3, y + 20);
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    await page.getByText('No delivery matches this filter').waitFor();
    await page.getByRole('button', { name: 'Any time' }).last().click();
    await expect.poll(() => rows(page).count()).toBe(DOUBTS);
    await page.getByText('Show as table').focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('button', { name: /^Show only / })
      .last()
      .focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=.*to=/);
    await expect.poll(() => rows(page).count()).toBe(DOUBTS);
    await expectAccessible(page, 'a range');
    await expectToFit(page, 390);
  });

  it('close what is open by Escape from the list, and keep its place', async () => {
    serve(doubts());
    const page = await open(AT);
    await rows(page).nth(2).click();
    await page.getByRole('region', { name: 'Story' }).getByRole('button', { name: 'Close' }).waitFor();
    await rows(page).nth(2).focus();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Story' }).waitFor({ state: 'detached' });
  });

  it('are chosen by a key, a range and the box, and the question says first how many people are touched', async () => {
    serve([delivery(0, 'SENT', 'ada@example.com'), ...doubts()]);
    const page = await open(`${AT}/in-doubt`);
    await expect.poll(() => rows(page).count()).toBe(DOUBTS);
    await rows(page).first().focus();
    await page.keyboard.press('x');
    await bar(page).getByText('1 chosen').waitFor();
    for (const at of [2, 3]) {
      await page.keyboard.press('j');
      await page.locator(`main li[aria-posinset="${at}"] [data-key]:focus`).waitFor();
    }
    await page.keyboard.press('Shift+X');
    await bar(page).getByText('3 chosen').waitFor();
    // The bar comes after the rows in the order of the keyboard.
    await page.keyboard.press('Tab');
    await page.locator('button:focus', { hasText: 'Mark as sent…' }).waitFor();
    await expectAccessible(page, 'chosen rows');
    await picture(page, 'chosen');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await box(page, 2).click();
    await bar(page).getByText('2 chosen').waitFor();
    // Letters count while the box has the focus too.
    await page.keyboard.press('R');
    await page.getByText('2 messages to 2 people: 2 in doubt.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await box(page, 5).click();
    await box(page, 6).click({ modifiers: ['Shift'] });
    await bar(page).getByText('4 chosen').waitFor();
    await bar(page).getByRole('button', { name: 'Send again…' }).click();
    await page.getByText('4 messages to 4 people: 4 in doubt.').waitFor();
    await page.getByText('its reader may then get it twice').waitFor();
    await expectAccessible(page, 'the question about chosen rows');
    await page.getByRole('dialog').getByText('As curl').click();
    await page.getByRole('dialog').getByText('/deliveries/resend').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await bar(page).getByRole('button', { name: 'Choose none' }).click();
    await bar(page).waitFor({ state: 'detached' });
    await page.locator('main [data-key]:focus').waitFor();
  });

  it('say if nothing can be done with all that are chosen', async () => {
    serve([delivery(0, 'SENT', 'ada@example.com'), ...doubts()]);
    const page = await open(AT);
    await expect.poll(() => rows(page).count()).toBe(DOUBTS + 1);
    await box(page, 1).click();
    await box(page, DOUBTS + 1).click({ modifiers: ['Shift'] });
    await bar(page).getByText('No action fits all of these rows').waitFor();
  });

  it('are chosen in the list of all workspaces, where a letter opens the question and another the states', async () => {
    serve(doubts());
    const page = await open('/workspaces/-/deliveries/in-doubt');
    await expect.poll(() => rows(page).count()).toBe(DOUBTS);
    await box(page, 1).click();
    await bar(page).getByText('1 chosen').waitFor();
    await page.keyboard.press('R');
    await page.getByText('1 message to 1 person: 1 in doubt.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(`${api.url}${AT}`);
    await rows(page).first().focus();
    await page.keyboard.press('s');
    await page.getByRole('menuitemradio', { name: 'In doubt' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('main [data-key]:focus').waitFor();
  });

  it('end one doubt by a key that asks first', async () => {
    serve(doubts());
    const page = await open(`${AT}/in-doubt`);
    await page.getByRole('button', { name: 'All of them' }).click();
    await page.getByRole('menuitem', { name: 'Send all again…' }).click();
    await page.getByText('its reader may then get it twice').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await rows(page).first().focus();
    await page.keyboard.press('Enter');
    const story = page.getByRole('region', { name: 'Story' });
    await story.getByText('it arrived. Nobody is notified again').waitFor();
    await expectAccessible(page, 'a doubt');
    await picture(page, 'in-doubt');
    const question = story.getByRole('group', { name: 'Confirmation' });
    await page.keyboard.press('1');
    await question.getByText('The message is marked as sent: 1 person is not notified again').waitFor();
    await question.locator('button:focus', { hasText: 'Mark as sent' }).waitFor();
    await expectAccessible(page, 'the question of one key');
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await page.locator('main [data-key]:focus').waitFor();
    await page.keyboard.press('1');
    await question.locator('button:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('The message is no longer in doubt.').waitFor();
    await story.locator('h2 [data-state="SENT"]').waitFor();
    // The row stays while it is read, and says what became of it.
    await expect.poll(() => rows(page).first().textContent()).toContain('Sent');
    expect(api.calls(DISMISS).map(({ body }) => body)).toEqual([{ as: 'sent', reason: 'not said' }]);
  });

  it('end all doubts with what is known of them, and the number typed', async () => {
    serve(doubts());
    const page = await open(`${AT}/in-doubt`);
    await expect.poll(() => rows(page).count()).toBe(DOUBTS);
    await page.getByRole('button', { name: 'All of them' }).click();
    await page.getByRole('menuitem', { name: 'Mark all as not sent…' }).click();
    await page.getByText(`${DOUBTS} messages to ${DOUBTS} people: ${DOUBTS} in doubt.`).waitFor();
    await page.getByText('They are marked as failed and can be sent again later.').waitFor();
    await page.getByLabel('Evidence').fill('its log of tonight');
    await page.getByLabel(`Type ${DOUBTS} to confirm`).fill(`${DOUBTS}`);
    await expectAccessible(page, 'the question about doubts');
    await page.getByRole('button', { name: `Mark as not sent: ${DOUBTS} messages` }).click();
    await page.getByText(`Done: ${DOUBTS} of ${DOUBTS}.`).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByText('Nothing is in doubt').waitFor();
    expect(api.calls(DISMISS_MANY)[0]?.body).toMatchObject({
      as: 'failed',
      reason: 'its log of tonight',
      expected: DOUBTS,
    });
  });

  it('are sent again together, with the number typed where they are many', async () => {
    serve(doubts().map((one) => ({ ...one, state: 'FAILED' })));
    const page = await open(`${AT}?state=FAILED`);
    await expect.poll(() => rows(page).count()).toBe(DOUBTS);
    await picture(page, 'deliveries');
    await page.getByRole('button', { name: 'All that match' }).click();
    await page.getByRole('menuitem', { name: 'Call all off…' }).click();
    await page.getByText('None of the matching messages can be called off').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'All that match' }).click();
    await page.getByRole('menuitem', { name: 'Send all again…' }).click();
    await page.getByText(`${DOUBTS} messages to ${DOUBTS} people: ${DOUBTS} failed.`).waitFor();
    const go = page.getByRole('button', { name: `Send again: ${DOUBTS} messages` });
    expect(await go.isDisabled()).toBe(true);
    await expectAccessible(page, 'the question');
    await page.getByLabel(`Type ${DOUBTS} to confirm`).fill(`${DOUBTS}`);
    await picture(page, 'bulk');
    await go.click();
    await page.getByText(`Done: ${DOUBTS} of ${DOUBTS}.`).waitFor();
    await expectAccessible(page, 'the end of the job');
    expect(api.calls(RESEND_MANY)[0]?.body).toEqual({ filter: { state: ['FAILED'] }, expected: DOUBTS });
  });
});
