import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { buildProgram } from '@carillon/cli';
import { cli } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, type Shop, shopFiles, writeFiles } from './shop.ts';

const MAIN = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));

let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

type Command = ReturnType<typeof buildProgram>;

/** The command lines of a program, each with its help. */
const helpOf = (command: Command, path: readonly string[] = []): readonly (readonly [string, string])[] => [
  [path.join(' '), command.helpInformation()],
  ...command.commands.flatMap((below) => helpOf(below, [...path, below.name()])),
];

describe('Every command', () => {
  it.each([[[]], [['deliveries']], [['api-key']], [['api-key', 'create']]])(
    '%j lists its options with --help',
    async (path) => {
      const said = helpOf(buildProgram()).find(([name]) => name === path.join(' '));
      expect(await cli([...path, '--help'])).toMatchObject({ code: 0, stdout: said?.[1], stderr: '' });
    },
  );

  it('says in its help that it prints JSON', () => {
    const commands = helpOf(buildProgram());
    const names = commands.map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'up',
        'apply',
        'diff',
        'export',
        'api-key create',
        'api-key list',
        'api-key revoke',
        'secret set',
        'secret list',
        'secret remove',
        'secret rotate',
        'send',
        'events',
        'deliveries',
        'deliveries resend',
        'deliveries cancel',
        'deliveries dismiss',
        'dead-letters',
        'dead-letters redrive',
        'dead-letters dismiss',
        'receipts list',
        'receipts show',
        'receipts dismiss',
        'suppressions list',
        'suppressions add',
        'suppressions remove',
        'suppressions import',
        'suppressions export',
        'consents list',
        'consents show',
        'consents set',
        'consents import',
        'consents export',
        'trace',
        'why',
        'why-not',
        'rule test',
        'rule sample',
        'test',
        'events fields',
        'state show',
        'template preview',
        'template test-send',
        'cadence explain',
        'drafts list',
        'drafts review',
        'drafts publish',
        'drafts discard',
        'promote',
        'integration show',
        'integration waiting',
        'account check',
        'integration check',
        'jwt-provider list',
        'jwt-provider check',
        'doctor',
        'owner-link',
        'backup',
        'restore',
        'erasures list',
        'erasures export',
        'erasures apply',
        'mend',
        'move export',
        'move import',
      ]),
    );
    const groups = new Set([
      '',
      'api-key',
      'secret',
      'receipts',
      'suppressions',
      'consents',
      'state',
      'rule',
      'account',
      'integration',
      'jwt-provider',
      'move',
      'replay',
      'erasures',
      'cadence',
      'template',
      'drafts',
      'jobs',
      'audit',
      'people',
      'members',
      'tokens',
    ]);
    const mute = commands.filter(([name, help]) => !groups.has(name) && !help.includes('--json'));
    expect(mute.map(([name]) => name)).toEqual([]);
  });

  it('prints only valid JSON with --json', async () => {
    const event = await shop.send(order('json-1', { email: 'json@example.com' }));
    const { id } = await shop.delivered(event, 'SENT');
    const folder = writeFiles(join(shop.folder, 'json'), shopFiles());
    const sample = join(writeFiles(shop.folder, { 'order.json': JSON.stringify(order('json-2')) }), 'order.json');
    const lines: readonly (readonly string[])[] = [
      ['events'],
      ['deliveries'],
      ['dead-letters'],
      ['receipts', 'list', '--parked'],
      ['suppressions', 'list'],
      ['consents', 'list'],
      ['consents', 'show', 'ada@example.com'],
      ['trace', event],
      ['trace', id],
      ['why', 'json@example.com'],
      ['api-key', 'list'],
      ['secret', 'list'],
      ['doctor'],
      ['owner-link'],
      ['diff', '-f', folder],
      ['apply', '-f', folder],
      ['export', join(shop.folder, 'exported')],
      ['rule', 'test', 'order-paid.paid', '--event', sample],
      ['send', 'shop/orders', '--file', sample],
      ['account', 'check', 'default'],
      ['jwt-provider', 'list'],
      ['backup', join(shop.folder, 'json.backup')],
      ['restore', join(shop.folder, 'json.backup'), '--no-erasures'],
    ];
    for (const line of lines) {
      const options = line[0] === 'restore' ? { dataDir: join(shop.folder, 'restored') } : { dataDir: shop.dataDir };
      const env = { CARILLON_API_KEY: shop.key };
      const { code, stdout, stderr } = await cli([...line, '--json'], { ...options, env });
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
      expect(() => JSON.parse(stdout) as unknown, line.join(' ')).not.toThrow();
    }
  });
});

