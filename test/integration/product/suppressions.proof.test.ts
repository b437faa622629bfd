import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { PROGRAM } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, type Shop } from './shop.ts';

let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const list = async (...args: string[]) => (await shop.run(['suppressions', 'list', ...args])).stdout;

describe('A suppressed address', () => {
  it('gets no messages until it is removed, and each step names its author and the remaining entries', async () => {
    const added = await shop.run(['suppressions', 'add', 'Bob@Example.com', '--detail', 'asked by phone']);
    expect(added).toMatchObject({
      code: 0,
      stdout: 'Bob@Example.com gets nothing more: operator, by owner, asked by phone\n',
    });
    const file = join(shop.folder, 'more.csv');
    writeFileSync(file, '\ufeffaddress,note\r\n"BOB@example.com","a, b"\r\n');
    const imported = await shop.run(['suppressions', 'import', file, '--channel', 'email']);
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    expect(imported.stdout).toBe('1 row: 1 imported (1 new); ignored columns: note\n');
    const held = await shop.send(order('sup-1', { email: 'bob@example.com' }));
    expect(await shop.delivered(held, 'SUPPRESSED')).toMatchObject({ reason: 'suppressed_address' });
    const one = await shop.run(['suppressions', 'remove', 'bob@example.com', '--source', 'operator']);
    expect(one.stdout).toBe('bob@example.com still gets nothing: import, by owner\n');
    expect(await list('--address', 'BOB@EXAMPLE.COM')).toMatch(/import +owner/);
    const still = await shop.send(order('sup-2', { email: 'bob@example.com' }));
    await shop.delivered(still, 'SUPPRESSED');
    const all = await shop.run(['suppressions', 'remove', 'bob@example.com']);
    expect(all.stdout).toBe('bob@example.com may be sent to again\n');
    await shop.delivered(await shop.send(order('sup-3', { email: 'bob@example.com' })), 'SENT');
    expect(await shop.run(['suppressions', 'export', '-'])).toMatchObject({
      stdout: '"workspace","channel","address","source","detail","by","delivery_id","at"\r\n',
    });
  });

  it.each([
    ['0171 1234567', /a phone number begins with \+/],
    ['+49171123456789012', /it is no phone number in international form/],
    ['+49 CALL NOW', /it is no phone number in international form/],
    ['ada@localhost', /it is no email address/],
  ])('is refused if it is invalid: %j', async (address, words) => {
    const { code, stderr } = await shop.run(['suppressions', 'add', address]);
    expect(code).toBe(2);
    expect(stderr).toMatch(words);
  });
});

const ROWS = 500_000;
const MEBIBYTE = 1024;
/** The most memory that a process ever held, MiB. */
const peakOf = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / MEBIBYTE);
};

/** Room for objects of a command, in MiB: half a million rows would never fit. */
const ROOM = '--max-old-space-size=48';

/** Runs a command of any length, and looks at its memory until it ends. */
async function long(args: readonly string[]) {
  const child = spawn(process.execPath, [ROOM, PROGRAM, ...args, '--data-dir', shop.dataDir], { stdio: 'pipe' });
  let peak = 0;
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const looking = setInterval(() => {
    try {
      peak = Math.max(peak, peakOf(child.pid ?? 0));
    } catch {
      // It has just ended.
    }
  }, 100);
  const [code] = (await once(child, 'close')) as [number];
  clearInterval(looking);
  return { code, said, told, peak };
}

it(`${ROWS} rows are taken and written in bounded memory, with progress, and again with the same result`, async () => {
  const file = join(shop.folder, 'many.csv');
  const rows = createWriteStream(file);
  rows.write('\ufeffchannel,address,detail\r\n');
  for (let at = 0; at < ROWS; at += 1) {
    const address = at % 100_000 === 4 ? '0171 123' : `person-${at}@example.com`;
    if (!rows.write(`email,"${address}","row ""${at}"", kept"\r\n`)) await once(rows, 'drain');
  }
  rows.end();
  await once(rows, 'close');

  const before = peakOf(shop.product.pid);
  const first = await long(['suppressions', 'import', file]);
  const words = '500,000 rows: 499,995 taken';
  expect(first).toMatchObject({ code: 1, said: `${words} (499,995 new), 5 refused\n` });
  expect(first.told.match(/^.*many\.csv:\d+: address: it is no email address$/gm)).toHaveLength(5);
  expect(first.told).toContain(`${file}:400006: address`);
  expect(first.told).toContain('\n300,000 rows\n');
  const again = await long(['suppressions', 'import', file]);
  expect(again.said).toBe(`${words} (0 new), 5 refused\n`);

  const copy = join(shop.folder, 'copy.csv');
  const written = await long(['suppressions', 'export', copy]);
  expect(written).toMatchObject({ code: 0 });
  expect(readFileSync(copy, 'utf8').split('\r\n')).toHaveLength(ROWS - 5 + 2);
  const grown = peakOf(shop.product.pid) - before;
  console.log(`${ROWS} rows: command ${first.peak} MiB and ${written.peak} MiB, product grew by ${grown} MiB`);
  expect(grown).toBeLessThan(400);
}, 1_800_000);
