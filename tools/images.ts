/**
 * `npm run images` builds the images of deploy/images/Dockerfile: one for each role, and one with everything in one process. They
 * stay on this machine. The same commit gives the same images, but for their dates, from the same base image.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);
const ENGINES = ['docker', 'podman'] as const;
export type Engine = (typeof ENGINES)[number];
export const TARGETS = ['gateway', 'control', 'engine', 'delivery', 'carillon'] as const;
export type Target = (typeof TARGETS)[number];

const HELP = `Builds the images of Carillon on this machine. Pushes nothing.

  npm run images [-- OPTIONS] [TARGET…]

  TARGET            ${TARGETS.join(', ')}; all of them unless told
  --engine ENGINE   docker or podman; unless told, the first of them that answers
  --no-cache        builds each step anew

The base image is pulled. On a machine that cannot pull, deploy/images/make-bases.sh makes one.
`;

const askNpm = async (key: string): Promise<string> => {
  const { stdout } = await run('npm', ['config', 'get', key], { cwd: root });
  return ['null', 'undefined', ''].includes(stdout.trim()) ? '' : stdout.trim();
};

/** An engine that answers here; null without one. */
export async function findEngine(): Promise<Engine | null> {
  for (const engine of ENGINES) {
    const answers = await run(engine, ['info'], { timeout: 20_000 }).then(
      () => true,
      () => false,
    );
    if (answers) return engine;
  }
  return null;
}

/** `carillon-engine:0.1.0`, as compose.yaml has it; everything in one process is `carillon:0.1.0`. */
export async function imageName(target: Target): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  return `${target === 'carillon' ? 'carillon' : `carillon-${target}`}:${version}`;
}

/** Builds one image, and answers its name. `say` is told each line of the engine. Rejects with what the engine said last. */
export async function buildImage(
  engine: Engine,
  target: Target,
  { cached = true, say }: { readonly cached?: boolean; readonly say: (line: string) => void },
): Promise<string> {
  const name = await imageName(target);
  const { stdout: revision } = await run('git', ['rev-parse', 'HEAD'], { cwd: root });
  const { stdout: seconds } = await run('git', ['log', '-1', '--format=%ct'], { cwd: root });
  const work = await mkdtemp(join(tmpdir(), 'carillon-images-'));
  try {
    // The build asks the registry that npm asks here, and trusts whom it trusts.
    const registry = await askNpm('registry');
    const authority = process.env['NODE_EXTRA_CA_CERTS'] ?? (await askNpm('cafile'));
    const settings = [`registry=${registry}`, ...(authority === '' ? [] : ['cafile=/run/secrets/ca'])];
    await writeFile(join(work, 'npmrc'), `${settings.join('\n')}\n`);
    const args = [
      'build',
      '--file',
      join(root, 'deploy/images/Dockerfile'),
      '--target',
      target,
      '--tag',
      name,
      '--build-arg',
      `VERSION=${name.split(':').at(-1)}`,
      '--build-arg',
      `REVISION=${revision.trim()}`,
      '--secret',
      `id=npmrc,src=${join(work, 'npmrc')}`,
      ...(authority === '' ? [] : ['--secret', `id=ca,src=${authority}`]),
      // Podman's own format has no health checks.
      ...(engine === 'podman' ? ['--format', 'docker', '--timestamp', seconds.trim()] : []),
      ...(cached ? [] : ['--no-cache']),
      root,
    ];
    await told(engine, args, { ...process.env, SOURCE_DATE_EPOCH: seconds.trim() }, say);
    return name;
  } finally {
    await rm(work, { recursive: true });
  }
}

/** `carillon-engine:0.1.0  163 MB  sha256:…`; the last word names what is in it. */
export async function describeImage(engine: Engine, name: string): Promise<string> {
  const { stdout } = await run(engine, ['image', 'inspect', '--format', '{{.Size}} {{.Id}}', name]);
  const [size, id] = stdout.trim().split(' ');
  return `${name}  ${Math.round(Number(size) / 1e6)} MB  ${id}`;
}

async function told(
  engine: Engine,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<void> {
  const child = spawn(engine, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n').filter((one) => one !== '')) {
        say(line);
        last.push(line);
        if (last.length > 20) last.shift();
      }
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${engine} ${args[0]} ended with ${code}:\n${last.join('\n')}`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { engine: { type: 'string' }, 'no-cache': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  const wanted = TARGETS.filter((target) => positionals.length === 0 || positionals.includes(target));
  const unknown = positionals.find((one) => !(TARGETS as readonly string[]).includes(one));
  const engine =
    ENGINES.find((one) => one === values.engine) ?? (values.engine === undefined ? await findEngine() : null);
  if (values.help) process.stdout.write(HELP);
  else if (unknown !== undefined) refuse(`There is no image "${unknown}": ${TARGETS.join(', ')}.`);
  else if (engine === null)
    refuse(`No engine answers: install Docker, or podman (apt-get install podman runc buildah).`);
  else {
    for (const target of wanted) {
      const name = await buildImage(engine, target, {
        cached: !values['no-cache'],
        say: (line) => void process.stderr.write(`${line}\n`),
      });
      process.stdout.write(`${await describeImage(engine, name)}\n`);
    }
  }
}

function refuse(words: string): void {
  process.stderr.write(`${words}\n\n${HELP}`);
  process.exitCode = 2;
}

if (import.meta.main) await main();
