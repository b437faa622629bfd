import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureCached, type CacheEntry, type Workplace } from '../services/cache/cache-entry.ts';
import { freePorts } from '../services/process/free-ports.ts';
import { startGuarded } from '../services/process/guarded-process.ts';
import { lastLines, runCommand } from '../services/process/run-command.ts';
import { untilFound } from '../smtp/deadline.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/**
 * Prism and all that it needs, each with its sum. Another version: in an empty folder
 * `npm install --package-lock-only @stoplight/prism-cli@VERSION`, and its package-lock.json is this file.
 */
const LOCK = readFileSync(new URL('./prism-lock.json', import.meta.url), 'utf8');
type Lock = { readonly packages: { readonly '': { readonly dependencies: Readonly<Record<string, string>> } } };
const { dependencies } = (JSON.parse(LOCK) as Lock).packages[''];
const VERSION = dependencies['@stoplight/prism-cli'] ?? '';
const SUM = createHash('sha256').update(LOCK).digest('hex').slice(0, 8);

async function build({ out, log, say }: Workplace): Promise<void> {
  say('installing it with what it needs, about 75 MB');
  await writeFile(join(out, 'package.json'), JSON.stringify({ private: true, dependencies }));
  await writeFile(join(out, 'package-lock.json'), LOCK);
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--ignore-scripts'];
  await runCommand({ command: 'npm', args: ['ci', '--prefix', out, ...quiet], log, cwd: out });
}

/** Some 200 packages for one proof: they have a place beside ours, and not among them. */
const PRISM_RELEASE: CacheEntry = { name: `prism-${VERSION}-${SUM}`, title: `Prism ${VERSION}`, build };

export type Prism = { readonly url: string; log(): string; stop(): Promise<void> };

const READY_WITHIN = 120_000;

/**
 * A third-party mock server that responds with the examples of an OpenAPI description, and with 422 to requests the
 * description does not allow. Downloaded on first use.
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
