import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { cli, startProduct, startScriptedSmtp, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, request, scratch, shopFiles, smtpDeployment, writeFiles } from './shop.ts';

const MAIN = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));

let room: Awaited<ReturnType<typeof scratch>>;
beforeAll(async () => {
  room = await scratch();
});
afterAll(() => room.remove());

/** A process whose output we read as a person at a pipe does. */
function start(cwd: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, NO_COLOR: '1', ...more };
  const child = spawn(process.execPath, [MAIN, 'up', '--gateway-port', '0', '--control-port', '0', ...args], {
    cwd,
    env,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return {
    child,
    stderr: () => stderr,
    stdout: () => stdout,
    printed: (says: RegExp) => untilFound(`${says} on the screen`, () => (says.test(stdout) ? stdout : undefined)),
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'close');
      return child.exitCode;
    },
  };
}

/** `carillon up` that is expected not to stay: one that stays all the same must not outlive the test. */
async function up(name: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const started = start(room.folder, ['--data-dir', join(room.folder, name), ...args], env);
  const late = setTimeout(() => started.child.kill('SIGKILL'), 120_000);
  const [code] = (await once(started.child, 'close')) as [number | null];
  clearTimeout(late);
  return { code, stdout: started.stdout(), stderr: started.stderr() };
}

describe('The first start', () => {
  it('prints the screen and nothing else, and what it prints can be pasted', async () => {
    const { folder, remove } = await scratch();
    const began = Date.now();
    const first = start(folder, ['--demo']);
    try {
      const screen = await first.printed(/trace <the id it answered>.*\n/);
      expect(Date.now() - began).toBeLessThan(60_000);
      const lines = screen.split('\n').filter((line) => line.trim() !== '');
      expect(lines.map((line) => line.trim().split(/ {2,}|: /)[0])).toEqual([
        'Carillon 0.1.0',
        'Portal',
        'Events',
        'API key',
        'Rules',
        'Send one:',
        expect.stringMatching(/^curl -X POST http/),
        "-H 'Content-Type",
        'Then look',
      ]);
      expect(first.stderr()).toBe('');
      const [, url = ''] = /curl -X POST (\S+)/.exec(screen) ?? [];
      const [, key = ''] = /API key {4}(cln_\w+)/.exec(screen) ?? [];
      const [, body = ''] = /-d '(.*)'$/m.exec(screen) ?? [];
      const send = () =>
        request<{ id: string }>(url, {
          method: 'POST',
          body,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        });
      const sent = await Promise.all([send(), send()]);
      expect(sent.map(({ status }) => status)).toEqual([202, 202]);
      // The demo counts every event: the second paste sends too.
      await untilFound('two mails', async () => {
        const { stdout } = await cli(['deliveries', '--state', 'SENT', '--json'], { cwd: folder });
        return (JSON.parse(stdout) as { items: unknown[] }).items.length === 2 ? true : undefined;
      });
      expect(statSync(join(folder, 'carillon-data', 'owner-token')).mode & 0o777).toBe(0o600);
      expect(existsSync(join(folder, 'carillon-demo', 'carillon.yaml'))).toBe(true);
      const applied = await cli(['apply', '-f', 'carillon-demo'], { cwd: folder });
      expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nothing to change/) as unknown });
      expect(await first.stop()).toBe(0);
      expect(first.stdout()).toBe(screen);
      expect(first.stderr()).toBe('');

      const second = start(folder, ['--demo']);
      const later = await second.printed(/Events .*\n/);
      expect(await second.stop()).toBe(0);
      expect(later).not.toContain('cln_');
      expect(later).not.toContain('welcome#');
      expect(second.stderr()).toBe('');
    } finally {
      first.child.kill('SIGKILL');
      await remove();
    }
  });

  it('with mistakes in the demo folder lists all of them, creates nothing, and exits with code 2', async () => {
    const { folder, remove } = await scratch();
    writeFiles(join(folder, 'carillon-demo'), {
      ...shopFiles(),
      'workspaces/shop/workspace.yaml': 'nam: x\ntime_zone: Mars\n',
    });
    const line = ['up', '--demo', '--gateway-port', '0', '--control-port', '0'];
    const failed = await cli(line, { cwd: folder });
    expect(failed.code).toBe(2);
    expect(failed.stderr).toMatch(/carillon-demo\/workspaces\/shop\/workspace\.yaml:1:1 /);
    expect(failed.stderr).toMatch(/carillon-demo\/workspaces\/shop\/workspace\.yaml:2:\d+ /);
    writeFiles(join(folder, 'carillon-demo'), { 'workspaces/shop/workspace.yaml': 'name: x\n' });
    const mended = start(folder, ['--demo']);
    expect(await mended.printed(/API key {4}cln_/)).toContain('./carillon-demo');
    await mended.stop();
    await remove();
  });
});

