import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppliedBody } from '@carillon/contracts';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, request, shopFiles, writeFiles, type Files, type Shop } from './shop.ts';

const RULE = 'workspaces/shop/notifications/order-paid.yaml';

let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const limit = (total: number, files: Files = shopFiles()): Files => ({
  ...files,
  [RULE]: (files[RULE] ?? '').replace(/event\.total > \d+/, `event.total > ${total}`),
});
const exported = async (): Promise<Files> =>
  (await shop.api<{ files: Files }>('GET', '/v1/configuration/export')).body.files;
const number = async (): Promise<number> =>
  (await shop.api<{ config_number: number }>('GET', '/v1/status')).body.config_number;

describe('apply', () => {
  it('shows beforehand what it changes, and the next event is judged by it', async () => {
    await shop.delivered(await shop.send(order('C-1', { total: 150, email: 'c1@example.com' })), 'SENT');
    const folder = writeFiles(join(shop.folder, 'limit'), limit(1000));
    const diff = await shop.run(['diff', '-f', folder]);
    expect(diff).toMatchObject({ code: 0, stderr: '' });
    expect(diff.stdout).toMatch(/~ notification shop\/order-paid/);
    expect(diff.stdout).toMatch(/- .*event\.total > 100\n.*\+ .*event\.total > 1000/);
    const before = await number();
    expect((await shop.run(['apply', '-f', folder])).stdout).toContain(`applied as configuration ${before + 1}`);
    const silent = await shop.send(order('C-2', { total: 150, email: 'c2@example.com' }));
    const loud = await shop.send(order('C-3', { total: 1500, email: 'c3@example.com' }));
    expect(await shop.delivered(loud, 'SENT')).toMatchObject({ config_number: before + 1 });
    expect(await shop.story(silent)).toMatch(/order-paid\.paid v\d+/);
    expect(await shop.deliveries(`&event=${silent}`)).toEqual([]);
  });

  it('twice changes nothing, and repeats the markers', async () => {
    const folder = writeFiles(join(shop.folder, 'twice'), limit(1000));
    const before = await number();
    const again = await shop.run(['apply', '-f', folder]);
    expect(again).toMatchObject({ code: 0, stdout: `nothing to change (configuration ${before})\n` });
    expect(await number()).toBe(before);
    // Markers are records of the event log that the engine takes note of: one more for each partition.
    const noted = async (): Promise<number> => {
      const text = await (await fetch(`${shop.product.controlUrl}/metrics`)).text();
      const line = /^carillon_records_total\{stage="evaluate",result="done"\} (\d+)$/m.exec(text);
      return Number(line?.[1]);
    };
    const markers = await noted();
    const body = JSON.parse((await shop.run(['apply', '-f', folder, '--json'])).stdout) as AppliedBody;
    for (let times = 0; times < 3; times += 1) await shop.apply(limit(1000));
    // Four times: the engine by itself repeats them once at most while we look.
    await expect.poll(noted, { timeout: 60_000 }).toBeGreaterThanOrEqual(markers + 4 * 8);
    expect(body).toMatchObject({ applied: false, new_number: null, faults: [], changes: [] });
    const event = await shop.send(order('C-4', { total: 2000, email: 'c4@example.com' }));
    expect(await shop.delivered(event, 'SENT')).toMatchObject({ config_number: before });
  });

  it('lets one of two concurrent clients win; the other gets an error and changes nothing', async () => {
    let tries = 0;
    const post = (files: Files) =>
      shop.api<AppliedBody & { code: string; detail: string }>('POST', '/v1/configuration/apply', {
        files,
        prune: false,
      });
    const { before, answers, template, stream } = await untilFound('two that meet', async () => {
      await shop.apply(limit(300));
      const name = `try-${(tries += 1)}`;
      const added = { template: `workspaces/shop/templates/${name}`, stream: `workspaces/shop/streams/${name}.yaml` };
      const one = {
        ...limit(301),
        [`${added.template}/email.txt`]: 'x',
        [`${added.template}/email.yaml`]: 'subject: x\nfrom: a@example.com\n',
      };
      const other = { ...limit(302), [added.stream]: 'security: { api_keys: [backend] }\n' };
      const found = { before: await number(), answers: await Promise.all([post(one), post(other)]), ...added };
      // Where one was done before the other came, both are heard.
      return found.answers.every(({ status }) => status === 200) ? undefined : found;
    });
    const won = answers.filter(({ status, body }) => status === 200 && body.applied);
    const lost = answers.filter(({ status }) => status === 409);
    expect([won.length, lost.length]).toEqual([1, 1]);
    expect(lost[0]?.body).toMatchObject({ code: 'conflict' });
    expect(lost[0]?.body.detail).toContain('order-paid');
    const files = await exported();
    const firstWon = answers[0]?.status === 200;
    expect(files[RULE]).toContain(firstWon ? 'event.total > 301' : 'event.total > 302');
    expect(stream in files).toBe(!firstWon);
    expect(`${template}/email.txt` in files).toBe(firstWon);
    expect(await number()).toBeGreaterThan(before);
    // Nothing hangs after a conflict: the loser repeats and is heard.
    expect((await post(limit(100))).body).toMatchObject({ applied: true });
  });

  it('deletes only with --prune, and without a terminal only with --yes', async () => {
    const gone = 'workspaces/shop/templates/spare/email.txt';
    const spare = {
      [gone]: 'spare\n',
      'workspaces/shop/templates/spare/email.yaml': 'subject: x\nfrom: a@example.com\n',
    };
    await shop.apply({ ...shopFiles(), ...spare });
    const folder = writeFiles(join(shop.folder, 'prune'), shopFiles());
    const kept = await shop.run(['apply', '-f', folder]);
    expect(kept.code).toBe(0);
    expect(kept.stdout).toMatch(/\? template shop\/spare is not in the folder \(kept; --prune removes it\)/);
    expect(await exported()).toHaveProperty([gone]);
    const asked = await shop.run(['apply', '-f', folder, '--prune']);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toMatch(/--prune would remove:\n[^]* {2}template shop\/spare\n[^]*--yes/);
    expect(await exported()).toHaveProperty([gone]);
    const diff = await shop.run(['diff', '-f', folder, '--prune']);
    expect(diff.stdout).toMatch(/- template shop\/spare/);
    expect(await shop.run(['apply', '-f', folder, '--prune', '--yes'])).toMatchObject({ code: 0 });
    expect(await exported()).not.toHaveProperty([gone]);
    // API keys are not in files, and so never taken away by them.
    await shop.delivered(await shop.send(order('C-5', { email: 'c5@example.com' })), 'SENT');
  });

  it('of one workspace deletes nothing of others, and refuses a folder that contains others', async () => {
    const acme = {
      'workspaces/acme/workspace.yaml': 'name: Acme\n',
      'workspaces/acme/notifications/hello.yaml': `security: { api_keys: [backend] }
channels: { email: { template: hello } }
rules:
  hi:
    when: event.kind == "hi"
    recipients: { from: event, to: { email: event.email }, unique_id: event.email }
`,
      'workspaces/acme/templates/hello/email.yaml': 'subject: Hi\nfrom: a@example.com\n',
      'workspaces/acme/templates/hello/email.txt': 'Hi\n',
    };
    await shop.apply({ ...shopFiles(), ...acme });
    const made = await shop.api<{ key: string }>('POST', '/v1/workspaces/acme/api-keys', { name: 'backend' });
    const hi = await request<{ id: string }>(`${shop.product.gatewayUrl}/events/acme/hello.hi`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.body.key}`, 'content-type': 'application/json' },
      body: '{"kind":"hi","email":"gone@example.com"}',
    });
    await untilFound('somebody of acme was told', async () => {
      const { stdout } = await shop.run(['deliveries', '--event', hi.body.id, '--state', 'SENT']);
      return stdout.includes('gone@example.com') || undefined;
    });
    const nobody = await shop.run(['deliveries', '--event', `evt_${'0'.repeat(26)}`]);
    expect(nobody).toMatchObject({ code: 1 });
    expect(nobody.stderr).toContain('there is no event evt_0000');

    // Somebody else is yet to be told, tomorrow.
    const later = acme['workspaces/acme/notifications/hello.yaml'].replace(
      'security:',
      'cadence: { delay: 1d }\nsecurity:',
    );
    await shop.apply({ ...shopFiles(), ...acme, 'workspaces/acme/notifications/hello.yaml': later });
    await request(`${shop.product.gatewayUrl}/events/acme/hello.hi`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.body.key}`, 'content-type': 'application/json' },
      body: '{"kind":"hi","email":"waits@example.com"}',
    });
    await untilFound('somebody else waits', async () => {
      const { stdout } = await shop.run(['deliveries', '--state', 'WAITING']);
      return stdout.includes('waits@example.com') || undefined;
    });

    const own = writeFiles(join(shop.folder, 'own'), shopFiles());
    const env = { CARILLON_WORKSPACE: 'shop' };
    for (const [line, options] of [
      [['apply', '-f', own, '--workspace', 'shop', '--prune', '--yes'], {}],
      [['apply', '-f', own, '--prune', '--yes'], { env }],
    ] as const) {
      expect(await shop.run(line, options)).toMatchObject({ code: 0, stderr: '' });
      expect(await exported()).toHaveProperty(['workspaces/acme/workspace.yaml']);
    }
    const both = writeFiles(join(shop.folder, 'both'), { ...shopFiles(), ...acme });
    const refused = await shop.run(['apply', '-f', both, '--workspace', 'shop', '--prune', '--yes']);
    expect(refused.code).toBe(2);
    expect(refused.stdout).toMatch(/workspaces\/acme\/\S+:1:1 this is workspace acme, and only shop is to be applied/);
    const mistyped = await shop.run(['apply', '-f', both, '--workspace', 'shpo']);
    expect(mistyped).toMatchObject({ code: 2 });
    expect(mistyped.stderr).toContain('the folder holds no workspace shpo; did you mean shop?');
    await shop.run(['export', join(shop.folder, 'acme'), '--workspace', 'acme']);
    expect(readdirSync(join(shop.folder, 'acme'))).toEqual(['workspaces']);
    expect(readdirSync(join(shop.folder, 'acme/workspaces'))).toEqual(['acme']);

    // What goes is named, with how many people were notified by it.
    const asked = await shop.run(['apply', '-f', own, '--prune']);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toMatch(
      /^ {2}notification acme\/hello \(1 person was told under it; what waits for 1 person is not sent then\)$/m,
    );
    expect(asked.stderr).toMatch(
      /^ {2}workspace acme \(1 person was told under it; what waits for 1 person is not sent then\)$/m,
    );
    expect(asked.stderr).toMatch(/^ {2}template acme\/hello$/m);
    const pruned = await shop.run(['apply', '-f', own, '--prune', '--yes']);
    expect(pruned.stdout).toMatch(/- notification acme\/hello +\(1 person was told under it; what waits/);
    expect(await exported()).not.toHaveProperty(['workspaces/acme/workspace.yaml']);
  });

  it('applies nothing if one change is refused', async () => {
    const before = await number();
    const files = { ...limit(700), 'workspaces/shop/streams/orders.yaml': 'security: { api_keys: [backend] }\n' };
    const { body } = await shop.api<AppliedBody>('POST', '/v1/configuration/apply', { files, prune: false });
    expect(body).toMatchObject({ applied: false, new_number: null });
    expect(body.faults).toMatchObject([{ file: 'workspaces/shop/streams/orders.yaml' }]);
    expect(await number()).toBe(before);
  });

  it('refuses to remove a resource that is still needed', async () => {
    const { 'workspaces/shop/streams/orders.yaml': _gone, ...rest } = shopFiles();
    const { status, body } = await shop.api<AppliedBody>('POST', '/v1/configuration/apply', {
      files: rest,
      prune: true,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ applied: false });
    expect(body.faults.map((fault) => fault.file)).toContain(RULE);
  });
});

