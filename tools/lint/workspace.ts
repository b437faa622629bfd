import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import law from './boundaries.json' with { type: 'json' };

/**
 * What a tag allows. `rooms`: tags of packages, or a tag and one of its entries (`shapes/values`). `types`: tags whose types alone
 * may be imported. `builtins`: reserved built-in modules of a project. `test`: the whole project counts as tests.
 */
export type Allowance = {
  readonly rooms?: readonly string[];
  readonly types?: readonly string[];
  readonly npm?: readonly string[];
  readonly builtins?: readonly string[];
  readonly node?: boolean;
  readonly test?: boolean;
};

export type Project = {
  readonly name: string;
  /** Below the root, with forward slashes. */ readonly directory: string;
  readonly tag: string;
  readonly dependencies: ReadonlySet<string>;
  /** Keys of `exports`. */ readonly entries: ReadonlySet<string>;
};

export const root = resolve(import.meta.dirname, '../..');
const tags: Readonly<Record<string, Allowance>> = law.tags;
const ownRules: Readonly<Record<string, Allowance>> = law.projects;

export const allowanceOf = (project: Project): Allowance | undefined => tags[project.tag];
export const extraOf = (project: Project): Allowance => ownRules[project.directory] ?? {};

/** The path of a file below the root, with forward slashes. */
export const pathOf = (file: string): string => relative(root, file).split(sep).join('/');

/** Tests, and configuration of tools, may use what the product may not. */
export const isTest = (path: string): boolean => /(^|\/)test\/|\.test\.tsx?$/.test(path);
export const isConfig = (path: string): boolean => path.endsWith('.config.ts');

type Manifest = {
  name: string;
  exports?: Record<string, unknown>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  nx?: { tags?: string[] };
};

function readProject(directory: string): Project | undefined {
  const file = join(root, directory, 'package.json');
  if (!existsSync(file)) return undefined;
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  const [only, ...more] = (manifest.nx?.tags ?? []).filter((tag) => tag.startsWith('tag:'));
  return {
    name: manifest.name,
    directory,
    tag: only === undefined || more.length > 0 ? 'none or several' : only.slice('tag:'.length),
    dependencies: new Set(
      Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies }),
    ),
    entries: new Set(Object.keys(manifest.exports ?? {})),
  };
}

/** Every package of the workspace. Read once: oxlint is a new process each time. */
export const projects: readonly Project[] = law.workspaces.flatMap((pattern) => {
  const parent = dirname(pattern);
  if (!existsSync(join(root, parent))) return [];
  return readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => readProject(`${parent}/${entry.name}`) ?? []);
});

const byName = new Map(projects.map((project) => [project.name, project]));
export const projectNamed = (name: string): Project | undefined => byName.get(name);

/** The package that a file belongs to: the one with the longest directory. */
export const projectOf = (path: string): Project | undefined =>
  projects
    .filter((project) => path.startsWith(`${project.directory}/`))
    .reduce<Project | undefined>(
      (best, project) => (best && best.directory.length > project.directory.length ? best : project),
      undefined,
    );
