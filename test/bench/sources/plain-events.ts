import { execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, glob, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CannotRun, type BenchCase, type OpenSide, type Reading, type Side } from '../harness/bench.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SCRIPT = 'test/bench/peers/plain-events.ts';
/** The newest commit of main that evaluates no changes and has the entry points that the script imports. */
const COMMIT_BEFORE = '36833190df81';
const run = promisify(execFile);

/** The checkout of the commit, with the packages of this one. */
async function checkOutBefore(folder: string): Promise<void> {
  await run('git', ['cat-file', '-e', `${COMMIT_BEFORE}^{commit}`], { cwd: ROOT }).catch(() => {
    throw new CannotRun(`commit ${COMMIT_BEFORE} is not in this clone`);
  });
  const archive = spawn('git', ['archive', COMMIT_BEFORE], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const tar = spawn('tar', ['-xf', '-', '-C', folder], { stdio: [archive.stdout, 'inherit', 'inherit'] });
  await once(tar, 'close');
  const own = join(folder, 'node_modules/@carillon');
  await mkdir(own, { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name !== '@carillon') await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  // Links into the checkout, such as `../../libs/kernel`.
  for (const name of await readdir(join(ROOT, 'node_modules/@carillon'))) {
    await symlink(await readlink(join(ROOT, 'node_modules/@carillon', name)), join(own, name));
  }
  for await (const nested of glob('libs/{*,adapters/*}/node_modules', { cwd: ROOT })) {
    await symlink(join(ROOT, nested), join(folder, nested));
  }
  await mkdir(dirname(join(folder, SCRIPT)), { recursive: true });
  await copyFile(join(ROOT, SCRIPT), join(folder, SCRIPT));
}

/** The script in a process of its own, which is idle between its rounds. */
async function start(root: string): Promise<OpenSide> {
  const child = fork(join(root, SCRIPT), { cwd: root });
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`it ended with ${code}`);
  });
  failed.catch(() => undefined);
  return {
    processes: { process: child.pid ?? 0 },
    async round({ seconds }) {
      const answered = once(child, 'message') as Promise<[Reading]>;
      child.send({ seconds });
      const [reading] = await Promise.race([answered, failed]);
      return reading;
    },
    // Each pass throws unless it gives the right intents.
    verify: async () => [],
    close: async () => void child.kill(),
  };
}

const [NOW, BEFORE] = ['this checkout', 'before changes of databases'];

const now: Side = { name: NOW, syncs: 'nothing', open: () => start(ROOT) };
const before: Side = {
  name: BEFORE,
  syncs: 'nothing',
  async open() {
    const folder = await temporaryFolder();
    await checkOutBefore(folder.path);
    const side = await start(folder.path);
    return {
      ...side,
      async close() {
        await side.close?.();
        await folder.remove();
      },
    };
  },
};

export const plainEvents: BenchCase = {
  title: 'plain JSON events, no source configured',
  counted: 'events',
  sides: [now, before],
  comparisons: [{ side: NOW, to: BEFORE, measure: 'rate', wanted: 'at least', floor: 0.98, goal: 1 }],
};
