import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import type { DeliveryBody, SecretBody } from '@carillon/contracts';
import { cli, startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, shopFiles, smtpDeployment, writeFiles, type Shop } from './shop.ts';

const MAIN = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));
/** Everything that moves a cursor or turns text around, but for the line ends that we write. */
const UNSEEN = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/;

let smtp: ScriptedSmtp;
let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  // Addresses decide what becomes of a message: taken, refused for good, refused for now, or nobody knows.
  smtp = await startScriptedSmtp({
    script: ({ stage, line, raw }) => {
      if (stage === 'rcpt' && line.includes('refused')) return '550 5.1.1 no such user';
      if (stage === 'rcpt' && line.includes('later@')) return '450 4.2.0 come again';
      return stage === 'dot' && raw.includes('Ghost') ? { ending: 'drop' } : undefined;
    },
  });
  shop = await openShop({ files: shopFiles({ deployment: smtpDeployment(smtp.port) }) });
});
afterAll(async () => {
  await shop.close();
  await smtp.stop();
});

const list = async (...args: string[]): Promise<readonly DeliveryBody[]> => {
  const { code, stdout, stderr } = await shop.run(['deliveries', '--json', ...args]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return (JSON.parse(stdout) as { items: DeliveryBody[] }).items;
};

describe('The list of deliveries', () => {
  it('is narrowed by each filter', async () => {
    const sent = await shop.send(order('F-1', { email: 'f1@example.com' }));
    await shop.delivered(sent, 'SENT');
    const refused = await shop.send(order('F-2', { email: 'refused@example.com' }));
    const { updated_at: between } = await shop.delivered(refused, 'FAILED');

    expect((await list('--recipient', 'f1@example.com')).map((one) => one.event_id)).toEqual([sent]);
    expect((await list('--unique-id', 'F-2')).map((one) => one.event_id)).toEqual([refused]);
    expect((await list('--event', sent)).map((one) => one.to)).toEqual(['f1@example.com']);
    expect((await list('--state', 'failed')).map((one) => one.event_id)).toEqual([refused]);
    expect((await list('--notification', 'order-paid')).length).toBeGreaterThanOrEqual(2);
    expect(await list('--since', '2099-01-01T00:00:00Z')).toEqual([]);
    expect((await list('--since', '1h')).length).toBeGreaterThanOrEqual(2);
    expect(between).toMatch(/Z$/);
    // Newest first, a page at a time.
    const first = JSON.parse((await shop.run(['deliveries', '--json', '--limit', '1'])).stdout) as {
      items: DeliveryBody[];
      next: string;
    };
    expect(first.items).toHaveLength(1);
    const [second] = await list('--limit', '1', '--cursor', first.next);
    expect(second?.id).not.toBe(first.items[0]?.id);
  });

  it('shows a duplicate with the delivery that holds its slot', async () => {
    const first = await shop.delivered(await shop.send(order('D-1', { email: 'd1@example.com' })), 'SENT');
    const again = await shop.send(order('D-1', { email: 'd1@example.com' }));
    const row = await shop.delivered(again, 'SUPPRESSED');
    expect(row).toMatchObject({ reason: 'duplicate', duplicate_of: first.id });
    const { stdout } = await shop.run(['deliveries', '--event', again]);
    // The id is one that `trace` takes, and the event the one that asked again.
    expect(stdout).toMatch(new RegExp(`${first.id} +SUPPRESSED +duplicate .*${again}`));
  });
});

describe('An operator', () => {
  it('cancels what waits, and only that', async () => {
    const waiting = await shop.putOff(await shop.send(order('O-1', { email: 'later@example.com' })));
    expect((await list('--event', waiting.event_id ?? ''))[0]?.attempts[0]?.verdict).toBeDefined();
    const cancelled = await shop.run(['deliveries', 'cancel', waiting.id]);
    expect(cancelled).toMatchObject({ code: 0, stderr: '' });
    expect(cancelled.stdout).toContain(`${waiting.id} called off: CANCELLED (operator_cancel)`);
    const again = await shop.run(['deliveries', 'cancel', waiting.id]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('only WAITING and COLLECTED can be cancelled; this is CANCELLED');
  });

  it('sends again what failed, once the address is no longer suppressed', async () => {
    const address = 'refused-2@example.com';
    const failed = await shop.delivered(await shop.send(order('O-2', { email: address })), 'FAILED');
    // What failed is told a moment before its address is suppressed.
    await untilFound('its suppression', async () => {
      const { stdout } = await shop.run(['suppressions', 'list']);
      return new RegExp(`email +${address}`).test(stdout) || undefined;
    });
    expect(await shop.run(['suppressions', 'remove', address.toUpperCase()])).toMatchObject({ code: 0 });
    smtp.follow(() => undefined);
    expect(await shop.run(['deliveries', 'resend', failed.id])).toMatchObject({ code: 0 });
    const sent = await shop.delivered(failed.event_id ?? '', 'SENT');
    expect(sent.history.map((one) => one.reason)).toContain('operator_resend');
    const again = await shop.run(['deliveries', 'resend', failed.id]);
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toContain('this is SENT');
  });

  it('ends a doubt by what they know, with their reason', async () => {
    smtp.follow(({ stage, raw }) => (stage === 'dot' && raw.includes('Ghost') ? { ending: 'drop' } : undefined));
    const event = await shop.send(order('O-3', { name: 'Ghost', email: 'ghost@example.com' }));
    const doubt = await shop.delivered(event, 'IN_DOUBT');
    const doctor = await shop.run(['doctor']);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/FAIL {2}in doubt: 1 .*--state IN_DOUBT/);
    const line = ['deliveries', 'dismiss', doubt.id, '--as', 'sent', '--reason', 'Ada has it'];
    expect(await shop.run(line)).toMatchObject({ code: 0 });
    const [after] = await list('--event', event);
    expect(after).toMatchObject({ state: 'SENT', reason: 'operator_dismiss', detail: 'by owner: Ada has it' });
    expect(await shop.run(['doctor'])).toMatchObject({ code: 0 });
    const trace = await shop.run(['trace', event]);
    for (const step of ['event', 'trigger', 'intent', 'delivery', 'attempt'])
      expect(trace.stdout).toMatch(new RegExp(`  ${step} `));
    expect(trace.stdout).toContain('order-paid.paid v');
  });

  it('opens contents of event and message, also for mail sent over SMTP', async () => {
    const event = await shop.send({ ...order('C-1', { email: 'open@example.com' }), note: 'x\n'.repeat(3000) });
    const { id } = await shop.delivered(event, 'SENT');
    for (const of of [event, id]) {
      const { code, stdout } = await shop.run(['trace', of, '--content']);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^ {4}"email": "open@example\.com",?  ← order-paid\.paid to\.email/m);
      expect(stdout).toMatch(/what went out  dlv_\w+, email by template order-paid version \d+, rendered again/);
      expect(stdout).toMatch(/^  subject  .*C-1/m);
      expect(stdout).toContain('queued as');
    }
    const folded = await shop.run(['trace', event, '--content', '--json']);
    const whole = await shop.run(['trace', event, '--content', '--whole', '--json']);
    const linesOf = (text: string) =>
      (JSON.parse(text) as { content: { event: { lines: { text: string }[]; next: string | null } } }).content.event;
    expect(linesOf(whole.stdout).next).toBeNull();
    expect(linesOf(folded.stdout).lines.length).toBeLessThanOrEqual(40);
    const again = linesOf(whole.stdout).lines.map(({ text }) => text);
    expect(JSON.parse(again.join('\n').replaceAll(/\n *…/g, ''))).toMatchObject({ note: 'x\n'.repeat(3000) });
  });
});

