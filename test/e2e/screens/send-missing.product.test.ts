import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { startJob } from './jobs.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

const READ = 'GET /v1/workspaces/{workspace}/runs/{id}';
const ROWS = 'GET /v1/workspaces/{workspace}/runs/{id}/rows';
const MISSING = 'GET /v1/workspaces/{workspace}/runs/{id}/missing';
const SEND = 'POST /v1/workspaces/{workspace}/runs/{id}/send';
const STOP = 'POST /v1/workspaces/{workspace}/runs/{id}/stop';
const JOBS = 'GET /v1/workspaces/{workspace}/jobs';
const JOB = 'GET /v1/workspaces/{workspace}/jobs/{id}';
const AT = '/workspaces/shop/runs/run_1';
const CHECKSUM = 'ab12'.repeat(16);
const SINCE = '2026-11-22T09:00:00.000Z';

testScreens('sending missing messages', ({ api, guard, open }) => {
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Send missing messages' });
  const missing = (more: object = {}): object => ({
    ...api.example(MISSING),
    run: 'run_1',
    count: 33,
    messages: 33,
    people: 31,
    since: SINCE,
    checksum: CHECKSUM,
    too_old: 4,
    ...more,
  });
  function serve(): void {
    api.answer(READ, { ...api.example(READ), id: 'run_1', workspace: 'shop' });
    api.answer(ROWS, { items: [], next: null });
    api.answer(JOBS, { items: [], next: null });
    api.answer(MISSING, missing());
  }
  /** Opens the dialog by keyboard. */
  async function ask(page: Page): Promise<void> {
    const opener = page.getByRole('button', { name: 'Send missing messages' });
    await opener.focus();
    await page.keyboard.press('Enter');
    await dialog(page).getByText('33 messages to 31 people.').waitFor();
  }

  it('sends what was seen after its number was typed, by keyboard', async () => {
    serve();
    api.answer(SEND, () => startJob(api, { action: 'send_missing', of: 33 }));
    const page = await open(AT);
    await page.getByText('Nobody is notified twice.').waitFor();
    expect(api.calls(MISSING)).toEqual([]);
    await ask(page);
    await dialog(page).getByText('4 older events with missing messages left out').waitFor();
    const send = dialog(page).getByRole('button', { name: 'Send 33' });
    expect(await send.isDisabled()).toBe(true);
    await expectAccessible(page, 'the question before missing messages are sent');
    await picture(page, 'send-missing');
    await expectToFit(page, 390);
    await dialog(page).getByLabel('Type 33 to confirm').focus();
    await page.keyboard.type('32');
    expect(await send.isDisabled()).toBe(true);
    await page.keyboard.press('Backspace');
    await page.keyboard.type('3');
    await expect.poll(() => send.isDisabled()).toBe(false);
    await send.focus();
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Done: 33 of 33.').waitFor();
    expect(api.calls(SEND).map(({ body }) => body)).toEqual([
      { difference: ['added'], slot: ['none'], since: SINCE, count: 33, checksum: CHECKSUM, rate: 10 },
    ]);
    expect(api.calls(MISSING)).toHaveLength(1);
    await expectAccessible(page, 'sent missing messages');
  });

  it('looks again for another age, for messages that ended unsent, and for events that need a lookup', async () => {
    serve();
    const page = await open(AT);
    await ask(page);
    const words = (): object => {
      const { query } = api.calls(MISSING).at(-1) as Call;
      return { difference: query.getAll('difference'), slot: query.getAll('slot'), age: query.get('max_age') };
    };
    expect(words()).toEqual({ difference: ['added'], slot: ['none'], age: '7d' });
    await dialog(page).getByLabel('Maximum age of an event').selectOption('24h');
    await expect.poll(words).toMatchObject({ age: '24h' });
    await dialog(page).getByText('Also messages that ended unsent').click();
    await expect.poll(words).toMatchObject({ slot: ['none', 'stopped'] });
    api.answer(MISSING, missing({ count: 35, needs_lookup: { events: 2, user_ids: 5 } }));
    await dialog(page).getByText('Also events that need a lookup').click();
    await dialog(page)
      .getByText('33 messages to 31 people, and 2 events with 5 user ids to ask a partner about.')
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Send 35' }).waitFor();
  });

  it('says what to do while the edit is not published, and that nothing is missing', async () => {
    serve();
    guard.allowStatus(409);
    const detail = 'notification order-paid is not published as compared in run_1: publish the edit';
    api.answer(MISSING, problem(409, 'not_published', detail));
    const page = await open(AT);
    await page.getByRole('button', { name: 'Send missing messages' }).click();
    await dialog(page).getByText(detail).waitFor();
    await expectAccessible(page, 'an edit that is not published');
    api.answer(MISSING, missing({ count: 0, messages: 0, people: 0, rows: [], oldest: null, newest: null }));
    await dialog(page).getByRole('button', { name: 'Try again' }).click();
    await dialog(page).getByText('No message is missing.').waitFor();
    await dialog(page).getByRole('button', { name: 'Close', exact: true }).last().click();
    await dialog(page).waitFor({ state: 'detached' });
  });

  it('looks again if the messages have changed since they were seen', async () => {
    serve();
    guard.allowStatus(409);
    api.answer(SEND, problem(409, 'conflict', '32 messages are missing now, and 33 were confirmed'));
    const page = await open(AT);
    await ask(page);
    await dialog(page).getByLabel('Type 33 to confirm').fill('33');
    api.answer(MISSING, missing({ count: 32, messages: 32, checksum: 'cd34'.repeat(16) }));
    await dialog(page).getByRole('button', { name: 'Send 33' }).click();
    await dialog(page).getByText('32 messages to 31 people.').waitFor();
    await dialog(page).getByText('33 were confirmed').waitFor();
    expect(await dialog(page).getByLabel('Type 32 to confirm').inputValue()).toBe('');
  });

  it('finds the running job of this comparison behind a later undo job, shows its progress, and stops it', async () => {
    serve();
    const running = {
      ...api.example(JOB),
      id: 'job_1',
      workspace: 'shop',
      action: 'send_missing',
      parameters: { run: 'run_1' },
      state: 'running',
      of: 33,
      done: 12,
      failed: 0,
      failures: [],
      ended_at: null,
      cancelled_by: null,
      can_undo: false,
    };
    const undo = { ...running, id: 'job_9', parameters: { run: 'run_1', undoes: 'job_1' } };
    api.answer(JOBS, ({ query }: Call) => {
      if (query.get('run') !== 'run_1') return { items: [], next: null };
      return query.has('cursor') ? { items: [running], next: null } : { items: [undo], next: 'older' };
    });
    api.answer(JOB, running);
    const page = await open(AT);
    await page.getByText('Under way: 12 of 33 queued for delivery.').waitFor();
    await page.getByRole('button', { name: 'Show progress' }).focus();
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Under way: 12 of 33.').waitFor();
    await expectToFit(page, 390);
    api.answer(STOP, () => {
      const taking = startJob(api, { action: 'send_missing', of: 12, workspace: 'shop' }, { id: 'job_1' });
      const taken = { ...taking, state: 'done', done: 12, ended_at: '2026-11-29T09:00:05.000Z' };
      api.answer(JOB, ({ params }: Call) => (params['id'] === 'job_2' ? taken : running));
      return { jobs: [taking], waiting_lookups: 2, uncounted_lookups: 0 };
    });
    await dialog(page).getByRole('button', { name: 'Stop' }).focus();
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Undone: 12 of 12.').waitFor();
    await dialog(page).getByText('2 questions to a partner cannot be recalled.').waitFor();
    expect(api.calls(STOP)).toHaveLength(1);
  });

  it('is not offered to an editor, with the reason', async () => {
    serve();
    const page = await open(AT, { as: 'editor' });
    const button = page.getByRole('button', { name: 'Send missing messages' });
    await button.and(page.locator('[aria-disabled="true"]')).focus();
    await page.keyboard.press('Enter');
    await page
      .getByText(/^Only owners .*can do this/)
      .first()
      .waitFor({ state: 'attached' });
    expect([await dialog(page).count(), api.calls(MISSING)]).toEqual([0, []]);
  });
});
