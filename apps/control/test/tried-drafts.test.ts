import { describe, expect, it } from 'vitest';
import { useDrafts } from './draft-fixture.ts';

const under = useDrafts();
const EVENT = JSON.stringify({ order_id: 'A-1', customer: { name: '<b>Ada</b>' } });
const NEW = { 'if-none-match': '*' };
const save = (kind: string, name: string, body: object, headers = NEW) =>
  under.ask('PUT', `${kind}/${name}/draft`, { body, based_on: null }, headers);

describe('a preview of drafts', () => {
  it('renders a template that exists only as a draft, with the draft of its layout, and lists its variables', async () => {
    expect(await save('layouts', 'plain', { html: '<html><body><h1>Shop</h1>{{{body}}}</body></html>' })).toMatchObject(
      {
        status: 200,
      },
    );
    const html = '<p>{{customer.name}}</p>{{#each lines}}{{qty}}{{/each}}';
    const saved = await save('templates', 'fresh', {
      email: { subject: 'Order {{order_id}}', layout: 'plain', html, strict: false },
    });
    expect(saved).toMatchObject({ status: 200, body: { faults: [] } });
    const shown = await under.ask('POST', 'templates/fresh/preview', { event: EVENT, drafts: true });
    expect(shown.body).toMatchObject({
      messages: [
        {
          ok: true,
          subject: 'Order A-1',
          html: '<html><body><h1>Shop</h1><p>&lt;b&gt;Ada&lt;/b&gt;</p></body></html>',
          variant: null,
          fields: expect.arrayContaining(['order_id', 'customer.name', 'lines']) as unknown,
        },
      ],
    });
    expect(await under.ask('POST', 'templates/fresh/preview', { event: EVENT })).toMatchObject({ status: 404 });
  });

  it('is a sandboxed page without scripts and requests, with or without images', async () => {
    const query = new URLSearchParams({ event: EVENT, drafts: 'true', of: 'd1' });
    const url = `/previews/shop/fresh/html?${query.toString()}`;
    const page = await under.control.app.inject({ method: 'GET', url });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('<p>&lt;b&gt;Ada&lt;/b&gt;</p>');
    expect(page.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'.*img-src data:;/);
    const without = await under.control.app.inject({ method: 'GET', url: `${url}&pictures=off` });
    expect(without.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'.*img-src 'none';/);
    const strange = await under.control.app.inject({ method: 'GET', url: `${url}&policy=none` });
    expect(strange.headers['content-security-policy']).toBe(page.headers['content-security-policy']);
  });

  it('shows the mistakes of a draft instead of the published version', async () => {
    const wrong = { email: { subject: 'x', html: '<p>{{#if a}}</p>', strict: false } };
    expect(await save('templates', 'broken', wrong)).toMatchObject({ status: 200 });
    const shown = await under.ask('POST', 'templates/broken/preview', { event: EVENT, drafts: true });
    expect(shown).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
  });

  it('refuses a logged event to callers who may not see contents', async () => {
    const both = await under.ask('POST', 'templates/fresh/preview', { event: EVENT, event_id: 'evt_1', drafts: true });
    expect(both).toMatchObject({ status: 400 });
    const missing = await under.ask('POST', 'templates/fresh/preview', { event_id: 'evt_1', drafts: true });
    expect(missing).toMatchObject({ status: 404 });
  });
});

describe('a check of drafts', () => {
  it('checks an account and an integration that exist only as drafts, and only on request', async () => {
    await save('accounts', 'own', {
      kind: 'smtp',
      host: 'mail.example.com',
      port: 587,
      password: { secret: 'SMTP' },
      user: 'a',
      from: 'a@example.com',
    });
    await save('integrations', 'crm', {
      kind: 'lookup',
      url: 'https://crm.example.com/people',
      authorization: { key: { secret: 'CRM' } },
      match: 'variables.user_id',
    });
    for (const at of ['accounts/own', 'integrations/crm']) {
      expect(await under.ask('POST', `${at}/check`, {})).toMatchObject({ status: 404 });
      const { body } = await under.ask('POST', `${at}/check`, { drafts: true });
      expect(body, at).toMatchObject({ steps: [{ ok: true }, { step: 'secret', ok: false }] });
    }
    const anywhere = await under.ask('POST', '/v1/workspaces/-/accounts/own/check', { drafts: true });
    expect(anywhere).toMatchObject({ status: 400, body: { detail: 'drafts: name the workspace' } });
  });
});