describe('--follow', () => {
  it.each(['SIGINT'] as const)(
    'prints existing and new rows as JSON lines, and exits on %s with code 0',
    async (signal) => {
      const child = spawn(process.execPath, [
        MAIN,
        'events',
        '--follow',
        '--json',
        '--limit',
        '5',
        '--data-dir',
        shop.dataDir,
      ]);
      let stdout = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      const ids = (): string[] =>
        stdout
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => (JSON.parse(line) as { id: string }).id);
      await untilFound('the first rows', () => (ids().length >= 5 ? true : undefined));
      // More at once than one page holds: none of them may be missed.
      const sent = await Promise.all(
        Array.from({ length: 23 }, (_, at) => shop.send(order(`B-${at}`, { status: 'open' }))),
      );
      await untilFound('every new row', () => (sent.every((id) => ids().includes(id)) ? true : undefined));
      child.kill(signal);
      const [code] = (await once(child, 'close')) as [number | null];
      expect(code).toBe(0);
      expect(new Set(ids()).size).toBe(ids().length);
    },
  );
});

it('read commands cover all workspaces, ids need none, and write commands require one', async () => {
  const { api } = shop;
  await api('POST', '/v1/workspaces/club/api-keys', { name: 'club-key', new_workspace: true });
  const event = await shop.send(order('W-1', { email: 'wide@example.com' }));
  const { id } = await shop.delivered(event, 'SENT');
  const all = await shop.run(['deliveries', '--recipient', 'WIDE@']);
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(all.stdout).toMatch(/^created +workspace +delivery/);
  expect(all.stdout).toMatch(new RegExp(` shop +${id} +SENT`));
  for (const line of [['events'], ['dead-letters'], ['suppressions', 'list'], ['rule', 'sample', 'order-paid.paid']]) {
    expect(await shop.run(line), line.join(' ')).toMatchObject({ code: 0, stderr: '' });
  }
  expect((await shop.run(['trace', id])).stdout).toContain('order-paid.paid v');
  expect((await shop.run(['trace', event], { env: { CARILLON_WORKSPACE: 'club' } })).stdout).toContain('  event ');
  expect(await shop.run(['deliveries', '--workspace', 'club'])).toMatchObject({ code: 0, stdout: 'no deliveries\n' });
  const env = { CARILLON_WORKSPACE: 'club' };
  expect(await shop.run(['deliveries'], { env })).toMatchObject({ code: 0, stdout: 'no deliveries\n' });
  const one = await shop.run(['deliveries', '--workspace', 'shop'], { env });
  expect(one.stdout).toMatch(/^created +delivery/);
  const asked = await shop.run(['api-key', 'create', 'third']);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toMatch(/--workspace or CARILLON_WORKSPACE: (club, shop|shop, club)/);
  const { stdout } = await shop.run(['api-key', 'list', '--workspace', 'club', '--json']);
  expect((JSON.parse(stdout) as { items: unknown[] }).items).toMatchObject([{ name: 'club-key', used_by: [] }]);
});