describe.concurrent('A wrong call ends with code 2 and the fix', () => {
  it.each([
    [['nope'], /unknown command 'nope'/],
    [['deliveries', 'resnd', 'dlv_1'], /too many arguments/],
    [['deliveries', 'resend'], /name the deliveries, or pass --all with filters/],
    [['deliveries', '--stat', 'SENT'], /Did you mean --state/],
    [['deliveries', '--state', 'DONE'], /state: .*IN_DOUBT/],
    [['deliveries', '--since', 'tomorrow'], /from: .*yesterday.*RFC 3339/],
    [['deliveries', '--limit', 'many'], /limit: /],
    [['deliveries', '--limit', '0'], /limit: /],
    [['deliveries', 'dismiss', 'dlv_1', '--as', 'lost', '--reason', 'x'], /--as must be failed or sent/],
    [['deliveries', 'dismiss', 'dlv_1', '--as', 'sent'], /--reason/],
    [['apply'], /-f, --file <dir>/],
    [['apply', '-f', 'no-such-folder'], /there is no folder no-such-folder/],
    [['rule', 'test', 'order-paid.paid'], /--event <event>/],
    [['rule', 'test', 'order-paid.paid', '--event', 'none.json'], /cannot read none\.json/],
    [['trace', 'A-1001'], /evt_….*dlv_…/],
    [['send', 'shop/orders'], /set CARILLON_API_KEY, or pipe it in with --key -/],
    [
      ['send', 'shop/orders', '--key', 'cln_secret'],
      /--key takes the name of a variable, because a key on the command line is visible/,
    ],
    [['send', 'shop/orders', '--key', '-'], /standard input can be the key or the event, not both/],
    [['api-key', 'create', 'Not A Name'], /name: /],
    [['api-key', 'create', 'late', '--expires', 'tomorrow'], /expires_at: .*RFC 3339.*90d/],
    [['api-key', 'create', 'late', '--expires', '2020-01-01T00:00:00Z'], /expires_at: .*passed/],
    [['jwt-provider', 'check', 'auth', '--token-file', 'none.jwt'], /cannot read none\.jwt/],
    [['secret', 'set', 'lower_case'], /name: .*SMTP_PASSWORD/],
    [['events', '--url', 'example'], /--url .*http:\/\//],
  ])('%j', async (line, says) => {
    const { code, stdout, stderr } = await shop.run(line, { input: 'x' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('without a command, or with a group only, prints the help', async () => {
    for (const line of [[], ['api-key'], ['rule']]) {
      const { code, stderr } = await cli(line);
      expect({ line, code }).toEqual({ line, code: 2 });
      expect(stderr).toContain('Commands:');
    }
  });

  it('without a data folder names the options that set it', async () => {
    const { code, stderr } = await cli(['events'], { cwd: shop.folder });
    expect(code).toBe(2);
    expect(stderr).toMatch(/npm start.*--data-dir.*--url/);
  });
});

describe.concurrent('A failed command exits with code 1 and the reason', () => {
  it.each([
    [['trace', 'evt_00000000000000000000000000'], /no event evt_0+; a new one shows/],
    [['trace', 'dlv_00000000000000000000000000'], /no delivery/],
    [['deliveries', 'resend', 'dlv_00000000000000000000000000'], /no delivery/],
    [['deliveries', 'cancel', 'dlv_00000000000000000000000000'], /no delivery/],
    [['deliveries', 'dismiss', 'dlv_0', '--as', 'sent', '--reason', 'x'], /no delivery/],
    [['dead-letters', 'redrive', 'dead_0'], /no dead letter/],
    [['receipts', 'show', 'dead_0'], /no parked receipt/],
    [['receipts', 'dismiss', 'dead_0'], /no parked receipt/],
    [['dead-letters', 'dismiss', 'dead_0'], /no parked receipt/],
    [['api-key', 'revoke', 'nobody'], /no API key nobody/],
    [['secret', 'remove', 'NOT_THERE'], /no stored secret/],
    [['suppressions', 'remove', 'nobody@example.com'], /no such suppressed address/],
    [['account', 'check', 'nope'], /no account nope/],
    [['jwt-provider', 'check', 'nope'], /no JWT provider nope/],
    [['rule', 'test', 'order-paid.nope', '--event', '-'], /no rule order-paid\.nope/],
    [
      ['events', '--url', 'http://127.0.0.1:9', '--data-dir', '.'],
      /no server answers at http:\/\/127\.0\.0\.1:9 .*is Carillon running\?/,
    ],
  ])('%j', async (line, says) => {
    const { code, stdout, stderr } = await cli(line, {
      cwd: shop.folder,
      input: '{}',
      env: { CARILLON_DATA_DIR: shop.dataDir, CARILLON_TOKEN: shop.product.token },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(says);
  });

  it('prints the problem itself with --json', async () => {
    const { code, stdout, stderr } = await shop.run(['deliveries', 'resend', 'dlv_0', '--json']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ code: 'not_found', status: 404 });
  });

  it('distinguishes another program at the URL from a broken Carillon', async () => {
    const other = createServer((_request, response) => response.end('<html>hello</html>'));
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, stderr } = await cli(['events', '--url', url], { env: { CARILLON_TOKEN: 'x' } });
    other.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/not JSON: is this Carillon\?/);
  });
});

describe('The server is found', () => {
  it('by --url and CARILLON_TOKEN from anywhere, and a wrong token is refused', async () => {
    const { controlUrl, token } = shop.product;
    expect(await cli(['events', '--url', `${controlUrl}/`], { env: { CARILLON_TOKEN: token } })).toMatchObject({
      code: 0,
    });
    expect(await cli(['events'], { env: { CARILLON_URL: controlUrl, CARILLON_TOKEN: token } })).toMatchObject({
      code: 0,
    });
    const refused = await cli(['events', '--url', controlUrl], { env: { CARILLON_TOKEN: 'own_wrong' } });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('owner-token');
  });

  it('and the token of a data folder is sent to its own server only', async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((incoming, response) => {
      seen.push(incoming.headers.authorization);
      response.end('{}');
    });
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, stderr } = await cli(['doctor', '--url', url], { env: { CARILLON_DATA_DIR: shop.dataDir } });
    other.close();
    expect(code).toBe(2);
    expect(stderr).toContain('CARILLON_TOKEN');
    expect(seen).toEqual([]);
  });
});

it('output into a closed pipe ends quietly', async () => {
  const child = spawn(process.execPath, [MAIN, 'deliveries', '--follow', '--data-dir', shop.dataDir]);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.destroy();
  const ended = new Promise((resolve) => child.once('close', resolve));
  await shop.send(order('pipe-1', { email: 'pipe@example.com' }));
  expect(await ended).toBe(0);
  expect(stderr).toBe('');
});
