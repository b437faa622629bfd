import { join } from 'node:path';
import { ensureCached, type CacheEntry, type Workplace } from '../services/cache/cache-entry.ts';
import { freePorts } from '../services/process/free-ports.ts';
import { startGuarded } from '../services/process/guarded-process.ts';
import { lastLines, runCommand } from '../services/process/run-command.ts';
import { untilFound } from '../smtp/deadline.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';

const VERSION = '5.16.0';

async function build({ out, log, say }: Workplace): Promise<void> {
  say('installing it with what it needs, about 75 MB');
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--ignore-scripts'];
  await runCommand({
    command: 'npm',
    args: ['install', '--prefix', out, ...quiet, `@stoplight/prism-cli@${VERSION}`],
    log,
    cwd: out,
  });
}

/** 356 packages for one proof: they have a place beside ours, and not among them. */
const PRISM_RELEASE: CacheEntry = { name: `prism-${VERSION}`, title: `Prism ${VERSION}`, build };

export type Prism = { readonly url: string; log(): string; stop(): Promise<void> };

const READY_WITHIN = 120_000;

/**
 * A server that nobody here wrote: it answers by an OpenAPI description with examples of it, and refuses with 422 what the
 * description does not allow. Downloaded when it is first asked for.
 */
export async function startPrism(description: string): Promise<Prism> {
  const folder = await ensureCached(PRISM_RELEASE);
  const place = await mkdtemp(join(tmpdir(), 'prism-'));
  const log = join(place, 'log');
  const [port = 0] = await freePorts(1);
  const program = join(folder, 'node_modules/@stoplight/prism-cli/dist/index.js');
  const server = startGuarded({
    command: process.execPath,
    args: [program, 'mock', '--host', '127.0.0.1', '--port', String(port), description],
    log,
  });
  const stop = async (): Promise<void> => {
    server.signal('SIGTERM');
    await server.ended.catch(() => undefined);
    await rm(place, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilFound(
      'Prism answers',
      async () => {
        if (!server.running) throw new Error(`Prism ended: ${lastLines(log)}`);
        return (await fetch(url).catch(() => undefined)) === undefined ? undefined : true;
      },
      READY_WITHIN,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, log: () => lastLines(log, 40), stop };
}
