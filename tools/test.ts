/** `npm test` and `npm run proof`: see HELP below. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { findMissing, type Program } from '../test/support/programs.ts';
import { install } from './install.ts';
import { DAILY_LANES, isLane, LANES, type Lane } from './lanes.ts';
import { filesToRunAgain, unsteadyTests, withSecondRun } from './second-run.ts';
import { askedFor, closingLine, countTests, failedTests, sumOf, type Counts, type Report } from './test-results.ts';
import { startLoad } from './under-load.ts';

const HELP = `npm test [-- [--install] [--lane LANE] [--under-load] [what vitest takes]]

  npm test                         three lanes of tests: fast, server, product (docs/internals/tests.md says what is in each);
                                   tests whose programs are not installed are skipped, with the reason
  npm test -- --lane fast          one lane: ${LANES.join(', ')}
  npm test -- --install            first installs what is missing (Debian packages; as root, or with sudo)
                                   and fetches servers (npm run services -- fetch), while the fast lane runs
  npm test -- libs/kernel          the tests of one folder or file
  npm test -- -t "part of a name"  the tests with that name
  npm test -- --under-load         beside four processes that spin
  npm run proof                    the proof lane: everything that takes long (half an hour and more)
  npm run proof -- test/fuzz       of it, one folder or file

CI=true implies --install; then a test that is skipped counts as failed. One or two failed files of the product lane are
run a second time, by themselves. What passes then is printed as unsteady, with its first failure.
A run of the whole product lane starts the bundle; a run of single files, and the proof lane, start the sources.
What failed is named once more at the end. The last line is: N passed, N failed`;

const root = resolve(import.meta.dirname, '..');
const isCi = process.env['CI'] === 'true';

type Run = {
  readonly exitCode: number;
  /** What vitest wrote; nothing if it did not come that far. */ readonly report: Report | undefined;
  /** Errors that no test caught. */ readonly unhandled: number;
};
/** How vitest is run, whichever lane it is. */
type Setting = {
  /** For vitest. */ readonly args: readonly string[];
  /** Gets the reports. */ readonly folder: string;
  /** The program under test. Left out: the sources. */ readonly program?: string;
};

/** The bundle that a run of the whole product lane tests. */
const BUNDLE = join(root, '.cache/bundle');

/** Runs vitest once over a lane. */
async function runTests(lane: Lane, { args, folder, program }: Setting, missing: readonly Program[]): Promise<Run> {
  const [file, unhandled] = [join(folder, 'report.json'), join(folder, 'unhandled')];
  for (const old of [file, unhandled]) rmSync(old, { force: true });
  const env = {
    CARILLON_TEST_MISSING: missing.join(','),
    CARILLON_TEST_UNHANDLED: unhandled,
    ...(program !== undefined && { CARILLON_TEST_PROGRAM: program }),
  };
  const exitCode = await runVitest([...args, `--project=${lane}`, '--passWithNoTests'], file, env);
  return {
    exitCode,
    report: existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined,
    unhandled: existsSync(unhandled) ? Number(readFileSync(unhandled, 'utf8')) : 1,
  };
}

function runVitest(args: readonly string[], report: string, given: Readonly<Record<string, string>>): Promise<number> {
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
        ...given,
        // Tests start hundreds of processes; Node compiles each source file once for all of them.
        NODE_COMPILE_CACHE: join(root, '.cache/compiled'),
      },
    },
  );
  const interrupt = (signal: NodeJS.Signals): void => {
    interrupted = true;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      for (const signal of SIGNALS) process.off(signal, interrupt);
      done(code ?? 1);
    });
  });
}
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
let interrupted = false;

const nameOf = (file: string): string => relative(root, file).replaceAll('\\', '/');

