import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/requirements.ts';
import { commandOf } from './page-commands.ts';
import { chapter } from './places.ts';
import { blocksOf, runBlock } from './shell-blocks.ts';
import { ORDER, ORDER_PAID, startCarillon, type Answer, type Carillon } from './support.ts';

/*
 * 27. A draft
 *
 * What somebody works on counts for nothing until it is published, and is never lost by what somebody else does meanwhile.
 * docs/drafts-and-environments.md, executed.
 */

const PAGE = 'drafts-and-environments.md';
const PAID = 'notifications/order-paid';
const [SETTINGS = ''] = blocksOf('management-api.md');

describeWith('curl', 'docs/drafts-and-environments.md', () => {
  chapter('27. A draft', (newHome) => {
    let carillon: Carillon;
    let token = '';
    beforeAll(async () => {
      carillon = await startCarillon(await newHome());
      token = (await readFile(join(carillon.folder, 'carillon-data', 'owner-token'), 'utf8')).trim();
    });
    afterAll(async () => {
      await carillon.leave();
    });
    async function api(
      method: string,
      path: string,
      body?: object,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Answer & { readonly etag: string }> {
      const answer = await fetch(`${carillon.control}/v1/workspaces/shop/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const etag = answer.headers.get('etag') ?? '';
      return { status: answer.status, etag, body: (await answer.json()) as Answer['body'] };
    }
    const printed = (beginning: string) => carillon.command(commandOf(PAGE, beginning));

    it('saves a draft with a mistake and reports it, but does not publish it', async () => {
      const [begin = ''] = blocksOf(PAGE);
      expect(JSON.parse(await runBlock(carillon, SETTINGS, begin))).toMatchObject({ action: 'create', based_on: null });
      const { out, code } = await printed('drafts review');
      expect([out, code]).toEqual([expect.stringContaining('nothing can be published yet'), 2]);
      const refused = await printed('drafts publish --all');
      expect(refused.code).toBe(2);
      expect((await api('GET', 'templates/order-sent')).status).toBe(404);
    });

    it('saves again, reviews and publishes as one change with author and reason', async () => {
      const [, again = ''] = blocksOf(PAGE);
      expect(JSON.parse(await runBlock(carillon, SETTINGS, again))).toMatchObject({ faults: [] });
      expect((await printed('drafts list')).out).toMatch(/template\/order-sent +create +can be published/);
      expect((await printed('drafts review')).out).toContain('+ template shop/order-sent');
      const { out, code } = await printed('drafts publish --all');
      expect([out, code]).toEqual([expect.stringContaining('published as configuration'), 0]);
      const { body } = await api('GET', 'templates/order-sent/versions');
      expect(body['items']).toMatchObject([{ message: 'Paid orders alone', by: { kind: 'cli' } }]);
      expect((await printed('drafts list')).out).toContain('no drafts');
    });

    it('keeps the draft when files change the same resource, and publishes only after a choice', async () => {
      const { body: before } = await api('GET', PAID);
      const mine = { ...(before['body'] as object), name: 'Paid, as I call it' };
      const begun = await api(
        'PUT',
        `${PAID}/draft`,
        { body: mine, based_on: before['number'] },
        { 'if-none-match': '*' },
      );
      expect(begun.status).toBe(200);

      await carillon.edit(ORDER_PAID, 'expires: 24h', 'expires: 12h');
      expect(await carillon.apply()).toContain('order-paid');
      expect((await printed('drafts list')).out).toContain('IN CONFLICT');
      const refused = await printed('drafts publish notification/order-paid');
      expect(refused.code).toBe(1);
      expect(refused.err).toContain('changed since the draft was started');
      const review = await printed('drafts review');
      expect(review.out).toMatch(/expires\n +base +24h\n +theirs +12h\n/);

      const { body: theirs } = await api('GET', PAID);
      const both = { ...(theirs['body'] as object), name: 'Paid, as I call it' };
      const chosen = { body: both, based_on: theirs['number'] };
      expect((await api('PUT', `${PAID}/draft`, chosen, { 'if-match': begun.etag })).status).toBe(200);
      expect((await printed('drafts publish notification/order-paid')).code).toBe(0);
      expect((await api('GET', PAID)).body['body']).toMatchObject({ name: 'Paid, as I call it', expires: '12h' });
      const id = await carillon.send(ORDER);
      expect((await carillon.delivery(id, 'SENT')).to).toBe('ada@example.com');
    });

    it('is thrown away, and what counts stays', async () => {
      const { body } = await api('GET', 'templates/order-paid');
      const wish = { body: null, based_on: body['number'] };
      await api('PUT', 'templates/order-paid/draft', wish, { 'if-none-match': '*' });
      expect((await printed('drafts discard template/order-paid')).out).toContain('is gone');
      expect((await api('GET', 'templates/order-paid')).body['number']).toBe(body['number']);
    });
  });
});
