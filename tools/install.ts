/** Installs what tests need and npm cannot bring. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { debianPackagesFor, servicesToFetch, type Program } from '../test/support/programs.ts';

const root = resolve(import.meta.dirname, '..');

/** How to become root without being asked for a password, or nothing. */
function rootPrefix(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined;
}

/** Runs a command to its end, which is not waited for by anything else; what it prints goes to the log. */
function run(command: string, args: readonly string[], log: string): Promise<number> {
  const output = openSync(log, 'w');
  const child = spawn(command, args, { stdio: ['ignore', output, output] });
  return new Promise((done) => {
    child.once('error', () => done(1));
    child.once('close', (code) => done(code ?? 1));
  });
}

function sayFailed(what: string, log: string): void {
  const lastLines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
  console.log(`${what} failed. The log ends with:\n${lastLines}`);
}

/** Installs these Debian packages; says in one line what happened. */
async function installPackages(packages: readonly string[], log: string): Promise<void> {
  const byHand = `apt-get install --no-install-recommends ${packages.join(' ')}`;
  const prefix = rootPrefix();
  if (!existsSync('/usr/bin/apt-get')) return console.log(`Cannot install ${packages.join(', ')}: this is no Debian.`);
  if (!prefix) return console.log(`Cannot install ${packages.join(', ')} without root. Run as root: ${byHand}`);

  console.log(`Installing ${packages.join(', ')} (log: .cache/install.log) …`);
  const [command = '', ...args] = [...prefix, join(import.meta.dirname, 'install-packages.sh'), ...packages];
  if ((await run(command, args, log)) !== 0) sayFailed('Installing', log);
}

/** Installs the packages of these programs, then fetches the servers among them. Says what failed, and goes on. */
export async function install(programs: readonly Program[]): Promise<void> {
  if (programs.length === 0) return;
  mkdirSync(join(root, '.cache'), { recursive: true });
  const packages = debianPackagesFor(programs);
  if (packages.length > 0) await installPackages(packages, join(root, '.cache/install.log'));
  const services = servicesToFetch(programs);
  if (services.length === 0) return;
  console.log(`Fetching ${services.join(', ')} (log: .cache/fetch.log) …`);
  const log = join(root, '.cache/fetch.log');
  const script = [join(import.meta.dirname, 'services.ts'), 'fetch', ...services];
  if ((await run(process.execPath, script, log)) !== 0) sayFailed('Fetching', log);
}
