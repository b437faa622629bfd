import { startScriptedSmtp, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { DEPLOYMENT, ORDER, startCarillon, type Answer, type Carillon } from './support.ts';

/*
 * 25. Somebody joins
 *
 * An invitation is a link for one use. Whoever opens it chooses a name and a password, and has the role that they were invited to: who may only
 * read sees masks in the place of addresses.
 */

const BOB = 'bob@example.com';
const PASSWORD = 'correct horse battery staple';

chapter('25. Somebody joins', (newHome) => {
  let carillon: Carillon;
  let smtp: ScriptedSmtp;
  let word = '';
  let cookie = '';
  beforeAll(async () => {
    smtp = await startScriptedSmtp();
    carillon = await startCarillon(await newHome());
    await carillon.sendThrough(smtp.port);
    await carillon.edit(DEPLOYMENT, 'backend: embedded', `backend: embedded\nportal_url: ${carillon.control}`);
    await carillon.apply();
  });
  afterAll(async () => {
    await carillon.leave();
    await smtp.stop();
  });

  /** As the page of the portal asks. */
  async function browser(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await fetch(`${carillon.control}${path}`, {
      method,
      headers: { 'x-carillon': '1', cookie, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const [set = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
    if (set !== '') cookie = set;
    return { status: answer.status, body: (await answer.json()) as Answer['body'] };
  }

  it('invites by one command, and mails the link', async () => {
    const { out, code } = await carillon.command(['people', 'invite', BOB, '--role', 'viewer']);
    expect(code).toBe(0);
    expect(out).toContain('mailed to them');
    [, word = ''] = /\/invitation#(\S+)/.exec(out) ?? [];
    expect(out).toContain(`${carillon.control}/invitation#inv_`);
    const mail = JSON.stringify(smtp.accepted).replaceAll(String.raw`=\r\n`, '');
    expect(mail).toContain(BOB);
    expect(mail).toContain(word);
    expect((await carillon.command(['people', 'invitations'])).out).toContain('viewer in shop');
  });

  it('makes somebody of whoever opens the link, once', async () => {
    const look = await browser('POST', '/v1/invitations/look', { word });
    expect(look.body).toMatchObject({ email: BOB, has_account: false });
    const accepted = { word, name: 'Bob', password: PASSWORD };
    expect((await browser('POST', '/v1/invitations/accept', accepted)).body).toMatchObject({ way: 'invitation' });
    expect((await browser('GET', '/v1/me')).body).toMatchObject({ person: { name: 'Bob' }, owner: false });
    expect((await browser('POST', '/v1/invitations/accept', accepted)).status).toBe(404);
    expect((await carillon.command(['members', 'list'])).out).toContain(BOB);
  });

  it('shows a viewer the state of a message and a masked address, and no contents', async () => {
    const { id } = await carillon.delivery(await carillon.send(ORDER), 'SENT');
    const seen = await browser('GET', `/v1/workspaces/shop/deliveries/${id}`);
    expect(seen.body).toMatchObject({ state: 'SENT', to: 'a•••@e•••.com' });
    expect((await browser('GET', `/v1/workspaces/shop/deliveries/${id}/content`)).status).toBe(403);
  });

  it('shows the address once the role allows it, from the next request', async () => {
    const { out, code } = await carillon.command(['members', 'set', BOB, 'operator']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Bob is operator') as unknown });
    const { body } = await browser('GET', '/v1/workspaces/shop/deliveries');
    expect(JSON.stringify(body)).toContain(ORDER.customer.email);
  });

  it('creates a token for a program, shows it once, and revokes it', async () => {
    const made = await carillon.command(['tokens', 'create', 'nightly report', '--scope', 'read', '--expires', '90d']);
    const [token = ''] = made.out.split('\n');
    expect(token).toMatch(/^svc_/);
    const status = async (): Promise<number> =>
      (await fetch(`${carillon.control}/v1/status`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await status()).toBe(200);
    const listed = (await carillon.command(['tokens', 'list'])).out;
    expect(listed).not.toContain(token);
    const [id = ''] = /tok_\w+/.exec(listed) ?? [];
    expect((await carillon.command(['tokens', 'revoke', id])).code).toBe(0);
    expect(await status()).toBe(401);
  });

  it('ends the session of a disabled person, and refuses them an owner link', async () => {
    expect((await carillon.command(['people', 'disable', BOB])).code).toBe(0);
    expect((await browser('GET', '/v1/me')).status).toBe(401);
    const wrong = await carillon.command(['owner-link', '--email', BOB]);
    expect({ code: wrong.code, err: wrong.err }).toEqual({
      code: 1,
      err: expect.stringContaining('owner of the deployment') as unknown,
    });
    expect((await carillon.command(['people', 'remove', 'nobody@example.com'])).code).toBe(2);
  });
});
