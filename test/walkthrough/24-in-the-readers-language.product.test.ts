import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, startCarillon, type Carillon } from './support.ts';

/*
 * 24. In the reader’s language
 *
 * A file with the tag of a language in its name is for readers of that language. What all mails share stands once: a layout
 * around them, and partials in them. The German mail of this chapter is MJML, which is compiled when it is applied.
 */

const SHOP = 'carillon-demo/workspaces/shop';
const MAIL = `${SHOP}/templates/order-paid`;
const order = (id: string, locale: string) => ({ ...ORDER, order_id: id, locale, customer: { ...ORDER.customer } });
const PAID = '{{currency total "EUR"}}';

chapter('24. In the reader’s language', (newHome) => {
  let carillon: Carillon;
  const write = async (file: string, text: string): Promise<void> => {
    const path = join(carillon.folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  const refused = async (): Promise<string> => {
    const { code, out, err } = await carillon.command(['apply', '-f', 'carillon-demo']);
    expect(code).toBe(2);
    return out + err;
  };
  const preview = async (...more: readonly string[]): Promise<string> => {
    const { out, code } = await carillon.command([
      'template',
      'preview',
      'order-paid',
      '--event',
      'event.json',
      ...more,
    ]);
    expect(code).toBe(0);
    return out;
  };
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
    await rm(join(carillon.folder, MAIL), { recursive: true });
    await write(`${MAIL}/email.yaml`, 'subject: Order {{order_id}} is paid\nlayout: basic\n');
    await write(`${MAIL}/email.html`, `<p>We received ${PAID}.</p>\n`);
    await write(`${SHOP}/layouts/basic.html`, '<html><body>{{{body}}}<p>{{> footer}}</p></body></html>\n');
    await write(`${SHOP}/partials/footer.hbs`, 'Shop Ltd, order {{order_id}}\n');
    await writeFile(join(carillon.folder, 'event.json'), JSON.stringify(order('A-1', 'de-AT')));
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('refuses a language that is not whole, and names what is missing', async () => {
    await write(`${MAIL}/email.de.yaml`, 'subject: Bestellung {{order_id}} ist bezahlt\n');
    expect(await refused()).toContain('the variant for de has no html, which the template without a language has');
  });

  it('refuses MJML with the line and column of what is wrong', async () => {
    const layout =
      '<mjml><mj-body>\n{{{body}}}\n<mj-section><mj-column><mj-text>{{> footer}}</mj-text></mj-column></mj-section>\n</mj-body></mjml>\n';
    await write(`${SHOP}/layouts/basic.mjml`, layout);
    await write(
      `${MAIL}/email.de.mjml`,
      '<mj-section><mj-column>\n  <mj-txet>Danke</mj-txet></mj-column></mj-section>\n',
    );
    const said = await refused();
    expect(said).toContain('order-paid/email.de.mjml:2:3');
    expect(said).toContain('Did you mean <mj-text>?');
    await write(
      `${MAIL}/email.de.mjml`,
      `<mj-section><mj-column>\n  <mj-text>Wir haben ${PAID} erhalten.</mj-text></mj-column></mj-section>\n`,
    );
    await carillon.apply();
  });

  it('shows each language before anything is sent, and says which it is', async () => {
    const german = await preview('--channel', 'email');
    expect(german).toContain('Bestellung A-1 ist bezahlt');
    expect(german).toContain('written in de (the reader’s is de-AT)');
    expect(german.replaceAll('\u00a0', ' ')).toContain('€ 120,00 erhalten.');
    expect(german).toContain('Shop Ltd, order A-1');
    const english = await preview('--channel', 'email', '--locale', 'en-GB');
    expect(english).toContain('Order A-1 is paid');
    expect(english).toContain('We received €120.00.');
  });

  it('sends what it showed, to each reader in the own language', async () => {
    const event = await carillon.send(order('A-1', 'de-AT'));
    await carillon.send(order('A-2', 'fr'));
    const mails = await untilFound('both mails are in the inbox', async () => {
      const sent = (await carillon.inbox()) as readonly { subject: string; html: string; text: string }[];
      return sent.length === 2 ? sent : undefined;
    });
    const german = mails.find(({ subject }) => subject === 'Bestellung A-1 ist bezahlt');
    expect(german?.html).toMatch(/^<!doctype html>[\s\S]*Shop Ltd, order A-1/);
    expect(german?.text).toContain('erhalten.');
    expect(mails.find(({ subject }) => subject === 'Order A-2 is paid')?.html).toContain('Shop Ltd, order A-2');
    expect(await carillon.trace(event)).toContain('written in de (the reader’s is de-AT)');
  });

  it('names the templates that a layout or partial changes', async () => {
    await write(`${SHOP}/partials/footer.hbs`, 'Shop Ltd, Berlin\n');
    const { out } = await carillon.command(['diff', '-f', 'carillon-demo']);
    expect(out).toContain('partial shop/footer');
    expect(out).toContain('changes the template order-paid');
    await carillon.apply();
    await carillon.command(['export', 'exported']);
    const { out: again } = await carillon.command(['diff', '-f', 'exported']);
    expect(again).toContain('nothing would change');
  });
});
