import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type * as ClientPackage from '@carillon/client';
import { cli, startProduct, untilFound, type Product } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, order, shopFiles } from '../integration/product/shop.ts';
import { changelogOf } from '../../tools/changelog.ts';
import { writeClientPackage } from '../../tools/client-package.ts';
import { makeRelease } from '../../tools/release.ts';

const run = promisify(execFile);
const COMPILER = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

/** Somebody's program that uses the client; the last line is theirs. */
const PROGRAM = `import { createClient, type Sent } from '@carillon/client';
import { createManagementClient } from '@carillon/client/management';
const carillon = createClient({ url: 'https://events.example.com', credential: 'key' });
export const sent: Promise<Sent> = carillon.send('shop/orders', { total: 1 }, { key: 'order/1' });
const control = createManagementClient({ url: 'https://carillon.example.com', token: 'token' });
const { data } = await control.GET('/v1/workspaces/{workspace}/deliveries', { params: { path: { workspace: 'shop' } } });
`;

let place: string;
let out: string;
/** Where somebody installed both packages: a folder that knows nothing of this checkout. */
let home: string;
let product: Product | undefined;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'carillon-release-'));
  out = join(place, 'release');
  home = join(place, 'home');
  await makeRelease(out, () => undefined);
  await mkdir(home);
  await writeFile(join(home, 'package.json'), '{ "private": true, "type": "module" }\n');
  const packages = ['carillon-0.1.0.tgz', 'carillon-client-0.1.0.tgz'].map((name) => join(out, name));
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: home });
});
afterAll(async () => {
  await product?.kill('SIGKILL');
  await rm(place, { recursive: true, force: true });
});

const program = (): string => join(home, 'node_modules/carillon/carillon.js');
const clientPackage = async (): Promise<typeof ClientPackage> =>
  (await import(pathToFileURL(join(home, 'node_modules/@carillon/client/index.js')).href)) as typeof ClientPackage;

/** What the compiler says of a program in that folder; empty where it likes it. */
async function compiled(text: string): Promise<string> {
  await writeFile(join(home, 'program.ts'), text);
  const options = [
    '--noEmit',
    '--strict',
    '--ignoreConfig',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    '',
  ];
  return run(process.execPath, [COMPILER, 'program.ts', ...options], { cwd: home }).then(
    () => '',
    (error: unknown) => String((error as { readonly stdout?: unknown }).stdout ?? error),
  );
}

describe('The files of a release', () => {
  it('are listed with their checksums', async () => {
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out });
    expect(stdout.trim().split('\n')).toEqual([
      'carillon-0.1.0.tgz: OK',
      'carillon-client-0.1.0.tgz: OK',
      'carillon.cdx.json: OK',
      'CHANGELOG.md: OK',
    ]);
  });

  it('list components and changes', async () => {
    const bill = JSON.parse(await readFile(join(out, 'carillon.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string }[];
    };
    expect(bill.bomFormat).toBe('CycloneDX');
    const names = bill.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['kafkajs', 'mongodb', 'fastify']));
    expect(names).not.toContain('vitest');
    expect(await readFile(join(out, 'CHANGELOG.md'), 'utf8')).toMatch(/^# Carillon 0\.1\.0\n\n- .+\n/);
  });

  it('include a program that npx runs in an empty folder and that starts the product', async () => {
    expect(await cli(['--version'], { program: program() })).toMatchObject({ code: 0, stdout: '0.1.0\n' });
    product = await startProduct({ program: program(), dataDir: join(home, 'data'), cwd: home });
    const made = await caller(product)<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
    const applied = await caller(product)('POST', '/v1/configuration/apply', { files: shopFiles(), prune: false });
    expect(applied).toMatchObject({ status: 200, body: { faults: [] } });

    const { createClient, SendError } = await clientPackage();
    const client = createClient({ url: product.gatewayUrl, credential: made.body.key });
    const first = await client.send('shop/orders', order('A-1'), { key: 'order/A-1/1' });
    expect(await client.send('shop/orders', order('A-1'), { key: 'order/A-1/1' })).toMatchObject({ id: first.id });
    const refused = await client.send('shop/nowhere', order('A-2')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SendError);
    expect(refused).toMatchObject({ attempts: 1, mayPass: false });

    const { gatewayUrl, controlUrl } = product;
    const ports = { gateway: Number(new URL(gatewayUrl).port), control: Number(new URL(controlUrl).port) };
    await product.kill('SIGKILL');
    let repeats = 0;
    const patient = createClient({ url: gatewayUrl, credential: made.body.key, onRepeat: () => (repeats += 1) });
    const sending = patient.send('shop/orders', order('A-3'), { key: 'order/A-3/1', deadline: 120_000 });
    await untilFound('the client repeats', async () => (repeats > 0 ? true : undefined));
    product = await startProduct({ program: program(), dataDir: join(home, 'data'), cwd: home, ports });
    const late = await sending;
    expect(late.attempts).toBeGreaterThan(1);
    expect(await client.send('shop/orders', order('A-3'), { key: 'order/A-3/1' })).toMatchObject({ id: late.id });
    const told = await untilFound('both messages', async () => {
      const { items } = (
        await caller(product as Product)<{ items: { state: string }[] }>(
          'GET',
          '/v1/workspaces/shop/deliveries?state=SENT',
        )
      ).body;
      return items.length >= 2 ? items : undefined;
    });
    expect(told).toHaveLength(2);
  });

  it('include a client whose types cover events and the management API', async () => {
    expect(await compiled(PROGRAM)).toBe('');
    expect(await compiled(`${PROGRAM}export const state: string | undefined = data?.items[0]?.state;\n`)).toBe('');
    expect(await compiled(`${PROGRAM}data?.items[0]?.colour;\n`)).toContain("'colour' does not exist");
    expect(await compiled(`${PROGRAM}await control.GET('/v1/nowhere', {});\n`)).toContain('/v1/nowhere');
  });

  it('include a client that is byte-identical when built again', async () => {
    const again = join(place, 'again');
    await writeClientPackage(again);
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', place], { cwd: again });
    const name = 'carillon-client-0.1.0.tgz';
    expect((await readFile(join(place, name))).equals(await readFile(join(out, name)))).toBe(true);
  });

  it('escape Markdown and HTML in commit subjects', () => {
    expect(changelogOf('1.0.0', ['A `<b>` in [a](b)'])).toBe('# Carillon 1.0.0\n\n- A \\`\\<b\\>\\` in \\[a\\](b)\n');
  });
});
