import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/requirements.ts';
import { chapter } from './places.ts';
import { blocksOf, runBlock } from './shell-blocks.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 26. Two who write
 *
 * A program writes over the management API, a person in files. docs/management-api.md and docs/versions.md, executed: their commands
 * run in the order of the pages, as they stand.
 */

const [settings = '', ...api] = blocksOf('management-api.md');
const versions = blocksOf('versions.md');

describeWith('curl', 'docs/management-api.md and docs/versions.md', () => {
  chapter('26. Two who write', (newHome) => {
    let carillon: Carillon;
    beforeAll(async () => {
      carillon = await startCarillon(await newHome());
    });
    afterAll(async () => {
      await carillon.leave();
    });

    const run = (block: string): Promise<string> => runBlock(carillon, settings, block);
    const answer = async (block: string) => JSON.parse(await run(block)) as Record<string, unknown>;
    const put = (path: string, body: object, condition: string) =>
      answer(
        `curl -sS -X PUT "$CARILLON/v1/workspaces/shop/${path}" -H "$AUTH" -H "$JSON" -H '${condition}' -d '${JSON.stringify(body)}'`,
      );

    it('a resource is read with what its file holds', async () => {
      expect(await answer(/^curl .*$/m.exec(settings)?.[0] ?? '')).toMatchObject({
        kind: 'notification',
        name: 'order-paid',
        updated_by: { kind: 'system' },
        origin: 'apply',
      });
    });

    it('a program makes a template and a notification, which counts when the answer comes', async () => {
      const [template = '', notification = ''] = api;
      expect(await answer(template)).toMatchObject({ kind: 'template', version: 1, updated_by: { kind: 'cli' } });
      expect(await answer(notification)).toMatchObject({ kind: 'notification', name: 'order-sent' });
      const id = await carillon.send({ order_id: 'B-1', status: 'sent', customer: { email: 'bea@example.com' } });
      expect((await carillon.delivery(id, 'SENT')).to).toBe('bea@example.com');
    });

    it('returns mistakes at once with their fix, and changes nothing', async () => {
      const [, , plan = ''] = api;
      expect(await answer(plan)).toMatchObject({
        faults: expect.arrayContaining([
          expect.objectContaining({ path: 'chanels', fix: 'did you mean channels?' }),
        ]) as unknown,
        changes: [],
      });
    });

    it('returns 412 to the slower writer, with the current version and its author', async () => {
      const [, , , stale = ''] = api;
      expect(await answer(stale)).toMatchObject({
        status: 412,
        code: 'precondition_failed',
        newer: { by: { kind: 'cli', id: 'owner' } },
      });
    });

    it('10 MB are refused', async () => {
      const told = await run(
        `head -c 10000000 /dev/zero | tr '\\0' x >big; curl -sS -o told -w '%{http_code}' -X PUT "$CARILLON/v1/workspaces/shop/partials/big" -H "$AUTH" -H "$JSON" -H 'If-None-Match: *' --data-binary @big || true`,
      );
      expect(told).toContain('413');
    });

    it('versions are listed, and the first is taken back as a new one', async () => {
      const [list = '', takeBack = ''] = versions;
      expect(await answer(list)).toMatchObject({ items: [{ version: 1, action: 'create', origin: 'cli' }] });
      expect(await answer(takeBack)).toMatchObject({ applied: true, gone: [] });
      expect(await answer(list)).toMatchObject({
        items: [
          { version: 3, origin: 'rollback', message: 'The subject was too short' },
          { version: 2 },
          { version: 1 },
        ],
      });
    });

    it('runs a request repeated with its Idempotency-Key once, and answers both', async () => {
      const out = await run(api.find((block) => block.includes('Idempotency-Key')) ?? '');
      const half = out.slice(0, out.length / 2);
      expect(out).toBe(half + half);
      expect(JSON.parse(half)).toMatchObject({ key: expect.stringMatching(/^cln_/) as unknown });
      expect((await carillon.command(['api-key', 'list'])).out.match(/warehouse/g)).toHaveLength(1);
    });

    it('exports changes made over the API as files that apply without a change', async () => {
      expect((await carillon.command(['export', 'after-the-api'])).code).toBe(0);
      const mail = join(carillon.folder, 'after-the-api/workspaces/shop/templates/order-sent/email.yaml');
      expect(readFileSync(mail, 'utf8')).toContain('is on its way');
      expect(await carillon.ask(['diff', '-f', 'after-the-api'])).toMatchObject({ faults: [], changes: [] });
      expect(await carillon.ask(['apply', '-f', 'after-the-api'])).toMatchObject({ applied: false, changes: [] });
    });

    it('a file that is applied makes what a program had read stale', async () => {
      const before = await put('partials/note', { text: 'a' }, 'If-None-Match: *');
      expect((await carillon.command(['export', 'again'])).code).toBe(0);
      await run('echo b > again/workspaces/shop/partials/note.hbs');
      expect(await carillon.ask(['apply', '-f', 'again'])).toMatchObject({ applied: true });
      const late = await put('partials/note', { text: 'c' }, `If-Match: "${String(before['number'])}"`);
      expect(late).toMatchObject({ status: 412, newer: { by: { kind: 'cli' } } });
    });
  });
});