it('an unknown name is refused with the nearest name, and creates nothing', async () => {
  for (const [line, words] of [
    [['deliveries', '--workspace', 'shpo'], 'there is no workspace shpo; did you mean shop?'],
    [['deliveries', '--notification', 'order-payed'], 'did you mean order-paid?'],
    [['deliveries', '--rule', 'order-paid.payed'], 'did you mean order-paid.paid?'],
    [['deliveries', '--state', 'sended'], 'there is no state SENDED'],
    [['events', '--stream', 'shop/order'], 'did you mean shop/orders?'],
    [['deliveries', '--since', 'tomorow'], 'from: expected 2h, today, yesterday'],
    [['deliveries', '--limit', '0'], 'limit: takes a whole number from 1 to 500'],
    [['api-key', 'create', 'backend', '--workspace', 'shpo'], 'there is no workspace shpo; did you mean shop?'],
  ] as const) {
    const { code, stderr } = await shop.run(line);
    expect({ line, isRefused: code === 1 || code === 2 }).toEqual({ line, isRefused: true });
    expect(stderr).toContain(words);
  }
  expect((await shop.run(['api-key', 'list', '--workspace', 'shpo'])).code).toBe(1);
  expect(await list('--since', 'yesterday', '--recipient', 'Wide@Example.com')).toHaveLength(1);
});

