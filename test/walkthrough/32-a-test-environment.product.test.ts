import { startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandOf } from './page-commands.ts';
import { chapter } from './places.ts';
import { ORDER, startCarillon, type Carillon } from './support.ts';

/*
 * 32. A test environment
 *
 * A workspace beside the live one, in which everything works and nobody is told. What is good there is promoted: as drafts, which
 * somebody reviews and publishes. docs/test-environments.md, executed.
 */

const PAGE = 'test-environments.md';
const page = await readFile(join(import.meta.dirname, '../../docs', PAGE), 'utf8');
const [, workspaceFile = ''] = /```yaml\n# workspaces\/shop-test\/workspace\.yaml\n([\s\S]*?)```/.exec(page) ?? [];

chapter('32. A test environment', (newHome) => {
  let carillon: Carillon;
  let smtp: ScriptedSmtp;
  let key = '';
  const files = (workspace: string): string => join(carillon.folder, 'carillon-demo', 'workspaces', workspace);
  const printed = (beginning: string) => carillon.command(commandOf(PAGE, beginning));
  beforeAll(async () => {
    smtp = await startScriptedSmtp();
    carillon = await startCarillon(await newHome());
    await carillon.sendThrough(smtp.port);
    await carillon.apply();
  });
  afterAll(async () => {
    await carillon.leave();
    await smtp.stop();
  });

  it('is made of a few lines and the files of the live workspace', async () => {
    const create = ['api-key', 'create', 'backend', '--workspace', 'shop-test', '--new-workspace'];
    ({ key } = await carillon.ask<{ key: string }>(create));
    for (const part of ['notifications', 'templates', 'streams']) {
      await cp(join(files('shop'), part), join(files('shop-test'), part), { recursive: true });
    }
    // What its notifications name it has to have itself.
    const live = await readFile(join(files('shop'), 'workspace.yaml'), 'utf8');
    const categories = live.slice(live.indexOf('categories:'));
    await writeFile(join(files('shop-test'), 'workspace.yaml'), `${workspaceFile}${categories}`);
    expect(await carillon.apply()).toContain('shop-test');
  });

  it('sends nothing out: its messages stay in the inbox, whatever accounts exist', async () => {
    const { status, body } = await carillon.post('shop-test/orders', JSON.stringify(ORDER), {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    });
    expect(status).toBe(202);
    const event = String(body['id']);
    const sent = await untilFound(`the message of ${event}`, async () => {
      const { items } = await carillon.ask<{ items: readonly { state: string; to: string }[] }>([
        'deliveries',
        '--workspace',
        'shop-test',
        '--event',
        event,
      ]);
      return items.find(({ state }) => state === 'SENT');
    });
    expect(sent.to).toBe('ada@example.com');
    expect((await carillon.inbox()).map(({ to }) => to)).toEqual(['ada@example.com']);
    expect(smtp.accepted).toEqual([]);
  });

  it('is promoted as drafts of the live workspace, without effect before they are published', async () => {
    const template = join(files('shop-test'), 'templates', 'order-paid', 'email.yaml');
    await writeFile(template, (await readFile(template, 'utf8')).replace(/^subject: .*$/m, 'subject: From the test'));
    await carillon.apply();
    expect((await printed('promote shop-test --check')).out).toContain('1 draft would be written in shop');
    expect((await printed('promote shop-test')).out).toContain('1 draft in shop');
    const before = await carillon.send({ ...ORDER, order_id: 'A-1' });
    await carillon.delivery(before, 'SENT');
    expect(JSON.stringify(smtp.accepted)).not.toContain('From the test');
    expect((await printed('drafts review --workspace shop')).out).toContain('From the test');
    expect((await printed('drafts publish --all --workspace shop')).code).toBe(0);
    const after = await carillon.send({ ...ORDER, order_id: 'A-2' });
    await carillon.delivery(after, 'SENT');
    expect(JSON.stringify(smtp.accepted)).toContain('From the test');
  });

  it('reports that nothing is left to promote', async () => {
    const { out } = await carillon.command(['export', 'exported']);
    expect(out).toContain('exported');
    expect((await printed('promote shop-test --check')).out).toContain('nothing to promote to shop');
  });
});
