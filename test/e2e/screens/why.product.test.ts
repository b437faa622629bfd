import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

const WHY = 'POST /v1/workspaces/{workspace}/why-not';
const AT = '/workspaces/shop/why';
const EVENT = 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD';
const DELIVERY = 'dlv_37G5398XK2YK0SPEA59673M7JP';
const TIME = '2026-11-22T10:42:00.000Z';
const GATES = [
  'event',
  'rule',
  'condition',
  'recipient',
  'duplicate',
  'in_time',
  'consent',
  'address',
  'schedule',
  'rendered',
  'limits',
  'provider',
  'receipt',
] as const;
type Gate = (typeof GATES)[number];
type Result = 'passed' | 'stopped' | 'waiting' | 'not_reached';

/** One gate as the API describes it. */
const gateOf = (gate: Gate, result: Result, more: object = {}): object => ({
  gate,
  title: `Gate ${gate}`,
  result,
  text: '',
  at: gate === 'event' ? TIME : null,
  lines: [],
  evidence: gate === 'event' ? [{ kind: 'event', id: EVENT }] : [],
  source: result === 'not_reached' ? null : gate === 'condition' ? 'log' : 'ledger',
  ...more,
});

testScreens('the screen Why not?', ({ api, guard, open }) => {
  const answer = (page: Page) => page.getByRole('region', { name: 'Answer' });
  const gate = (page: Page, name: Gate) => page.locator(`main [data-gate="${name}"]`);
  const resultOf = (page: Page, name: Gate): Promise<string | null> => gate(page, name).getAttribute('data-result');

  /** An answer in which this gate decided; null: all were passed. */
  function because(decisive: Gate | null, result: Result, more: object = {}, gateMore: object = {}): object {
    const decided = decisive === null ? GATES.length : GATES.indexOf(decisive);
    return {
      ...api.example(WHY),
      verdict: decisive === null ? 'told' : result,
      sentence: `order-paid did not notify them about event ${EVENT}.`,
      gate: decisive,
      gates: GATES.map((name, at) =>
        gateOf(name, at < decided ? 'passed' : at === decided ? result : 'not_reached', at === decided ? gateMore : {}),
      ),
      ...more,
    };
  }
  /** Asks as an operator does: on the screen, by typing. */
  async function ask(page: Page, who: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Who' }).fill(who);
    await page.getByRole('combobox', { name: 'Notification' }).selectOption('order-paid');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await answer(page).waitFor();
  }

  it('shows that every gate was passed, and links the message', async () => {
    const sentence = `order-paid notified them about event ${EVENT}.`;
    const told = because(null, 'passed', { sentence });
    const gates = (told as { readonly gates: readonly { readonly gate: Gate }[] }).gates.map((one) =>
      one.gate === 'provider' ? { ...one, evidence: [{ kind: 'delivery', id: DELIVERY }] } : one,
    );
    api.answer(WHY, { ...told, gates });
    const page = await open(AT);
    await ask(page, 'ada@example.com');
    expect(api.calls(WHY)[0]?.body).toEqual({ who: 'ada@example.com', notification: 'order-paid', last: '24h' });
    expect(await answer(page).innerText()).toMatch(/^Notified[\s\S]*order-paid notified them about event evt_/);
    for (const name of GATES) expect(await resultOf(page, name), name).toBe('passed');
    await page.getByText(/events? read, \d+ evaluated again/).waitFor();
    await gate(page, 'condition').getByText('from evaluating the event again').waitFor();
    await gate(page, 'provider').getByText('from the delivery ledger').waitFor();
    await picture(page, 'why-told');
    await expectAccessible(page, 'told');
    await expectToFit(page, 390, 320);
    await gate(page, 'provider').getByRole('link', { name: DELIVERY }).click();
    await page.getByRole('region', { name: 'Story' }).getByText('ada@example.com').first().waitFor();
  });

  it('leads from a suppressed address to who said so', async () => {
    api.answer(WHY, because('address', 'stopped'));
    const page = await open(AT);
    await ask(page, 'bob@example.com');
    expect(await answer(page).innerText()).toMatch(/^Not notified[\s\S]*order-paid did not notify them/);
    expect(await resultOf(page, 'address')).toBe('stopped');
    expect(await resultOf(page, 'consent')).toBe('passed');
    expect(await resultOf(page, 'provider')).toBe('not_reached');
    await picture(page, 'why-suppressed');
    await expectAccessible(page, 'suppressed');
    await gate(page, 'address').getByRole('link', { name: 'Why this address is suppressed' }).click();
    await page.getByRole('list', { name: 'Suppressions' }).getByText('bob@example.com').waitFor();
    expect(page.url()).toContain('address=bob%40example.com');
  });

  it.each([
    ['consent', 'stopped', 'Opt-outs of this person', /opt-outs\?person=cleo%40example\.com/],
    ['condition', 'stopped', 'Show each part of the condition', /notifications\/order-paid\/rules\/paid\?event=evt_/],
    ['schedule', 'waiting', 'Open the cadence', /notifications\/order-paid\/cadence/],
  ] as const)('leads from the gate %s to the page where it can be changed', async (name, result, way, address) => {
    const lines = name === 'condition' ? ['event.total > 100: 40'] : [];
    api.answer(WHY, because(name, result, {}, { lines }));
    for (const path of ['expressions/check', 'cadence/simulate'])
      api.answer(`POST /v1/workspaces/{workspace}/${path}`, ({ operation }: Call) => api.example(operation));
    const page = await open(AT);
    await ask(page, 'cleo@example.com');
    expect(await answer(page).innerText()).toMatch(result === 'waiting' ? /^Waiting/ : /^Not notified/);
    expect(await resultOf(page, name)).toBe(result);
    for (const line of lines) await gate(page, name).getByText(line).waitFor();
    await picture(page, `why-${name}`);
    await expectAccessible(page, name);
    await gate(page, name).getByRole('link', { name: way }).click();
    await page.waitForURL(address);
  });

  it('links the message that filled a limit, and the other event about the person', async () => {
    const other = {
      at: TIME,
      event: 'evt_5N6R3WD0GMPXQ2V7T1C9H4B8KJ',
      rule: 'order-paid.paid',
      verdict: 'told',
      gate: null,
      text: '',
      delivery: DELIVERY,
      with_drafts: null,
    };
    api.answer(WHY, ({ body }: Call) =>
      (body as { readonly event?: string }).event === undefined
        ? because('limits', 'stopped', { others: [other] }, { text: `1 a day, filled by ${DELIVERY}` })
        : because(null, 'passed', { event: other.event }),
    );
    const page = await open(AT);
    await ask(page, 'fay@example.com');
    expect(await resultOf(page, 'limits')).toBe('stopped');
    await gate(page, 'limits')
      .getByText(/filled by/)
      .getByRole('link', { name: /^dlv_/ })
      .waitFor();
    const others = page.getByRole('region', { name: 'Other events about this person' });
    await others.getByText('Notified', { exact: true }).waitFor();
    await picture(page, 'why-limit');
    await others.getByRole('link', { name: /^The gates of event/ }).click();
    await expect.poll(() => answer(page).innerText()).toMatch(/^Notified/);
    await page.getByText(/Only event evt_/).waitFor();
    expect(api.calls(WHY).at(-1)?.body).toMatchObject({ event: other.event });
  });

  it('offers results with drafts only if there are drafts, and shows them per event', async () => {
    const DRAFTS = 'GET /v1/workspaces/{workspace}/drafts';
    api.answer(DRAFTS, { items: [], next: null });
    api.answer(WHY, because('condition', 'stopped'));
    const page = await open(AT);
    await ask(page, 'ada@example.com');
    const choice = page.getByRole('checkbox', { name: 'Also show the answer with the drafts published' });
    expect(await choice.count()).toBe(0);
    expect(api.calls(WHY)[0]?.body).not.toHaveProperty('drafts');
    const [draft] = api.example(DRAFTS)['items'] as readonly object[];
    api.answer(DRAFTS, { items: [{ ...draft, kind: 'notification', name: 'refund', action: 'create' }], next: null });
    const stopped = {
      result: 'stopped',
      gate: 'condition',
      text: '`when` is false',
      words: 'stopped at: The rule fired',
    };
    const other = {
      at: TIME,
      event: 'evt_5N6R3WD0GMPXQ2V7T1C9H4B8KJ',
      rule: 'order-paid.paid',
      verdict: 'told',
      gate: null,
      text: '',
      delivery: DELIVERY,
      with_drafts: stopped,
    };
    const notified = { result: 'notified', gate: null, text: '', words: 'notified' };
    const drafts_left_out = [{ kind: 'template', name: 'receipt' }];
    api.answer(WHY, because('condition', 'stopped', { with_drafts: notified, others: [other], drafts_left_out }));
    await page.reload();
    await choice.waitFor();
    await page.getByText('Also show the answer with the drafts published').click();
    await page.getByRole('combobox', { name: 'Notification' }).selectOption('refund');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await answer(page).getByText('With the drafts: notified').waitFor();
    expect(api.calls(WHY).at(-1)?.body).toMatchObject({ notification: 'refund', drafts: true });
    const others = page.getByRole('region', { name: 'Other events about this person' });
    await others.getByText('With the drafts: stopped at: The rule fired').waitFor();
    await page.getByText('Drafts of other people that have mistakes are left out: template receipt.').waitFor();
    await expectAccessible(page, 'with drafts');
    await expectToFit(page, 390, 320);
  });

  it('searches the whole log and then asks about the events that were found', async () => {
    const RUN = 'GET /v1/workspaces/{workspace}/runs/{id}';
    const START = 'POST /v1/workspaces/{workspace}/runs';
    const run = {
      ...api.example(RUN),
      id: 'run_5Q8W2ZC4M1V7X9K3B6N0HTR2PD',
      kind: 'find',
      counts: null,
      before: null,
      warning: null,
      notes: [],
      find: { events: 400, found: 1, kept: 0, text_hash: 'h' },
    };
    const waiting = { ...run, state: 'running', ended_at: null, sentence: null };
    api.answer(WHY, because('condition', 'stopped'));
    api.answer(START, waiting);
    api.answer(RUN, waiting);
    const page = await open(`${AT}?who=ada%40example.com&notification=order-paid`);
    await page.getByRole('button', { name: 'Search the whole log' }).click();
    await page.getByText(/1 of 400 events hold the text/).waitFor();
    expect(api.calls(START).at(-1)?.body).toEqual({ kind: 'find', text: 'ada@example.com' });
    await page.getByRole('button', { name: 'Stop searching' }).waitFor();
    const sentence = '1 of 12,400 events holds the text.';
    api.answer(RUN, { ...run, state: 'done', sentence, ended_at: TIME, find: { ...run.find, kept: 1 } });
    await page.getByText(sentence).first().waitFor();
    await answer(page).waitFor();
    expect(api.calls(WHY).at(-1)?.body).toEqual({ who: 'ada@example.com', notification: 'order-paid', search: run.id });
    await expectAccessible(page, 'a search');
    await expectToFit(page, 390, 320);
  });

  it('shows the latest events if none names the person, and where to check the sender', async () => {
    const last = { event: EVENT, at: TIME, stream: 'orders' };
    const sentence = 'No event named them for order-paid.';
    api.answer(WHY, because('event', 'stopped', { verdict: 'no_event', sentence, event: null, rule: null, last }));
    const page = await open(AT);
    await ask(page, 'nobody@example.com');
    expect(await answer(page).innerText()).toMatch(/^No event[\s\S]*No event named them for order-paid/);
    await picture(page, 'why-silence');
    await expectAccessible(page, 'no event');
    await answer(page).getByRole('link', { name: 'Open the last event' }).click();
    await page.waitForURL(/\/events\/evt_/);
    await page.getByRole('link', { name: 'Why not?' }).first().waitFor();
  });

  it('is reached from a search for deliveries that found none', async () => {
    api.answer('GET /v1/workspaces/{workspace}/deliveries', { items: [], next: null });
    const page = await open('/workspaces/shop/deliveries?recipient=dan%40example.com');
    await page.getByRole('link', { name: /^Why not\? Look for dan@example.com/ }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Who' }).inputValue()).toBe('dan@example.com');
  });

  it('is reached from an open delivery, with its answer', async () => {
    api.answer(WHY, because('address', 'stopped'));
    const suppressed = { state: 'SUPPRESSED', reason: 'suppressed' };
    const list = 'GET /v1/workspaces/{workspace}/deliveries';
    const [first] = api.example(list)['items'] as readonly object[];
    api.answer(list, { items: [{ ...first, ...suppressed }], next: null });
    api.answer('GET /v1/workspaces/{workspace}/deliveries/{id}', { ...first, ...suppressed });
    const page = await open('/workspaces/shop/deliveries');
    await page.locator('main [data-key]').first().click();
    await page.getByRole('link', { name: 'Why not? Show each check' }).click();
    await answer(page).getByText('Not notified').waitFor();
    expect(await resultOf(page, 'address')).toBe('stopped');
  });

  it('is reached from an event, the overview and the palette', async () => {
    const page = await open(`/workspaces/shop/events/${EVENT}`);
    await page.getByRole('main').getByRole('link', { name: 'Why not?' }).first().click();
    await page.waitForURL(/\/why\?event=evt_/);
    await page.goto(`${api.url}/workspaces/shop`);
    await page.getByRole('main').getByRole('link', { name: 'Why not?' }).click();
    await page.getByRole('heading', { name: 'Who is missing a message?' }).waitFor();
    await picture(page, 'why-empty');
    await expectAccessible(page, 'nothing asked');
    await page.goto(`${api.url}/workspaces/shop/inbox`);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('textbox', { name: 'Screen, action, name, or an id' }).fill('why');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/workspaces\/shop\/why$/);
  });

  it('keeps its form while it asks', async () => {
    api.answer(WHY, because(null, 'passed'));
    const release = api.hold(WHY);
    const page = await open(`${AT}?who=ada%40example.com&notification=order-paid`);
    await page.getByRole('status', { name: 'Loading the answer' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Who' }).inputValue()).toBe('ada@example.com');
    release();
    await answer(page).waitFor();
  });

  it('asks once more after an error', async () => {
    guard.allowStatus(503);
    api.answer(WHY, problem(503, 'store_unavailable', 'The store is away.'));
    const page = await open(`${AT}?who=ada%40example.com&notification=order-paid`);
    await page.getByRole('alert').getByText('The store is away.').waitFor();
    await expectAccessible(page, 'an error');
    api.answer(WHY, because(null, 'passed'));
    await page.getByRole('button', { name: 'Try again' }).click();
    await answer(page).waitFor();
  });

  it('shows what is wrong with a question, beside its field or above the answer', async () => {
    guard.allowStatus(400, 404);
    const wrong = problem(400, 'invalid_request', 'from: expected a time', { pointer: '/from' });
    api.answer(WHY, ({ body }: Call) =>
      (body as { readonly from?: string }).from === undefined
        ? problem(404, 'not_found', 'there is no notification gone')
        : wrong,
    );
    const page = await open(`${AT}?who=ada%40example.com&notification=order-paid&from=yesterday-ish`);
    await page
      .getByRole('form', { name: 'Question' })
      .getByText(/^from: /)
      .waitFor();
    await page.goto(`${api.url}${AT}?who=ada%40example.com&notification=gone`);
    await page.getByRole('alert').getByText(/gone/).waitFor();
    await page.goto(`${api.url}${AT}`);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Enter the whole address, person or unique_id.').waitFor();
  });

  it('tells a viewer that event values and provider texts are hidden', async () => {
    api.answer(WHY, because('condition', 'stopped'));
    const page = await open(AT, { as: 'viewer' });
    await ask(page, 'dan@example.com');
    expect(await resultOf(page, 'condition')).toBe('stopped');
    await page.getByText('Values of events and texts of providers are hidden.').waitFor();
    await expectAccessible(page, 'a viewer');
  });
});
