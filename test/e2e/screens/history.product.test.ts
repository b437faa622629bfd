import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

type Publication = { readonly number: number; readonly [field: string]: unknown };

const LIST = 'GET /v1/workspaces/{workspace}/versions';
const DIFF = 'GET /v1/workspaces/{workspace}/templates/{name}/diff';
const READ = 'GET /v1/workspaces/{workspace}/templates/{name}';
const ROLLBACK = 'POST /v1/workspaces/{workspace}/templates/{name}/rollback';
const NOTIFICATION_DIFF = 'GET /v1/workspaces/{workspace}/notifications/{name}/diff';
const NOTIFICATION_ROLLBACK = 'POST /v1/workspaces/{workspace}/notifications/{name}/rollback';
const AT = '/workspaces/shop/versions';
const TEMPLATE = { kind: 'template', name: 'hello' };
const REMOVED = { kind: 'notification', name: 'hello', action: 'delete' };

testScreens('the history of a workspace', ({ api, guard, open }) => {
  const main = (page: Page) => page.locator('main');
  const dialog = (page: Page) => page.getByRole('dialog').last();
  const rows = (page: Page) => main(page).getByRole('list', { name: 'Versions, newest first' });

  const publication = (number: number, more: object = {}): Publication => {
    const [example] = api.example(LIST)['items'] as readonly Publication[];
    const changes = [{ ...TEMPLATE, action: number === 1 ? 'create' : 'update' }];
    return { ...example, number, origin: 'apply', message: null, changes, ...more };
  };
  /** Serves a template whose subject is what the last publication made it. Returns what publishes another subject. */
  function serve(...first: readonly string[]): (subject: string, more?: object) => void {
    const subjects = [...first];
    let publications = subjects.map((_, at) => publication(at + 1)).toReversed();
    const fieldsFrom = (before: number, after: number): readonly object[] => [
      { path: 'email.subject', before: subjects[before - 1] ?? null, after: subjects[after - 1] ?? null },
    ];
    const publish = (subject: string, more: object = {}): void => {
      subjects.push(subject);
      publications = [publication(subjects.length, more), ...publications];
    };
    api.answer(LIST, () => ({ items: publications, next: null }));
    api.answer(READ, () => ({
      ...api.example(READ),
      name: TEMPLATE.name,
      number: subjects.length,
      body: { email: { subject: subjects.at(-1) } },
    }));
    api.answer(DIFF, ({ query }: Call) => {
      const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
      return { from, to, fields: fieldsFrom(from, to), files: [] };
    });
    api.answer(ROLLBACK, ({ body, headers }: Call) => {
      const {
        number,
        check_only: isCheck,
        message,
      } = body as { number: number; check_only: boolean; message?: string };
      const current = subjects.length;
      const subject = subjects[number - 1] ?? '';
      if (!isCheck && headers['if-match'] !== `"${current}"`) {
        return problem(412, 'precondition_failed', 'It was changed since.');
      }
      const change = { action: 'update', resource: 'template shop/hello', note: null, formers: [], told: null };
      const changes = [{ ...change, waiting: null, fields: fieldsFrom(current, number) }];
      if (!isCheck) publish(subject, { origin: 'rollback', message: message ?? null });
      return {
        ...api.example(ROLLBACK),
        applied: !isCheck,
        new_number: isCheck ? null : subjects.length,
        number: current,
        changes,
        files: [{ path: 'workspaces/shop/templates/hello/email.yaml', text: `subject: ${subject}\n` }],
      };
    });
    return publish;
  }

  it('leads from the start page to all published changes, with author, origin and a description', async () => {
    serve('Hello', 'Good day');
    const page = await open('/');
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Versions' }).click();
    await rows(page).getByRole('heading', { name: 'Template hello changed' }).waitFor();
    await rows(page).getByText('Ada, by apply').first().waitFor();
    await expectAccessible(page, 'the list of versions');
    await picture(page, 'versions');
    await rows(page)
      .getByRole('button', { name: /^Show changes/ })
      .first()
      .click();
    await rows(page).getByText('− Hello').waitFor();
    await rows(page).getByText('+ Good day').waitFor();
    // A pasted link shows a colleague the same.
    await page.reload();
    await rows(page).getByText('+ Good day').waitFor();
    await expectAccessible(page, 'a version');
    await picture(page, 'version');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('h1').click();
    await page.keyboard.press('[');
    await rows(page).getByRole('button', { name: 'Roll back to this version' }).waitFor();
    await page.keyboard.press(']');
    await rows(page).getByText('+ Good day').waitFor();
  });

  it('undoes one change after showing its effect, and does not overwrite a newer change', async () => {
    const publish = serve('Hello', 'Good day');
    const page = await open(`${AT}?open=2`);
    await main(page).getByRole('button', { name: 'Undo this change' }).click();
    await dialog(page).getByText('+ Hello').waitFor();
    await dialog(page).getByText('As YAML').click();
    const file = dialog(page).getByRole('group', { name: /^workspaces.*email.yaml$/ });
    expect(await file.textContent()).toContain('subject: Hello');
    await expectAccessible(page, 'the rollback');
    await picture(page, 'rollback');
    // Somebody else publishes while the dialog is open.
    publish('Hi');
    guard.allowStatus(412);
    await dialog(page).getByRole('button', { name: 'Publish the old version' }).click();
    await dialog(page).getByRole('alert').waitFor();
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await main(page).getByRole('button', { name: 'Undo this change' }).click();
    await dialog(page).getByText('− Hi').waitFor();
    await dialog(page).getByLabel('Reason').fill('The old words were better');
    await dialog(page).getByRole('button', { name: 'Publish the old version' }).click();
    await page.getByText(/Published as configuration 4/).waitFor();
    await main(page).getByText('“The old words were better”').waitFor();
    await main(page).getByText('by a rollback').waitFor();
    const published = api.calls(ROLLBACK).filter(({ body }) => !(body as { check_only: boolean }).check_only);
    const body = { number: 1, with_references: false, check_only: false };
    expect(published.map(({ headers, body: asked }) => [headers['if-match'], asked])).toEqual([
      ['"2"', body],
      ['"3"', { ...body, message: 'The old words were better' }],
    ]);
  });

  it('brings back what was removed, with what it refers to', async () => {
    serve('Hello');
    api.answer(LIST, { items: [publication(3, { changes: [REMOVED] }), publication(1)], next: null });
    api.answer(NOTIFICATION_DIFF, { from: 2, to: 3, fields: [], files: [] });
    api.answer(NOTIFICATION_ROLLBACK, ({ body }: Call) => {
      const asked = body as { with_references: boolean; check_only: boolean };
      const change = { action: 'create', note: null, formers: [], told: null, waiting: null, fields: [] };
      const resources = ['notification shop/hello', ...(asked.with_references ? ['template shop/hello'] : [])];
      return {
        ...api.example(NOTIFICATION_ROLLBACK),
        applied: !asked.check_only,
        new_number: asked.check_only ? null : 4,
        number: 3,
        gone: [TEMPLATE],
        changes: resources.map((resource) => ({ ...change, resource })),
      };
    });
    const page = await open(AT);
    const removed = main(page).getByRole('listitem').filter({ hasText: 'Notification hello removed' }).first();
    await removed.getByRole('button', { name: /^Show changes/ }).click();
    await removed.getByRole('button', { name: 'Undo this change' }).click();
    await dialog(page).getByText('Also restore what it needs and was removed: Template hello').click();
    await dialog(page).getByRole('region', { name: 'template shop/hello' }).waitFor();
    await dialog(page).getByRole('button', { name: 'Publish the old version' }).click();
    await page.getByText(/Published as configuration 4/).waitFor();
    const published = api.calls(NOTIFICATION_ROLLBACK).at(-1);
    expect(published?.headers['if-none-match']).toBe('*');
    expect(published?.body).toEqual({ number: 2, with_references: true, check_only: false });
  });

  it('is shown to a viewer, who may take nothing back', async () => {
    serve('Hello', 'Good day', 'Hi');
    const page = await open(AT, { as: 'viewer' });
    await page
      .getByRole('button', { name: /^Show changes/ })
      .nth(1)
      .click();
    const back = page.getByRole('button', { name: 'Undo this change' });
    await back.waitFor();
    await expect.poll(() => back.isDisabled()).toBe(true);
    await expectAccessible(page, 'versions for a viewer');
  });

  it('keeps its frame while loading, shows errors, and describes the empty state', async () => {
    guard.allowStatus(400);
    api.answer(LIST, problem(400, 'invalid_request', 'The configuration cannot be read.'));
    const release = api.hold(LIST);
    const page = await open(AT);
    await main(page).getByRole('status', { name: 'Loading versions' }).waitFor();
    await expectAccessible(page, 'versions that load');
    release();
    await main(page).getByText('When you ask for help, name the request req_1.').waitFor();
    await expectAccessible(page, 'versions that cannot be read');
    api.answer(LIST, { items: [], next: null });
    await main(page).getByRole('button', { name: 'Try again' }).click();
    await main(page).getByRole('heading', { name: 'Nothing published yet' }).waitFor();
    await expectAccessible(page, 'no version');
  });
});
