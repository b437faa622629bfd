import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, PROGRAMS } from '../support/requirements.ts';
import { embeddedHome } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * The pages for programs that send, executed: each block of code that names a file is that file, and the programs send to
 * the demo as they stand.
 */

const PAGES = ['send-every-change', 'send-batches', 'send-from-a-page', 'outbox'];
const pages = PAGES.map((name) => readFileSync(join(import.meta.dirname, `../../docs/${name}.md`), 'utf8')).join('\n');
const files = new Map(
  [...pages.matchAll(/^```\w+ ([\w.-]+)\n([^`]*(?:`[^`]+)*?)^```$/gm)].map(([, name = '', text = '']) => [name, text]),
);

let carillon: Carillon;
let folder = '';
beforeAll(async () => {
  carillon = await startCarillon(await embeddedHome());
  folder = await mkdtemp(join(tmpdir(), 'carillon-page-'));
  for (const [name, text] of files) await writeFile(join(folder, name), text);
});
afterAll(async () => {
  await carillon.leave();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program in the folder of their files, with nothing in the environment but what the pages name. */
async function run(command: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const env = {
    PATH: process.env['PATH'],
    EVENTS_URL: `${carillon.events}/shop/orders`,
    CARILLON_API_KEY: carillon.key,
    ...more,
  };
  const child = spawn(command, args, { cwd: folder, env, timeout: 120_000 });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (told += text));
  const code = await new Promise((settle) => child.once('close', settle));
  return { code, told };
}

const order = (id: string, more: object = {}) => ({
  order_id: id,
  status: 'paid',
  total: 150,
  customer: { name: 'Ada', email: `${id.toLowerCase()}@example.com` },
  ...more,
});

const subjectsTo = (address: string) =>
  untilFound(`a message to ${address}`, async () => {
    const found = (await carillon.inbox()).filter((message) => message.to === address);
    return found.length > 0 ? found.map((message) => message.subject) : undefined;
  });
/** Everything that was sent so far is in the list of events. */
const untilListed = () =>
  untilFound('a list without a backlog', async () => {
    const { out } = await carillon.command(['doctor']);
    return /control on carillon\.events: 0 records behind/.test(out) || undefined;
  });
const countEvents = async (): Promise<number> =>
  (await carillon.ask<{ items: readonly unknown[] }>(['events', '--limit', '500'])).items.length;

const anyEventId = expect.stringMatching(/^evt_/) as string;

it('finds the files of the pages', () => {
  expect([...files.keys()]).toEqual([
    'carillon.mjs',
    'orders.mjs',
    'send_many.sh',
    'cloud_event.sh',
    'saved-locally.mjs',
    'outbox.sql',
    'send_outbox.py',
  ]);
});

describe('many events in one request', () => {
  it('answers each event, and a repeat of the request notifies nobody again', async () => {
    for (const attempt of [1, 2]) {
      const { code, told } = await run('sh', ['send_many.sh']);
      expect(code, `${attempt}: ${told}`).toBe(0);
      expect(JSON.parse(told)).toEqual({ items: [{ id: anyEventId }, { id: anyEventId }] });
    }
    expect(await subjectsTo('m-1@example.com')).toHaveLength(1);
    expect(await subjectsTo('m-2@example.com')).toHaveLength(1);
  });
});

it('takes a CloudEvent, and its repeat notifies nobody again', async () => {
  for (const attempt of [1, 2]) {
    const { code, told } = await run('sh', ['cloud_event.sh']);
    expect(code, `${attempt}: ${told}`).toBe(0);
    expect(JSON.parse(told)).toEqual({ id: anyEventId });
  }
  expect(await subjectsTo('c-1@example.com')).toHaveLength(1);
});

describe('the persistence layer', () => {
  it('sends each saved order whole, and a rule tells who paid', async () => {
    const program = `import { saveOrder } from './orders.mjs';
      await saveOrder(${JSON.stringify(order('P-1', { status: 'open' }))});
      console.log(JSON.stringify(await saveOrder(${JSON.stringify(order('P-1'))})));`;
    const { code, told } = await run(process.execPath, ['--input-type=module', '-e', program]);
    expect(code, told).toBe(0);
    expect(JSON.parse(told)).toMatchObject({ order_id: 'P-1', version: 2 });
    expect(await subjectsTo('p-1@example.com')).toHaveLength(1);
  });

  it('stops at once with a wrong key, and shows the response', async () => {
    const program = `import { saveOrder } from './orders.mjs'; await saveOrder(${JSON.stringify(order('P-2'))});`;
    const wrong = { CARILLON_API_KEY: 'wrong' };
    const { code, told } = await run(process.execPath, ['--input-type=module', '-e', program], wrong);
    expect(code).not.toBe(0);
    expect(told).toContain('not sent: 401');
  });

  it('sends again under the same key while nobody answers', async () => {
    const program = `import { createServer } from 'node:http';
      import { sendChange } from './carillon.mjs';
      const keys = [];
      const server = createServer((request, response) => {
        keys.push(request.headers['idempotency-key']);
        if (keys.length === 1) return request.destroy();
        response.writeHead(keys.length === 2 ? 503 : 202, { 'Retry-After': '0' }).end();
      }).listen(0, '127.0.0.1', async () => {
        const url = 'http://127.0.0.1:' + server.address().port;
        await sendChange({ url, credential: 'x', event: {}, change: 'order/1/1' });
        console.log(keys.join(' '));
        server.close();
      });`;
    const { code, told } = await run(process.execPath, ['--input-type=module', '-e', program]);
    expect(code, told).toBe(0);
    expect(told.trim()).toBe('order/1/1 order/1/1 order/1/1');
  });
});

describe('the write to local storage', () => {
  it('keeps what is unsent, and sends it at the next visit, once', async () => {
    const visit = (then: string): string[] => [
      '--no-warnings',
      '--experimental-webstorage',
      `--localstorage-file=${join(folder, 'storage')}`,
      '--input-type=module',
      '-e',
      `import { saveLocally, sendUnsent } from './saved-locally.mjs'; ${then}`,
    ];
    const send = `await sendUnsent({ url: process.env.EVENTS_URL, credential: process.env.CARILLON_API_KEY });`;
    await untilListed();
    const before = await countEvents();
    const offline = await run(process.execPath, visit(`saveLocally('order', ${JSON.stringify(order('L-1'))});`));
    expect(offline.code, offline.told).toBe(0);
    for (const next of [1, 2]) {
      const online = await run(process.execPath, visit(send));
      expect(online.code, `${next}: ${online.told}`).toBe(0);
    }
    expect(await subjectsTo('l-1@example.com')).toHaveLength(1);
    await untilFound('its event', async () => ((await countEvents()) === before + 1 ? true : undefined));
  });
});

describeWith('python', 'the post-commit hook', () => {
  it('sends committed changes in order, and nothing that was rolled back', async () => {
    const setUp = `import sqlite3
