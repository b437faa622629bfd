import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCached, type CacheEntry } from '@carillon/testing/services';
import { PROGRAMS } from '../../support/programs.ts';

const VERSION = '4.32.5';

/** The fuzzer of OpenAPI documents, a program in Python, kept beside the other downloads of tests. */
const SCHEMATHESIS: CacheEntry = {
  name: `schemathesis-${VERSION}-1`,
  title: `schemathesis ${VERSION}`,
  async build({ out, say }) {
    say('installing from PyPI, about 60 MB');
    const list = join(import.meta.dirname, 'requirements.txt');
    await run(PROGRAMS.pip.path, ['install', '--quiet', '--no-input', '--target', out, '-r', list], {});
  },
};

/** What it judges: no failure on our side, and nothing that the description does not say. Which input is refused is for other tests. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

export type Asking = {
  readonly url: string;
  readonly document: object;
  /** All of the same rights: each has a rate. */
  readonly tokens: readonly string[];
  /** Parts of paths, and what is there for the parameters of such a path; the first that fits counts. */
  readonly places: readonly (readonly [part: string, values: Readonly<Record<string, readonly string[]>>])[];
  /** For each operation, at most. */
  readonly cases: number;
  readonly seed: number;
};

export type Verdict = { readonly cases: number; readonly tested: number; readonly failures: readonly unknown[] };

type Report = {
  readonly operations: { readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly unknown[];
  readonly errors: readonly unknown[];
};

/** Asks every operation of the document for cases that it makes of the schemas, sound ones and broken ones. */
export async function askEverything({ url, document, tokens, places, cases, seed }: Asking): Promise<Verdict> {
  const python = await ensureCached(SCHEMATHESIS, (line) => console.log(line));
  const folder = await mkdtemp(join(tmpdir(), 'carillon-api-cases-'));
  try {
    const [description, report] = [join(folder, 'api.json'), join(folder, 'report.json')];
    await writeFile(description, JSON.stringify(document));
    const given = { tokens, places, seed, folder };
    const program = 'import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())';
    const options = ['run', description, '--url', url, '--phases', 'fuzzing', '--max-examples', String(cases)];
    const quiet = ['--no-shrink', '--continue-on-failure', '--warnings', 'off', '--no-color', '--seed', String(seed)];
    const told = ['--checks', CHECKS.join(','), '--report', 'json', '--report-json-path', report];
    const output = await run(PROGRAMS.python.path, ['-c', program, ...options, ...quiet, ...told], {
      cwd: folder,
      env: {
        PYTHONPATH: `${python}:${import.meta.dirname}`,
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: 'hooks',
        CARILLON_API_CASES: JSON.stringify(given),
      },
      mayFail: true,
    });
    const text = await readFile(report, 'utf8').catch(() => {
      throw new Error(`schemathesis wrote no report:\n${output.slice(-4_000)}`);
    });
    const { operations, test_cases: made, failures, errors } = JSON.parse(text) as Report;
    return { cases: made.generated, tested: operations.tested, failures: [...failures, ...errors] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Running = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly mayFail?: boolean };

/** Runs a program to its end and answers what it printed. */
function run(command: string, args: readonly string[], { cwd, env = {}, mayFail = false }: Running): Promise<string> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const parts: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => parts.push(part));
  return new Promise((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      const output = Buffer.concat(parts).toString('utf8');
      if (code === 0 || mayFail) settle(output);
      else fail(new Error(`${command} ended with ${code}:\n${output.slice(-4_000)}`));
    });
  });
}
