import { chmod, chown, copyFile, cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startProduct, untilFound, type Product } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeBundle } from '../../tools/bundle.ts';
import { caller, order, scratch, shopFiles } from '../integration/product/shop.ts';

/** A user who owns nothing here. */
const STRANGER = 65_534;
const mayMount = process.getuid?.() === 0;
/** As `--read-only --user` of a container engine: nothing but the data folder can be written, and the program is somebody else's. */
const READ_ONLY = `
place=$1 node=$2; shift 3
mount --bind "$place" "$place" && mount --bind "$place/data" "$place/data" &&
mount -o remount,bind,ro "$place" && mount -o remount,bind,ro / &&
exec setpriv --reuid ${STRANGER} --regid ${STRANGER} --clear-groups --no-new-privs --inh-caps=-all -- "$node" "$@"`;

let place: string;
let remove: () => Promise<void>;
let product: Product;

beforeAll(async () => {
  const folder = await scratch();
  ({ folder: place, remove } = folder);
  await chmod(place, 0o755);
  // A run of the whole lane has made the bundle already.
  const bundle = process.env['CARILLON_TEST_PROGRAM'];
  if (bundle === undefined) await writeBundle(join(place, 'carillon'));
  else await cp(dirname(bundle), join(place, 'carillon'), { recursive: true });
  // The checkout may lie where strangers may not look.
  const node = join(place, 'node');
  await copyFile(process.execPath, node);
  const dataDir = join(place, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  if (mayMount) await chown(dataDir, STRANGER, STRANGER);
  product = await startProduct({
    program: join(place, 'carillon/carillon.js'),
    dataDir,
    cwd: place,
    env: { HOME: '/nonexistent', TMPDIR: '/nonexistent' },
    ...(mayMount && {
      under: ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', READ_ONLY, 'sh', place, node],
    }),
  });
});
afterAll(async () => {
  await product?.kill('SIGKILL');
  await remove();
});

describe('The bundle on a read-only file system, as another user', () => {
  it.runIf(mayMount)('starts', async () => {
    const about = async (file: string): Promise<string> => readFile(`/proc/${product.pid}/${file}`, 'utf8');
    expect(await about('status')).toMatch(new RegExp(`^Uid:\\s+${STRANGER}\\s`, 'm'));
    const mounts = (await about('mounts')).split('\n').map((line) => line.split(' '));
    const options = (at: string): string | undefined => mounts.findLast(([, folder]) => folder === at)?.[3];
    expect([options('/'), options(place), options(join(place, 'data'))].map((one) => one?.slice(0, 2))).toEqual([
      'ro',
      'ro',
      'rw',
    ]);
  });

  it('accepts an event and notifies its person', async () => {
    const api = caller(product);
    const made = await api<{ key: string }>('POST', '/v1/workspaces/shop/api-keys', { name: 'backend' });
    const applied = await api('POST', '/v1/configuration/apply', { files: shopFiles(), prune: false });
    expect(applied).toMatchObject({ status: 200, body: { faults: [] } });
    const taken = await fetch(`${product.gatewayUrl}/events/shop/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.body.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(order('R-1')),
    });
    expect(taken.status).toBe(202);
    await untilFound('the message', async () => {
      const { body } = await api<{ items: readonly unknown[] }>('GET', '/v1/workspaces/shop/deliveries?state=SENT');
      return body.items.length === 1 ? true : undefined;
    });
    expect(product.stderr()).toBe('');
  });

  it('exits with code 0 on SIGTERM', async () => {
    expect(await product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