describe('export', () => {
  it('and apply come out even, in an empty folder or with --force', async () => {
    const folder = join(shop.folder, 'export');
    const first = await shop.run(['export', folder]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const diff = await shop.run(['diff', '-f', folder]);
    expect(diff.stdout).toMatch(/^nothing would change/);
    const before = await number();
    expect((await shop.run(['apply', '-f', folder])).stdout).toBe(`nothing to change (configuration ${before})\n`);
    const again = await shop.run(['export', folder]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('--force');
    expect(await shop.run(['export', folder, '--force'])).toMatchObject({ code: 0 });
  });

  it('keeps the comments, the order and the backend of files that are there', async () => {
    const folder = join(shop.folder, 'commented');
    await shop.run(['export', folder]);
    const start = join(folder, 'carillon.yaml');
    const rule = join(folder, RULE);
    const commented = `# Why we tell people.\n${readFileSync(rule, 'utf8')}`;
    writeFileSync(rule, commented.replace(/^enabled: .*\n/m, '').concat('category: old # goes\n'));
    writeFileSync(start, 'single_broker: true # here\nbackend: embedded\n');
    expect(await shop.run(['export', folder, '--force'])).toMatchObject({ code: 0 });
    expect(readFileSync(rule, 'utf8')).toBe(commented);
    expect(readFileSync(start, 'utf8')).toContain('single_broker: true # here\nbackend: embedded\n');
  });

  it('contains ids, so that a rename notifies nobody again, and warns if a file without id replaces a resource', async () => {
    const told = order('N-1', { email: 'n1@example.com' });
    const first = await shop.delivered(await shop.send(told), 'SENT');
    const folder = join(shop.folder, 'rename');
    await shop.run(['export', folder]);
    const text = readFileSync(join(folder, RULE), 'utf8');
    expect(text).toMatch(/^id: /m);
    const { [RULE]: _old, ...others } = await exported();
    const renamed = { ...others, 'workspaces/shop/notifications/order-settled.yaml': text };
    const { body } = await shop.api<AppliedBody>('POST', '/v1/configuration/apply', { files: renamed, prune: true });
    expect(body).toMatchObject({ applied: true, faults: [] });
    expect(body.changes.some((change) => /nobody has had it yet/.test(change.note ?? ''))).toBe(false);
    const again = await shop.delivered(await shop.send(told));
    expect(again).toMatchObject({ state: 'SUPPRESSED', reason: 'duplicate', duplicate_of: first.id });

    const plain = shopFiles()[RULE] ?? '';
    const replaced = await shop.api<AppliedBody>('POST', '/v1/configuration/plan', {
      files: { ...others, 'workspaces/shop/notifications/order-done.yaml': plain },
      prune: true,
    });
    expect(replaced.body.changes.map((change) => change.note).join()).toContain('nobody has had it yet');
  });
});