/** Gives failed tests of the running product their second run, where one is allowed: tools/second-run.ts. */
async function runFailedAgain(lane: Lane, first: Run, setting: Setting, missing: readonly Program[]): Promise<Run> {
  if (!first.report || first.exitCode === 0 || first.unhandled > 0 || interrupted) return first;
  const again = filesToRunAgain(first.report, nameOf);
  if (again.length === 0) return first;
  console.log(`\nRunning again, by themselves: ${again.join(', ')}`);
  const options = setting.args.filter((arg) => arg.startsWith('-'));
  const second = await runTests(lane, { ...setting, args: [...again, ...options] }, missing);
  if (!second.report || second.unhandled > 0) return first;
  for (const line of unsteadyTests(first.report, second.report, nameOf)) console.log(`unsteady: ${line}`);
  return { ...second, report: withSecondRun(first.report, second.report) };
}

type LaneResult = { readonly counts: Counts; readonly failures: readonly string[] };

async function runLane(lane: Lane, setting: Setting, missing: readonly Program[]): Promise<LaneResult> {
  const start = performance.now();
  const first = await runTests(lane, setting, missing);
  const { exitCode, report } = await runFailedAgain(lane, first, setting, missing);
  const { filtered, whole } = askedFor(setting.args);
  const counts = countTests(report, { exitCode, filtered, whole, strict: isCi });
  const failures = failedTests(report, nameOf, { strict: isCi, filtered });
  console.log(`lane ${lane}: ${closingLine(counts)} (${Math.round((performance.now() - start) / 1000)} s)\n`);
  // A run may fail without a test that failed: by an error that none of them caught, or without a report.
  const unnamed = failures.length === 0 && counts.failed > 0 ? ['no test by itself; see what the lane printed'] : [];
  return { counts, failures: [...failures, ...unnamed].map((line) => `failed, lane ${lane}: ${line}`) };
}

/**
 * Bundles the program for a run of the whole product lane, which starts it a hundred times: the bundle starts in half the
 * processor time, and is what users run. A run of single files tests the sources.
 */
async function bundleFor(args: readonly string[]): Promise<Pick<Setting, 'program'>> {
  if (!askedFor(args).whole) return {};
  const { writeBundle } = await import('./bundle.ts');
  await writeBundle(BUNDLE);
  return { program: join(BUNDLE, 'carillon.js') };
}

/** Takes an option and its value out of the arguments. */
function takeOption(args: string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args.splice(at, 2)[1];
}
function takeFlag(args: string[], name: string): boolean {
  const at = args.indexOf(name);
  if (at >= 0) args.splice(at, 1);
  return at >= 0;
}

async function main(args: string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(HELP);
    return 0;
  }
  const lane = takeOption(args, '--lane');
  if (lane !== undefined && !isLane(lane)) {
    console.log(`There is no lane ${lane}. Lanes: ${LANES.join(', ')}.`);
    return 2;
  }
  const lanes = lane ? [lane] : DAILY_LANES;
  const installing = takeFlag(args, '--install') || isCi ? install(findMissing()) : Promise.resolve();
  const stopLoad = takeFlag(args, '--under-load') ? startLoad() : () => undefined;

  const folder = mkdtempSync(join(tmpdir(), 'carillon-test-'));
  try {
    const results: LaneResult[] = [];
    for (const each of lanes) {
      // The fast lane needs no program, and so need not wait for any.
      if (each !== 'fast') await installing;
      const missing = each === 'fast' ? [] : findMissing();
      if (missing.length > 0) {
        console.log(`Not installed: ${missing.join(', ')}. Tests that need them are skipped; to run them too:`);
        console.log('  npm test -- --install');
      }
      const setting = { args, folder, ...(each === 'product' && (await bundleFor(args))) };
      results.push(await runLane(each, setting, missing));
      if (interrupted) break;
    }
    const sum = sumOf(results.map(({ counts }) => counts));
    for (const line of results.flatMap(({ failures }) => failures)) console.log(line);
    console.log(closingLine(sum));
    return sum.failed === 0 && !interrupted ? 0 : 1;
  } finally {
    stopLoad();
    await installing;
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