it('a printed command runs unchanged, wherever the data folder is', async () => {
  const { stdout } = await shop.run(['send', 'shop/orders'], {
    env: { CARILLON_API_KEY: shop.key },
    input: JSON.stringify(order('R-1', { email: 'printed@example.com' })),
  });
  const [, event = '', command = ''] = /^(evt_\w+)\nnpx carillon (.*)$/m.exec(stdout) ?? [];
  expect(command).toBe(`trace ${event} --data-dir ${shop.dataDir}`);
  await shop.delivered(event, 'SENT');
  expect((await cli(command.split(' '))).stdout).toContain('order-paid.paid v');
});

describe('send', () => {
  const send = (stream: string, input: string) =>
    shop.run(['send', stream], { env: { CARILLON_API_KEY: shop.key }, input });

  it.each([
    ['orders', '{}', 2, 'name the stream with its workspace: shop/orders'],
    ['shop/order', '{}', 1, 'there is no stream shop/order; did you mean shop/orders?'],
    ['order', '{}', 1, 'there is no stream order; did you mean shop/orders?'],
    ['shop/orders', '{\n  "order_id": "S-1",\n}', 1, '(line 3, column 1)'],
  ])('%s %j ends with the advice that helps', async (stream, input, code, words) => {
    const sent = await send(stream, input);
    expect(sent).toMatchObject({ code, stdout: '' });
    expect(sent.stderr).toContain(words);
  });

  it('takes the workspace from the shell', async () => {
    const options = {
      env: { CARILLON_API_KEY: shop.key, CARILLON_WORKSPACE: 'shop' },
      input: JSON.stringify(order('S-2', { status: 'open' })),
    };
    expect(await shop.run(['send', 'orders'], options)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('rule test', () => {
  it('judges an event that is on the log, also by a folder that is not published', async () => {
    const event = await shop.send(order('T-1', { total: 90, email: 'tried@example.com' }));
    await shop.judged(event);
    const line = ['rule', 'test', 'order-paid.paid', '--event', event];
    const published = await shop.run([...line, '--expect', 'fires']);
    expect(published).toMatchObject({ code: 1 });
    expect(published.stdout).toMatch(/event\.total > 100 .*false/);
    expect(published.stderr).toContain('expected fires: does not fire (not_fired)');
    expect(await shop.run([...line, '--expect', 'nothing'])).toMatchObject({ code: 0, stderr: '' });

    const rule = 'workspaces/shop/notifications/order-paid.yaml';
    const files = shopFiles();
    const cheaper = { ...files, [rule]: (files[rule] ?? '').replace('> 100', '> 50') };
    const folder = writeFiles(join(shop.folder, 'cheaper'), cheaper);
    const before = (await shop.api<{ config_number: number }>('GET', '/v1/status')).body.config_number;
    const tried = await shop.run([...line, '-f', folder, '--expect', 'fires']);
    expect(tried).toMatchObject({ code: 0, stderr: '' });
    expect(tried.stdout).toContain('not published, stream shop/orders');
    expect(tried.stdout).toContain('tried@example.com');
    // Nothing was published, kept or sent.
    const after = (await shop.api<{ config_number: number }>('GET', '/v1/status')).body.config_number;
    expect(after).toBe(before);
    expect(await shop.run([...line, '--expect', 'fires'])).toMatchObject({ code: 1 });
    expect(await shop.deliveries(`&event=${event}`)).toEqual([]);
  });

  it('says of a folder with mistakes where they are', async () => {
    const rule = 'workspaces/shop/notifications/order-paid.yaml';
    const folder = writeFiles(join(shop.folder, 'broken'), { ...shopFiles(), [rule]: 'rules: 5\n' });
    const line = ['rule', 'test', 'order-paid.paid', '--event', '-', '-f', folder];
    const { code, stderr } = await shop.run(line, { input: '{}' });
    expect(code).toBe(2);
    expect(stderr).toContain(`${rule}:1:8 5 does not fit`);
  });

  it('folds long bodies, unless asked for all', async () => {
    const text = 'workspaces/shop/templates/order-paid/email.txt';
    const long = Array.from({ length: 40 }, (_, at) => `Line ${at}\n`).join('');
    const folder = writeFiles(join(shop.folder, 'long'), { ...shopFiles(), [text]: long });
    const line = ['rule', 'test', 'order-paid.paid', '--event', '-', '-f', folder];
    const input = JSON.stringify(order('T-2'));
    const folded = await shop.run(line, { input });
    expect(folded.stdout).toMatch(/Line 11\n.*more lines: --full/);
    expect(folded.stdout).not.toContain('Line 20');
    expect((await shop.run([...line, '--full'], { input })).stdout).toContain('Line 39');
  });
});

it('control characters in data cannot move the cursor of the terminal', async () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\u009b1mX\u202Egnp.exe\r\nHTTP';
  const event = await shop.send(order(evil, { email: 'evil@example.com', name: evil, total: 500 }));
  await shop.delivered(event, 'SENT');
  const file = join(shop.folder, 'evil.json');
  const lines: readonly (readonly string[])[] = [
    ['deliveries', '--event', event],
    ['deliveries', '--event', event, '--json'],
    ['trace', event],
    ['trace', event, '--json'],
    ['trace', event, '--content'],
    ['trace', event, '--content', '--whole'],
    ['events', '--json'],
    ['rule', 'test', 'order-paid.paid', '--event', '-', '--html'],
    ['trace', `evt_${evil}`],
    ['account', 'check', evil],
    ['apply', '-f', file],
  ];
  for (const line of lines) {
    const options = line[0] === 'rule' ? { input: JSON.stringify(order(evil, { [evil]: evil })) } : {};
    const { stdout, stderr } = await shop.run([...line, '--workspace', 'shop'], options);
    expect(`${stdout}${stderr}`, line.join(' ')).not.toMatch(UNSEEN);
    expect(`${stdout}${stderr}`).not.toBe('');
  }
});

describe('Keys and secrets', () => {
  it('a secret comes from standard input and is never shown again', async () => {
    const value = 'canary-secret-8861';
    const set = await shop.run(['secret', 'set', 'SMTP_PASSWORD', '--workspace', 'shop'], { input: `${value}\n` });
    expect(set).toMatchObject({ code: 0, stderr: '' });
    const listed = await shop.run(['secret', 'list', '--json']);
    const [secret] = (JSON.parse(listed.stdout) as { items: SecretBody[] }).items;
    expect(secret).toMatchObject({ workspace: 'shop', name: 'SMTP_PASSWORD' });
    for (const text of [set.stdout, listed.stdout, (await shop.run(['secret', 'list'])).stdout]) {
      expect(text).not.toContain(value);
    }
    const empty = await shop.run(['secret', 'set', 'SMTP_PASSWORD', '--workspace', 'shop'], { input: '' });
    expect(empty).toMatchObject({ code: 2, stdout: '' });
    expect(empty.stderr).toContain('standard input is empty');
    expect(await shop.run(['secret', 'remove', 'SMTP_PASSWORD', '--workspace', 'shop'])).toMatchObject({ code: 0 });
  });

  it('a key is shown once, and its name cannot be taken twice', async () => {
    const made = await shop.run(['api-key', 'create', 'twice', '--workspace', 'shop', '--json']);
    const { key } = JSON.parse(made.stdout) as { key: string };
    expect(key).toMatch(/^cln_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    const again = await shop.run(['api-key', 'create', 'twice', '--workspace', 'shop']);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/API key twice exists already; revoke it first/);
    const listed = await shop.run(['api-key', 'list', '--workspace', 'shop']);
    expect(listed.stdout).toContain(key.slice(0, 12));
    expect(listed.stdout).not.toContain(key.slice(13, 45));
  });
});
