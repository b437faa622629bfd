import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseMail, startScriptedSmtp, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { DEPLOYMENT, ORDER, startCarillon, type Carillon } from './support.ts';

/*
 * 21. One click
 *
 * Whoever wants no more says so with the button that the mail program draws from two headers of the message, or with a link
 * in its text. The program posts, nobody signs in, and the next message of that kind is not sent. A page behind the link shows
 * what somebody gets, and takes it back.
 */

/** How the world reaches the gateway; here a name that a proxy in front of it would have. */
const PUBLIC = 'https://notify.example.com';
const MAIL_TEXT = 'carillon-demo/workspaces/shop/templates/order-paid/email.txt';

chapter('21. One click', (newHome) => {
  let carillon: Carillon;
  let smtp: ScriptedSmtp;
  /** The newest mail, as a mail program reads it. */
  const newest = async () => {
    const mail = smtp.accepted.at(-1);
    if (!mail) throw new Error('a mail came');
    return parseMail(mail.raw);
  };
  const headerOf = (mail: string, name: string): string =>
    new RegExp(`^${name}: (.*)$`, 'im').exec(mail)?.[1]?.trim() ?? '';
  /** What a browser or a mail program gets at an address of the message. */
  const visit = async (address: string, init: RequestInit = {}): Promise<{ status: number; page: string }> => {
    const answer = await fetch(address.replace(PUBLIC, carillon.events.replace(/\/events$/, '')), {
      redirect: 'manual',
      ...init,
    });
    return { status: answer.status, page: await answer.text() };
  };
  const order = (id: string) => ({ ...ORDER, order_id: id });
  const sent = async (id: string): Promise<string> => {
    await carillon.delivery(await carillon.send(order(id)), 'SENT');
    const mail = smtp.accepted.at(-1);
    if (!mail) throw new Error('a mail came');
    return mail.raw;
  };
  let unsubscribe = '';
  let preferences = '';

  beforeAll(async () => {
    smtp = await startScriptedSmtp();
    carillon = await startCarillon(await newHome());
    await writeFile(
      join(carillon.folder, MAIL_TEXT),
      'Order {{ order_id }} is paid.\nNo more of these: {{ unsubscribe_url }}\nWhat you get: {{ preferences_url }}\n',
    );
    await carillon.sendThrough(smtp.port);
    await carillon.apply();
  });
  afterAll(async () => {
    await carillon.leave();
    await smtp.stop();
  });

  it('without an address for the world there are no links, and doctor says so', async () => {
    const mail = await sent('A-0');
    expect(headerOf(mail, 'List-Unsubscribe')).toBe('');
    const { out } = await carillon.command(['doctor']);
    expect(out).toMatch(/unsubscribe links.*no unsubscribe link in email of shop\/order-paid.*public_url/);
    await carillon.edit(DEPLOYMENT, 'backend: embedded', `backend: embedded\npublic_url: ${PUBLIC}`);
    await carillon.apply();
    expect((await carillon.command(['doctor'])).out).not.toContain('unsubscribe links');
  });

  it('previews the unsubscribe link, which changes nothing', async () => {
    await writeFile(join(carillon.folder, 'order.json'), JSON.stringify(order('A-1')));
    const shown = ['template', 'preview', 'order-paid', '--event', 'order.json'];
    const { out } = await carillon.command(shown);
    const link = /No more of these: (\S+)/.exec(out)?.[1] ?? '';
    expect(link).toMatch(/^https:\/\/notify\.example\.com\/unsubscribe\//);
    expect((await visit(link, { method: 'POST' })).page).toContain('This link belongs to a test message');
    const mine = [
      'template',
      'test-send',
      'order-paid',
      '--channel',
      'email',
      '--to',
      'me@example.com',
      '--event',
      'order.json',
    ];
    expect((await carillon.command(mine)).out).toMatch(/^test message to me@example\.com by email: SENT /);
    const mail = await newest();
    expect(mail.text).toContain(link);
    // Byte for byte what was shown, as a reader of mail that shares no code with the sender reads it.
    type Previewed = { messages: { from: string; subject: string; html: string; text: string }[] };
    const [message] = (await carillon.ask<Previewed>(shown)).messages;
    expect({ subject: mail.subject, html: mail.html, text: mail.text }).toEqual({
      subject: message?.subject,
      html: message?.html,
      text: message?.text,
    });
    expect(`${mail.from.name} <${mail.from.address}>`).toBe(message?.from);
    expect((await carillon.command(['deliveries', '--test'])).out).toMatch(/SENT.*order-paid \(test\)/);
  });

  it('carries the button in two headers, and the same link in its text', async () => {
    const mail = await sent('A-1');
    expect(headerOf(mail, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
    unsubscribe = /^<(.*)>$/.exec(headerOf(mail, 'List-Unsubscribe'))?.[1] ?? '';
    const { text } = await newest();
    expect(text).toContain(`No more of these: ${unsubscribe}`);
    preferences = /What you get: (\S+)/.exec(text ?? '')?.[1] ?? '';
    // Whoever reads the address learns nothing of who it is for.
    expect(decodeURIComponent(unsubscribe)).not.toContain('ada');
  });

  it('shows a page to mail scanners that follow the link, and opts nobody out', async () => {
    const { status, page } = await visit(unsubscribe);
    expect(status).toBe(200);
    expect(page).toContain('Stop these messages?');
    expect((await visit(unsubscribe, { method: 'HEAD' })).status).toBe(200);
    await sent('A-2');
  });

  it('opts out with one POST without signing in, and the next order ends as opted out', async () => {
    const click = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) };
    const { status, page } = await visit(unsubscribe, click);
    expect(status).toBe(200);
    expect(page).toContain('You will not get these any more');
    const before = smtp.accepted.length;
    const next = await carillon.send(order('A-3'));
    expect(await carillon.delivery(next, 'SUPPRESSED')).toMatchObject({ reason: 'opted_out' });
    expect(await carillon.trace(next)).toMatch(/opted out of the category orders on email with one click/);
    expect(smtp.accepted).toHaveLength(before);
    // What somebody asked for to see it comes all the same, and says nothing of the reader's wishes.
    const test = [
      'template',
      'test-send',
      'order-paid',
      '--channel',
      'email',
      '--to',
      'ada@example.com',
      '--event',
      'order.json',
    ];
    expect((await carillon.command(test)).out).toContain('SENT');
  });

  it('has a preference page that undoes the opt-out', async () => {
    const { page } = await visit(preferences);
    expect(page).toContain('What you get from');
    const box = /name="want" value="([^"]+)"(?! checked)/.exec(page)?.[1] ?? '';
    expect(box).toContain('orders');
    const choice = new URLSearchParams([
      ['do', 'save'],
      ['shown', box],
      ['want', box],
    ]);
    expect((await visit(preferences, { method: 'POST', body: choice })).page).toContain('Saved.');
    await sent('A-4');
  });

  it('has nothing for a link that was cut off or altered, and does not say why', async () => {
    for (const wrong of [
      unsubscribe.slice(0, -4),
      `${unsubscribe.slice(0, -1)}${unsubscribe.endsWith('A') ? 'B' : 'A'}`,
    ]) {
      const { status, page } = await visit(wrong, { method: 'POST' });
      expect(status).toBe(404);
      expect(page).toContain('This link does not work');
    }
    await sent('A-5');
  });
});