database = sqlite3.connect("shop.db", isolation_level=None)
database.execute("CREATE TABLE orders (order_id TEXT PRIMARY KEY, status TEXT, total INTEGER, name TEXT, email TEXT)")
database.executescript(open("outbox.sql").read())
database.execute("BEGIN")
database.execute("INSERT INTO orders VALUES ('H-1', 'open', 150, 'Ada', 'h-1@example.com')")
database.execute("UPDATE orders SET status = 'paid'")
database.execute("COMMIT")
database.execute("BEGIN")
database.execute("INSERT INTO orders VALUES ('H-2', 'paid', 150, 'Bob', 'h-2@example.com')")
database.execute("ROLLBACK")
`;
    const made = await run(PROGRAMS.python.path, ['-c', setUp]);
    expect(made.code, made.told).toBe(0);
    await untilListed();
    const before = await countEvents();
    const refused = await run(PROGRAMS.python.path, ['send_outbox.py', 'shop.db'], { CARILLON_API_KEY: 'wrong' });
    expect(refused.told).toContain('401');
    for (const time of [1, 2]) {
      const sent = await run(PROGRAMS.python.path, ['send_outbox.py', 'shop.db']);
      expect(sent.code, `${time}: ${sent.told}`).toBe(0);
    }
    expect(await subjectsTo('h-1@example.com')).toHaveLength(1);
    await untilFound('both events', async () => ((await countEvents()) === before + 2 ? true : undefined));
    expect((await carillon.inbox()).map(({ to }) => to)).not.toContain('h-2@example.com');
  });
});
