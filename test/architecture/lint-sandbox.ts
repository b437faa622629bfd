import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projects } from '../../tools/lint/workspace.ts';

const root = resolve(import.meta.dirname, '../..');
const CONFIGURATION = [
  '.oxlintrc.json',
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
  'tools/lint',
  // The rule for names of kinds reads them.
  'libs/shapes/src/providers',
  'libs/shapes/src/integrations',
  'libs/contracts/src/records',
  'apps/control/src/jobs/kinds',
];

export type Finding = {
  readonly rule: string;
  readonly message: string;
  readonly severity: string;
  /** Counted from 1. Null if the finding is about the whole file. */
  readonly line: number | null;
};
export type Sandbox = {
  /** Writes files, lints them and nothing else. */
  lint(files: Readonly<Record<string, string>>): {
    readonly exitCode: number;
    readonly of: (file: string) => Finding[];
  };
  remove(): void;
};

type Diagnostic = {
  code?: string;
  filename: string;
  message: string;
  severity: string;
  labels: readonly { span: { line: number } }[];
};

/**
 * A copy of the workspace without its code: the same packages with the same tags, the same lint configuration. Every
 * package declares every dependency of `declared`, so that only the rule under test can object.
 */
export function makeSandbox(declared: readonly string[]): Sandbox {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'carillon-lint-')));
  for (const path of CONFIGURATION) cpSync(join(root, path), join(home, path), { recursive: true });

  mkdirSync(join(home, 'node_modules/@carillon'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@carillon') symlinkSync(join(root, 'node_modules', name), join(home, 'node_modules', name));
  }
  for (const { name, directory, tag, entries } of projects) {
    const names = [...declared, ...projects.map((project) => project.name)];
    const manifest = {
      name,
      version: '0.0.0',
      type: 'module',
      exports: Object.fromEntries(['.', ...entries].map((entry) => [entry, './src/index.ts'])),
      nx: { tags: [`tag:${tag}`] },
      dependencies: Object.fromEntries(names.map((each) => [each, '*'])),
    };
    mkdirSync(join(home, directory, 'src'), { recursive: true });
    writeFileSync(join(home, directory, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(home, directory, 'src/index.ts'), `export const name: string = '${name}';\n`);
    symlinkSync(join(home, directory), join(home, 'node_modules', name));
  }

  return {
    lint(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(home, path)), { recursive: true });
        writeFileSync(join(home, path), text);
      }
      const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
      const args = [oxlint, '--disable-nested-config', '--format=json', ...Object.keys(files)];
      const run = spawnSync(process.execPath, args, { cwd: home, encoding: 'utf8', maxBuffer: 2 ** 27 });
      if (!run.stdout.startsWith('{')) throw new Error(`oxlint did not answer in JSON: ${run.stdout}${run.stderr}`);
      const { diagnostics } = JSON.parse(run.stdout) as { diagnostics: Diagnostic[] };
      const findings = Map.groupBy(diagnostics, (diagnostic) => diagnostic.filename);
      return {
        exitCode: run.status ?? -1,
        of: (file) =>
          (findings.get(file) ?? []).map(({ code = '', message, severity, labels }) => ({
            rule: code,
            message,
            severity,
            line: labels[0]?.span.line ?? null,
          })),
      };
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Files that the linter must refuse, by this rule alone and with these words, and a twin that it must let pass. */
export type Case = {
  readonly bad: Readonly<Record<string, string>>;
  /** What the offenders need beside them. */ readonly beside?: Readonly<Record<string, string>>;
  readonly good: Readonly<Record<string, string>>;
  readonly rule: string;
  readonly says: string;
};

/**
 * Lints all offenders in one run and all twins in another, because most of the time of a run is its start. The sandbox is
 * the given one, where the file has one already, else one of its own in which every package declares `declared`.
 */
export function describeCases(
  title: string,
  cases: Readonly<Record<string, Case>>,
  place: readonly string[] | (() => Sandbox),
): void {
  const together = (side: 'bad' | 'beside' | 'good') =>
    Object.assign({}, ...Object.values(cases).map((each) => each[side])) as Case['bad'];

  describe(title, () => {
    let own: Sandbox | undefined;
    let refused: ReturnType<Sandbox['lint']>;
    let clean: ReturnType<Sandbox['lint']>;
    beforeAll(() => {
      const sandbox = typeof place === 'function' ? place() : (own = makeSandbox(place));
      refused = sandbox.lint({ ...together('beside'), ...together('bad') });
      clean = sandbox.lint(together('good'));
    });
    afterAll(() => own?.remove());

    test.each(Object.entries(cases))('%s', (_title, { bad, good, rule, says }) => {
      for (const file of Object.keys(bad)) {
        const found = refused.of(file);
        expect(new Set(found.map((finding) => `${finding.severity} ${finding.rule}`)), file).toEqual(
          new Set([`error ${rule}`]),
        );
        expect(found.map((finding) => finding.message).join('\n')).toContain(says);
      }
      expect(Object.keys(good).flatMap((file) => clean.of(file))).toEqual([]);
    });

    test('offenders end the run with a failure, their twins do not', () => {
      expect([refused.exitCode, clean.exitCode]).toEqual([1, 0]);
    });
  });
}
