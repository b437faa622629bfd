import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scratch } from '../integration/product/shop.ts';
import { buildImage, findEngine, TARGETS } from '../../tools/images.ts';

const run = promisify(execFile);
const engine = await findEngine();
const NAME = 'carillon-images-proof';
const READY = 'http://127.0.0.1:7401/readyz';

type Inspected = {
  readonly Size: number;
  readonly Config: {
    readonly User: string;
    readonly Cmd: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
};

/** Each file and link with a digest of what is in it; dates are left out. */
async function contentsOf(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const shown = path.slice(folder.length);
    if (entry.isSymbolicLink()) found.push(`${shown} -> ${await readlink(path)}`);
    if (!entry.isFile()) continue;
    const hash = createHash('sha256');
    for await (const part of createReadStream(path)) hash.update(part as Buffer);
    found.push(`${shown} ${hash.digest('hex')}`);
  }
  return found.toSorted();
}

describe.skipIf(engine === null)('The images (needs docker, or podman with runc and buildah)', () => {
  let folder: string;
  let remove: () => Promise<void>;
  const call = async (...args: readonly string[]): Promise<string> =>
    (await run(engine ?? '', args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
  const built = async (cached: boolean): Promise<string> =>
    buildImage(engine ?? 'podman', 'carillon', { cached, say: () => undefined });
  const inspect = async (image: string): Promise<Inspected> =>
    (JSON.parse(await call('image', 'inspect', image)) as readonly [Inspected])[0];
  async function unpacked(image: string, name: string): Promise<string> {
    const place = join(folder, name);
    await mkdir(place);
    const container = await call('create', image);
    await call('export', '--output', `${place}.tar`, container);
    await call('rm', container);
    await run('tar', ['-xf', `${place}.tar`, '-C', place]);
    return place;
  }
  const removeContainer = async (): Promise<void> => {
    await call('rm', '--force', '--time', '0', NAME).catch(() => undefined);
  };
  let image: string;

  beforeAll(async () => {
    ({ folder, remove } = await scratch());
    image = await built(true);
  }, 900_000);
  // One that a killed run left behind is in the way of the first test.
  beforeEach(removeContainer);
  afterAll(async () => {
    await removeContainer();
    await remove();
  });

  it('are small, labelled, of a user without rights', async () => {
    const { Size, Config } = await inspect(image);
    expect(Size).toBeLessThan(200_000_000);
    expect(Config).toMatchObject({ User: '1000:1000', Cmd: ['up'] });
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Carillon',
      'org.opencontainers.image.version': image.split(':').at(-1),
      'org.opencontainers.image.revision': (await run('git', ['rev-parse', 'HEAD'])).stdout.trim(),
    });
  });

  it('are there for each role', async () => {
    for (const target of TARGETS.filter((one) => one !== 'carillon')) {
      const name = await buildImage(engine ?? 'podman', target, { say: () => undefined });
      expect((await inspect(name)).Config.Cmd, target).toEqual(['run', target]);
    }
  }, 900_000);

  it('hold the program, what it is made of, and no shell', async () => {
    const files = (await contentsOf(await unpacked(image, 'first'))).map((line) => line.replace(/ .*$/, ''));
    expect(files).toEqual(
      expect.arrayContaining(['/app/carillon.js', '/app/carillon.cdx.json', '/usr/local/bin/node']),
    );
    expect(files.filter((file) => /\/(?:sh|bash|dash|busybox|npm|env)$/.test(file))).toEqual([]);
    const bill = JSON.parse(await readFile(join(folder, 'first/app/carillon.cdx.json'), 'utf8')) as {
      readonly components: readonly { readonly name: string }[];
    };
    expect(bill.components.map(({ name }) => name)).toEqual(expect.arrayContaining(['fastify', 'kafkajs']));
  });

  it('start on a read-only file system, report healthy, and stop on SIGTERM', async () => {
    const hardened = ['--read-only', '--tmpfs', '/tmp:size=64m', '--cap-drop', 'ALL'];
    const published = ['--publish', '127.0.0.1::7401'];
    await call(
      'run',
      '--detach',
      '--name',
      NAME,
      ...hardened,
      '--security-opt',
      'no-new-privileges',
      ...published,
      image,
    );
    const port = (await call('port', NAME, '7401/tcp')).split(':').at(-1);
    await untilFound('it is ready', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return answer?.status === 200 ? true : undefined;
    });
    await call('exec', NAME, 'node', '/app/health-check.js', READY);
    expect(JSON.parse(await call('exec', NAME, 'carillon', 'people', 'list', '--json'))).toBeDefined();
    expect(await call('exec', NAME, 'carillon', '--version')).toBe(image.split(':').at(-1));
    await call('stop', '--time', '20', NAME);
    expect(await call('inspect', '--format', '{{.State.ExitCode}}', NAME)).toBe('0');
  });

  /** What a container says that cannot start: once, with its health, and without a restart. */
  async function expectNotStarted(words: RegExp, ...options: readonly string[]): Promise<void> {
    await call('run', '--detach', '--restart', 'always', '--name', NAME, ...options, image);
    const lines = await untilFound('the line', async () => {
      const { stdout, stderr } = await run(engine ?? '', ['logs', NAME]);
      const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('not started'));
      return said.length > 0 ? said : undefined;
    });
    expect(lines).toEqual([expect.stringMatching(words)]);
    await expect(call('exec', NAME, 'node', '/app/health-check.js', READY)).rejects.toThrow();
    expect(await call('inspect', '--format', '{{.RestartCount}} {{.State.Running}}', NAME)).toBe('0 true');
  }

  it.each([
    [
      'a broker that is away',
      {
        CARILLON_BROKERS: '127.0.0.1:1',
        CARILLON_MONGODB_URL: 'mongodb://127.0.0.1:1',
        CARILLON_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
      },
      /log_unavailable.*127\.0\.0\.1:1/,
    ],
    ['a secret whose file is missing', { CARILLON_HEALTH_TOKEN_FILE: '/run/secrets/none' }, /\/run\/secrets\/none/],
    ['a port that somebody holds', { CARILLON_CONTROL_PORT: '7400' }, /port_in_use.*7400/],
  ] as const)(
    'log %s in one line, show it as health, and do not restart in a loop',
    async (_what, env, words) => {
      await expectNotStarted(words, ...Object.entries(env).flatMap((pair) => ['--env', pair.join('=')]));
    },
    300_000,
  );

  it('report a volume of another version in the same way', async () => {
    const volume = `${NAME}-volume`;
    const mounted = ['--volume', `${volume}:/data`];
    const age = "new (require('node:sqlite').DatabaseSync)('/data/carillon.db').exec('PRAGMA user_version = 9999')";
    try {
      await call('run', '--detach', '--name', NAME, ...mounted, image);
      await untilFound('it is ready', () =>
        call('exec', NAME, 'node', '/app/health-check.js', READY).catch(() => undefined),
      );
      await call('stop', '--time', '20', NAME);
      await call('rm', NAME);
      await call('run', '--rm', '--entrypoint', 'node', ...mounted, image, '-e', age);
      await expectNotStarted(/data_version/, ...mounted);
    } finally {
      await removeContainer();
      await call('volume', 'rm', '--force', volume);
    }
  }, 300_000);

  it('say that their memory is little, and go on', async () => {
    await call('run', '--detach', '--name', NAME, '--memory', '256m', image);
    await untilFound('it is ready', () =>
      call('exec', NAME, 'node', '/app/health-check.js', READY).catch(() => undefined),
    );
    const ready = await call('exec', NAME, 'node', '/app/health-check.js', READY);
    expect(ready).toContain('at most 256 MiB');
    expect((await run(engine ?? '', ['logs', NAME])).stderr).toMatch(/at most 256 MiB.*little memory/);
  }, 300_000);

  it('are the same when they are built again, but for their dates', async () => {
    const first = await contentsOf(join(folder, 'first'));
    await rm(join(folder, 'first'), { recursive: true });
    expect(await contentsOf(await unpacked(await built(false), 'second'))).toEqual(first);
  }, 900_000);
});
