/** `npm test`: see HELP below. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { debianPackagesFor, findMissing, servicesToFetch, type Program } from '../test/support/programs.ts';
import { filesToRunAgain, unsteadyTests, withSecondRun } from './second-run.ts';
import { closingLine, countTests, type Report } from './test-results.ts';

const HELP = `npm test [-- [--install] [--long] [what vitest takes]]

  npm test                         every test; those whose programs are not installed are skipped, with the reason
  npm test -- --install            first installs what is missing (Debian packages; as root, or with sudo)
                                   and fetches servers (npm run services -- fetch)
  npm test -- libs/kernel          the tests of one folder or file
  npm test -- -t "part of a name"  the tests with that name
  npm test -- --long               those that take long, and only those (a quarter of an hour): bugs planted into the
                                   running product, each of which the crash test has to find

CI=true implies --install; then a test that is skipped counts as failed, and one or two failed files of tests that
run the product are run a second time, by themselves. What passes then is printed as unsteady, with its first failure.
The last line is: N passed, N failed`;

const root = resolve(import.meta.dirname, '..');
const isCi = process.env['CI'] === 'true';

/** How to become root without being asked for a password, or nothing. */
function rootPrefix(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined;
}

/** Installs these Debian packages; says in one line what happened. */
function installPackages(packages: readonly string[]): void {
  const byHand = `apt-get install --no-install-recommends ${packages.join(' ')}`;
  const prefix = rootPrefix();
  if (!existsSync('/usr/bin/apt-get')) return console.log(`Cannot install ${packages.join(', ')}: this is no Debian.`);
  if (!prefix) return console.log(`Cannot install ${packages.join(', ')} without root. Run as root: ${byHand}`);

  mkdirSync(join(root, '.cache'), { recursive: true });
  const log = join(root, '.cache/install.log');
  console.log(`Installing ${packages.join(', ')} (log: .cache/install.log) …`);
  const [command = '', ...args] = [...prefix, join(import.meta.dirname, 'install-packages.sh'), ...packages];
  const output = openSync(log, 'w');
  const { status } = spawnSync(command, args, { stdio: ['ignore', output, output] });
  if (status === 0) return;
  const lastLines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
  console.log(`Installing failed. The log ends with:\n${lastLines}`);
}

/** Installs the packages of these programs, then fetches the servers among them. */
function install(programs: readonly Program[]): void {
  const packages = debianPackagesFor(programs);
  if (packages.length > 0) installPackages(packages);
  const services = servicesToFetch(programs);
  if (services.length === 0) return;
  spawnSync(process.execPath, [join(import.meta.dirname, 'services.ts'), 'fetch', ...services], { stdio: 'inherit' });
}

type Run = {
  readonly exitCode: number;
  /** What vitest wrote; nothing if it did not come that far. */ readonly report: Report | undefined;
  /** Errors that no test caught. */ readonly unhandled: number;
};

/** Runs vitest once; `folder` gets its report. */
async function runTests(args: readonly string[], folder: string, missing: readonly Program[]): Promise<Run> {
  const [file, unhandled] = [join(folder, 'report.json'), join(folder, 'unhandled')];
  for (const old of [file, unhandled]) rmSync(old, { force: true });
  const exitCode = await runVitest(args, file, unhandled, missing);
  return {
    exitCode,
    report: existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined,
    unhandled: existsSync(unhandled) ? Number(readFileSync(unhandled, 'utf8')) : 1,
  };
}

function runVitest(
  args: readonly string[],
  report: string,
  unhandled: string,
  missing: readonly Program[],
): Promise<number> {
  const reporters = args.some((arg) => arg.startsWith('--reporter')) ? [] : ['--reporter=default'];
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...reporters,
      '--reporter=json',
      `--reporter=${join(import.meta.dirname, 'unhandled-errors-reporter.ts')}`,
      `--outputFile.json=${report}`,
      ...args,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        CARILLON_TEST_MISSING: missing.join(','),
        CARILLON_TEST_UNHANDLED: unhandled,
        // Tests start hundreds of processes; Node compiles each source file once for all of them.
        NODE_COMPILE_CACHE: join(root, '.cache/compiled'),
      },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done(code ?? 1));
  });
}

/** Gives failed tests of the running product their second run, where docs/decisions/0020 allows one. */
async function runFailedAgain(first: Run, project: string, folder: string, missing: readonly Program[]): Promise<Run> {
  if (!first.report || first.exitCode === 0 || first.unhandled > 0) return first;
  const nameOf = (file: string): string => relative(root, file).replaceAll('\\', '/');
  const again = filesToRunAgain(first.report, nameOf);
  if (again.length === 0) return first;
  console.log(`\nRunning again, by themselves: ${again.join(', ')}`);
  const second = await runTests([...again, project, '--no-file-parallelism'], folder, missing);
  if (!second.report || second.unhandled > 0) return first;
  for (const line of unsteadyTests(first.report, second.report, nameOf)) console.log(`unsteady: ${line}`);
  return { ...second, report: withSecondRun(first.report, second.report) };
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(HELP);
    return 0;
  }
  if ((isCi || args.includes('--install')) && findMissing().length > 0) install(findMissing());
  const missing = findMissing();
  if (missing.length > 0) {
    console.log(`Not installed: ${missing.join(', ')}. Tests that need them are skipped; to run them too:`);
    console.log('  npm test -- --install');
  }

  const folder = mkdtempSync(join(tmpdir(), 'carillon-test-'));
  try {
    const project = `--project=${args.includes('--long') ? 'long' : '!long'}`;
    const forVitest = [...args.filter((arg) => arg !== '--install' && arg !== '--long'), project];
    const first = await runTests(forVitest, folder, missing);
    const { exitCode, report } = isCi ? await runFailedAgain(first, project, folder, missing) : first;
    // countTests takes a report that lacks tests as a failure.
    const filtered = args.some((arg) => /^(-t|--testNamePattern)(=|$)/.test(arg));
    const counts = countTests(report, { exitCode, filtered, strict: isCi });
    console.log(closingLine(counts));
    return counts.failed === 0 ? 0 : Math.max(exitCode, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