it('a later start says what was recovered', async () => {
  const smtp = await startScriptedSmtp({ script: ({ stage }) => (stage === 'dot' ? { ending: 'hang' } : undefined) });
  const shop = await openShop({ files: shopFiles({ deployment: smtpDeployment(smtp.port) }) });
  try {
    const event = await shop.send(order('S-1'));
    await untilFound('a call under way', () => (smtp.accepted.length > 0 ? true : undefined));
    await shop.delivered(event, 'SENDING');
    await shop.product.kill('SIGKILL');
    const later = start(shop.folder, ['--data-dir', shop.dataDir]);
    const screen = await later.printed(/Events [^\n]*\n(.*\n)*.*write-ahead log.*\n/);
    expect(screen).toMatch(/1 in doubt: npx carillon deliveries --state IN_DOUBT/);
    expect(screen).toMatch(/did not stop in order: its write-ahead log, \d+ MiB, was read in \d+\.\d s/);
    const { items } = JSON.parse(
      (await cli(['deliveries', '--state', 'IN_DOUBT', '--json'], { dataDir: shop.dataDir })).stdout,
    ) as { items: unknown[] };
    expect(items).toMatchObject([{ event_id: event }]);
    expect(await later.stop()).toBe(0);
    expect(smtp.accepted).toHaveLength(1);
  } finally {
    await shop.close();
    await smtp.stop();
  }
});

describe('A refused start', () => {
  it('names the process that holds a port and the flag to change it, and releases the folder', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = String((holder.address() as AddressInfo).port);
    for (const flag of ['--gateway-port', '--control-port']) {
      const { code, stdout, stderr } = await up('port', [flag, port]);
      expect({ flag, code, stdout }).toEqual({ flag, code: 1, stdout: '' });
      expect(stderr).toContain(`127.0.0.1:${port} is held by process ${process.pid}`);
      expect(stderr).toContain(flag);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
    holder.close();
    const product = await startProduct({ dataDir: join(room.folder, 'port') });
    const held = await up('port');
    expect(held.code).toBe(1);
    expect(held.stderr).toMatch(new RegExp(`held by carillon up, pid ${product.pid} .*--data-dir`));
    expect((await fetch(`${product.gatewayUrl}/livez`)).status).toBe(200);
    expect(await product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('lists all wrong settings at once with code 2, before anything is created', async () => {
    const { code, stderr } = await cli(['up', '--gateway-port', 'x'], {
      dataDir: join(room.folder, 'settings'),
      env: {
        CARILLON_CONTROL_PORT: '70000',
        CARILLON_LOG_LEVEL: 'loud',
        CARILLON_TRACE_RATIO: '7',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector',
      },
    });
    expect(code).toBe(2);
    const names = [
      '--gateway-port',
      'CARILLON_CONTROL_PORT',
      'CARILLON_LOG_LEVEL',
      'CARILLON_TRACE_RATIO',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ];
    for (const name of names) expect(stderr).toContain(name);
    expect(stderr.match(/expected/g)).toHaveLength(5);
    expect(existsSync(join(room.folder, 'settings'))).toBe(false);
    const key = await up('master', [], { CARILLON_MASTER_KEY: 'short' });
    expect(key.code).toBe(2);
    expect(key.stderr).toMatch(/CARILLON_MASTER_KEY must be 32 bytes.*openssl/);
    expect(key.stderr).not.toContain('short');
  });

  it('names a folder that cannot be created, and an address that is not local', async () => {
    writeFileSync(join(room.folder, 'file'), '');
    const { code, stderr } = await up('file/data');
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot use the data folder .*file\/data .*--data-dir/);
    expect(await up('host', ['--host', '192.0.2.1'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('192.0.2.1') as unknown,
    });
  });

  it('names another ledger key, keys readable by everybody, data of a newer version, and unknown data', async () => {
    const made = await startProduct({ dataDir: join(room.folder, 'made') });
    await made.kill('SIGTERM');
    const copy = (name: string): string => {
      cpSync(join(room.folder, 'made'), join(room.folder, name), { recursive: true });
      return join(room.folder, name);
    };
    writeFileSync(join(copy('key'), 'keys', 'ledger.key'), `${'ab'.repeat(32)}\n`);
    const key = await up('key');
    expect(key.code).toBe(1);
    expect(key.stderr).toMatch(/keys\/ledger\.key is not the key that this data was written with.*backup/);

    writeFileSync(join(copy('torn'), 'keys', 'ledger.key'), '');
    expect(await up('torn')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ledger\.key cannot be used: .*64 hex/) as unknown,
    });

    const database = new DatabaseSync(join(copy('newer'), 'carillon.db'));
    database.exec('PRAGMA user_version = 9999');
    database.close();
    const newer = await up('newer');
    expect(newer.code).toBe(1);
    expect(newer.stderr).toMatch(/version 9999 .*newer program/);

    writeFileSync(join(copy('junk'), 'carillon.db'), 'this is not a database, whatever its name says. '.repeat(50));
    const junk = await up('junk');
    expect(junk.code).toBe(1);
    expect(junk.stderr).toMatch(/data folder/);
    expect(readFileSync(join(room.folder, 'junk', 'carillon.db'), 'utf8')).toContain('this is not a database');
    for (const { stderr } of [key, newer, junk]) expect(stderr).not.toMatch(/\n {4}at /);
  });
});
