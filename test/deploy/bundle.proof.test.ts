import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  cli,
  type CliAnswer,
  startOtlpReceiver,
  startProduct,
  untilFound,
  type OtlpReceiver,
  type Product,
} from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeBundle } from '../../tools/bundle.ts';

const run = promisify(execFile);

let place: string;
let bundle: string;
let program: string;
let otlp: OtlpReceiver;
let product: Product;

const carillon = (
  args: readonly string[],
  input?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<CliAnswer> =>
  cli(args, { program, dataDir: join(place, 'data'), cwd: place, env, ...(input !== undefined && { input }) });

beforeAll(async () => {
  // Away from the checkout: what the bundle lacks cannot be found in a node_modules above it.
  place = await mkdtemp(join(tmpdir(), 'carillon-bundle-'));
  bundle = join(place, 'carillon');
  await writeBundle(bundle);
  program = join(bundle, 'carillon.js');
  otlp = await startOtlpReceiver();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint };
  product = await startProduct({ program, dataDir: join(place, 'data'), cwd: place, args: ['--demo'], env });
});
afterAll(async () => {
  await product.kill('SIGKILL');
  await otlp.close();
  await rm(place, { recursive: true, force: true });
});

const asOwner = (path: string): Promise<Response> =>
  fetch(`${product.controlUrl}${path}`, { headers: { authorization: `Bearer ${product.token}` } });

describe('The bundle that a release carries', () => {
  it('prints its version, and starts as a program', async () => {
    expect(await cli(['--version'], { program })).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
    expect((await run(program, ['--version'])).stdout).toBe('0.1.0\n');
  });

  it('cannot be made to fail on purpose', async () => {
    expect(await readFile(program, 'utf8')).not.toMatch(/failpoint/i);
  });

  it('has the demo, whose rule takes an event in and puts a message out', async () => {
    const made = await carillon(['api-key', 'create', 'till', '--json']);
    const { key } = JSON.parse(made.stdout) as { key: string };
    const stream = join(place, 'carillon-demo/workspaces/shop/streams/orders.yaml');
    await writeFile(stream, (await readFile(stream, 'utf8')).replace('[backend]', '[till]'));
    expect(await carillon(['apply', '-f', 'carillon-demo'])).toMatchObject({ code: 0, stderr: '' });
    const event = { order_id: 'B-1', status: 'paid', total: 120, customer: { name: 'Ada', email: 'ada@example.com' } };
    const taken = await carillon(['send', 'shop/orders', '--file', '-'], JSON.stringify(event), {
      CARILLON_API_KEY: key,
    });
    expect(taken).toMatchObject({ code: 0, stderr: '' });
    const message = await untilFound('the message of the order', async () => {
      const { items } = (await (await asOwner('/v1/inbox')).json()) as { items: { subject: string; to: string }[] };
      return items[0];
    });
    expect(message).toMatchObject({ to: 'ada@example.com' });
    expect(JSON.stringify(message)).toContain('B-1');
  });

  it('serves the pages and the reference of the management API', async () => {
    for (const path of ['/inbox', '/assets/style.css', '/docs', '/docs/rules', '/docs/api', '/v1/openapi.json']) {
      expect((await asOwner(path)).status, path).toBe(200);
    }
  });

  it('tells its traces to a collector', async () => {
    await otlp.waitFor((span) => span.name === 'delivery.attempt');
  });

  it('knows what it needs for a cluster', async () => {
    const away = { CARILLON_BROKERS: '127.0.0.1:1', CARILLON_MONGODB_URL: 'mongodb://127.0.0.1:1' };
    const { code, stderr } = await cli(['run', 'engine'], { program, dataDir: join(place, 'elsewhere'), env: away });
    expect(code).toBe(2);
    expect(stderr).toContain('CARILLON_SCHEMA_REGISTRY_URL');
  });

  it('checks the health of a process', async () => {
    const check = (url: string): Promise<{ stdout: string }> =>
      run(process.execPath, [join(bundle, 'health-check.js'), url]);
    const ready = await untilFound('it is ready', () => check(`${product.gatewayUrl}/readyz`).catch(() => undefined));
    expect(ready.stdout).toBe('{"status":"ready"}');
    expect((await check(`${product.controlUrl}/readyz`)).stdout).toContain('configuration');
    await expect(check(`${product.gatewayUrl}/nowhere`)).rejects.toMatchObject({ code: 1 });
    await expect(check('http://127.0.0.1:1/readyz')).rejects.toMatchObject({ code: 1, stderr: /ECONNREFUSED/ });
    await expect(check('readyz')).rejects.toMatchObject({ code: 1, stderr: /name the address/ });
  });

  it('compiles MJML, in a thread that finds its compiler beside it', async () => {
    const folder = join(place, 'mjml');
    const mail = join(folder, 'workspaces/post/templates/paid');
    await mkdir(mail, { recursive: true });
    await writeFile(
      join(folder, 'workspaces/post/workspace.yaml'),
      'name: Post\ntime_zone: Europe/Berlin\nlocale: en\n',
    );
    await writeFile(join(mail, 'email.yaml'), 'subject: Order {{order_id}}\n');
    const section = '<mj-section><mj-column><mj-text>{{order_id}}</mj-text></mj-column></mj-section>';
    await writeFile(join(mail, 'email.mjml'), `<mjml><mj-body>${section}</mj-body></mjml>\n`);
    await writeFile(join(mail, 'email.txt'), '{{order_id}}\n');
    expect(await carillon(['apply', '-f', 'mjml'])).toMatchObject({ code: 0, stderr: '' });
    await writeFile(join(mail, 'email.mjml'), '<mjml><mj-head></mj-head></mjml>\n');
    const refused = await carillon(['apply', '-f', 'mjml']);
    // In the words of the compiler: what looks at a source before it finds nothing.
    expect(refused.code).toBe(2);
    expect(refused.stdout).toContain('This cannot be compiled');
  });

  it('exits with code 0 on SIGTERM', async () => {
    expect(await product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
