import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { problem, type Call } from './scripted-api.ts';
import { startJob } from './jobs.ts';
import { testScreens } from './test-screens.ts';

type Word = {
  target: string;
  name: string | null;
  channel: string | null;
  opted_out: boolean;
  [field: string]: unknown;
};
type Consent = { workspace: string; person: string; words: Word[]; exempt: string[]; updated_at: string };

const LIST = 'GET /v1/workspaces/{workspace}/consents';
const SET = 'POST /v1/workspaces/{workspace}/consents';
const ALLOW = 'POST /v1/workspaces/{workspace}/consents/allow-many';
const COUNT = 'POST /v1/workspaces/{workspace}/consents/count';
const TIME = '2026-11-22T10:42:00.180Z';
/** The person that the scripted API signs in. */
const ADA = 'per_37G5398XK2YK0SPEA59673M7JP';

const word = (channel: string | null = null, isOut = true): Word => ({
  target: 'all',
  name: null,
  notification_id: null,
  channel,
  opted_out: isOut,
  way: 'api',
  by: ADA,
  at: TIME,
});
const consent = (person: string, workspace = 'shop', words: Word[] = [word()]): Consent => ({
  workspace,
  person,
  words,
  exempt: [],
  updated_at: TIME,
});

testScreens('the opt-outs of a workspace', ({ api, guard, open }) => {
  const rows = (page: Page) => page.locator('main [data-key]');
  const outs = (page: Page) => rows(page).filter({ hasText: 'Opted out' });
  const dialog = (page: Page) => page.getByRole('dialog');
  const undo = (page: Page) => page.getByRole('status').getByRole('button', { name: 'Undo' });

  /** Serves a list of people that the calls of the screen change. */
  function serve(...first: readonly Consent[]): { readonly allow: (call: Call) => object } {
    let consents = first;
    const isIn = (one: Consent, workspace = ''): boolean => workspace === '-' || one.workspace === workspace;
    api.answer(LIST, ({ params, query }: Call) => ({
      items: consents.filter(
        (one) => isIn(one, params['workspace']) && [null, one.person].includes(query.get('person')),
      ),
      next: null,
    }));
    api.answer(SET, ({ params, body }: Call) => {
      const said = body as {
        person: string;
        target: string;
        name?: string;
        channel: string | null;
        opted_out: boolean;
      };
      if (said.name === 'nothing-like-it') {
        return problem(400, 'invalid_request', 'there is no notification nothing-like-it', { pointer: '/name' });
      }
      const own =
        consents.find(({ person }) => person === said.person) ?? consent(said.person, params['workspace'], []);
      const before = own.words.find(({ channel }) => channel === said.channel);
      const now = word(said.channel, said.opted_out);
      const changed = before?.opted_out === said.opted_out ? [] : [now];
      const next = { ...own, words: [...own.words.filter((one) => one !== before), now] };
      consents = [next, ...consents.filter((one) => one !== own)];
      return { ...next, changed };
    });
    const chosenBy = ({ params: { workspace = '' }, body }: Call): readonly Consent[] => {
      const { people } = body as { people?: string[] };
      return consents.filter(
        (one) =>
          one.workspace === workspace &&
          one.words.some(({ opted_out: isOut }) => isOut) &&
          (people === undefined || people.includes(one.person)),
      );
    };
    const allow = (call: Call): object => {
      const before = chosenBy(call);
      consents = consents.map((one) =>
        before.includes(one) ? consent(one.person, one.workspace, [word(null, false)]) : one,
      );
      const undoAll = (): void => {
        consents = consents.map(
          (one) => before.find((old) => old.person === one.person && old.workspace === one.workspace) ?? one,
        );
      };
      const { workspace = '' } = call.params;
      return startJob(api, { action: 'allow_consents', workspace, of: before.length, undo: undoAll });
    };
    api.answer(ALLOW, allow);
    api.answer(COUNT, (call: Call) => {
      const { length } = chosenBy(call);
      return { people: length, words: length, more: false, ceiling: 10_000 };
    });
    return { allow };
  }
  /** Chooses everybody who opted out, and asks to take that back. */
  async function chooseAll(page: Page, count: number): Promise<void> {
    await expect.poll(() => outs(page).count()).toBe(count);
    for (const box of await page.getByRole('checkbox', { name: /^Choose Opted out/ }).all()) await box.check();
    await page.getByRole('button', { name: 'Undo their opt-outs…' }).click();
  }

  it('are empty at first, and reached from the navigation', async () => {
    serve();
    const page = await open('/workspaces/shop');
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Opt-outs' }).click();
    await page.getByText('Nobody has opted out').waitFor();
    await expectAccessible(page, 'no opt-out');
    await expectToFit(page, 390, 320);
  });

  it('opt a person out of one channel, and refuse a notification that does not exist', async () => {
    serve();
    guard.allowStatus(400);
    const page = await open('/workspaces/shop/opt-outs');
    await page.getByRole('button', { name: 'Opt somebody out' }).first().click();
    await page.getByLabel('Person', { exact: true }).fill('cleo@example.com');
    await page.getByLabel('Unwanted messages').selectOption('notification');
    await page.getByLabel('Name of the notification').fill('nothing-like-it');
    await dialog(page).getByRole('button', { name: 'Opt this person out' }).click();
    await dialog(page)
      .getByText(/nothing-like-it/)
      .first()
      .waitFor();
    await expectAccessible(page, 'a wrong notification');
    await page.getByLabel('Unwanted messages').selectOption('all');
    await page.getByLabel('Channel', { exact: true }).selectOption('email');
    await picture(page, 'opt-out-new');
    await dialog(page).getByRole('button', { name: 'Opt this person out' }).click();
    await page.getByText('cleo@example.com is opted out.').waitFor();
    expect(api.calls(SET).at(-1)?.body).toEqual({
      person: 'cleo@example.com',
      target: 'all',
      channel: 'email',
      opted_out: true,
    });
  });

  it('show who opted a person out, and opt the person in again', async () => {
    serve(consent('cleo@example.com', 'shop', [word('email')]));
    const page = await open('/workspaces/shop/opt-outs');
    await rows(page).first().click();
    const panel = page.getByRole('region', { name: 'Opt-outs of one person' });
    await panel.getByText('everything by email').waitFor();
    await panel.getByText(/Said by the API or the portal, for them by you/).waitFor();
    await expectAccessible(page, 'an opt-out');
    await picture(page, 'opt-out');
    await panel.getByRole('button', { name: 'Undo opt-out' }).click();
    await panel.getByText('Wants again').waitFor();
    await expect.poll(() => rows(page).first().textContent()).toContain('Opted in again');
    await page.getByRole('searchbox').fill('nobody@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('nobody@example.com has no opt-outs').waitFor();
  });

  it('undo one opt-out only, without restoring earlier choices', async () => {
    serve(consent('dora@example.com', 'shop', [word('sms')]), consent('eve@example.com'));
    const page = await open('/workspaces/shop/opt-outs');
    const optOut = async (person: string): Promise<void> => {
      await page.getByRole('button', { name: 'Opt somebody out' }).first().click();
      await page.getByLabel('Person', { exact: true }).fill(person);
      await dialog(page).getByRole('button', { name: 'Opt this person out' }).click();
    };
    await optOut('eve@example.com');
    await page.getByText('eve@example.com had already opted out.').waitFor();
    expect(await undo(page).count()).toBe(0);
    await optOut('dora@example.com');
    await page.getByText('dora@example.com is opted out.').waitFor();
    await undo(page).click();
    await page.getByText('Undone.').waitFor();
    expect(api.calls(SET).at(-1)?.body).toEqual({
      person: 'dora@example.com',
      target: 'all',
      channel: null,
      opted_out: false,
      undoes: TIME,
    });
  });

  it('undo chosen opt-outs after showing their number, and offer an undo', async () => {
    serve(consent('dora@example.com'), consent('eve@example.com'));
    const page = await open('/workspaces/-/opt-outs');
    await chooseAll(page, 2);
    await dialog(page).getByText('2 people will get again what they opted out of').waitFor();
    await expectAccessible(page, 'taking back chosen opt-outs');
    await dialog(page).getByRole('button', { name: 'Send to 2 people again' }).click();
    await dialog(page).getByText('Done: 2 of 2.').waitFor();
    await dialog(page).getByRole('button', { name: 'Undo' }).click();
    await dialog(page).getByText('Undone: 2 of 2.').waitFor();
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => outs(page).count()).toBe(2);
  });

  it('take back in each workspace by itself, and say why another did not', async () => {
    const { allow } = serve(
      consent('dora@example.com'),
      consent('eve@example.com'),
      consent('dora@example.com', 'care'),
    );
    api.signIn('deployment owner', ['shop', 'care']);
    const page = await open('/workspaces/-/opt-outs');
    await chooseAll(page, 3);
    await dialog(page)
      .getByText(
        /(2 people in shop, 1 person in care|1 person in care, 2 people in shop) will get again what they opted out of/,
      )
      .waitFor();
    guard.allowStatus(503);
    let isBusy = true;
    api.answer(ALLOW, (call: Call) =>
      isBusy && call.params['workspace'] === 'care'
        ? problem(503, 'store_unavailable', 'The store is busy.')
        : allow(call),
    );
    await dialog(page)
      .getByRole('button', { name: /^Send to .* again$/ })
      .click();
    await dialog(page).getByText('Not started in care: The store is busy.').waitFor();
    await dialog(page).getByText('Done: 2 of 2.').waitFor();
    await expectAccessible(page, 'one workspace that refuses');
    await picture(page, 'opt-outs-refused');
    isBusy = false;
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await chooseAll(page, 1);
    await dialog(page).getByRole('button', { name: 'Send to 1 person again' }).click();
    await dialog(page).getByText('Done: 1 of 1.').waitFor();
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => outs(page).count()).toBe(0);
  });

  it('undo all matching opt-outs after showing their number', async () => {
    serve(consent('dora@example.com'), consent('eve@example.com'));
    const page = await open('/workspaces/shop/opt-outs');
    await page.getByRole('button', { name: 'Undo all matching opt-outs…' }).click();
    await dialog(page).getByText('2 people will get again what they opted out of').waitFor();
    await expectAccessible(page, 'taking back all opt-outs');
    await dialog(page).getByRole('button', { name: 'Send to 2 people again' }).click();
    await dialog(page).getByText('Done: 2 of 2.').waitFor();
    expect(api.calls(ALLOW).map(({ body }) => body)).toEqual([{ filter: {}, expected: 2 }]);
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Undo all matching opt-outs…' }).waitFor({ state: 'detached' });
  });

  it('say what went wrong and ask again', async () => {
    api.answer(LIST, problem(500, 'internal', 'The store is busy.'));
    guard.allowStatus(500);
    const page = await open('/workspaces/shop/opt-outs');
    await page.getByText('The store is busy.').waitFor();
    await page.getByText('name the request req_1').waitFor();
    await expectAccessible(page, 'opt-outs, failed');
    serve();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nobody has opted out').waitFor();
  });

  it('are not loaded for a viewer, who reads which role may see people', async () => {
    const page = await open('/workspaces/shop/opt-outs', { as: 'viewer' });
    await page.getByText('You cannot see the people').waitFor();
    await page.getByText(/Only owners, editors and operators/).waitFor();
    await expectAccessible(page, 'opt-outs, of a viewer');
    expect(api.calls(LIST)).toEqual([]);
  });
});
