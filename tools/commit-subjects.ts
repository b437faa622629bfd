/** Refuses commits whose subject does not read `area: imperative subject`: see HELP. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const HELP = `node tools/commit-subjects.ts

Checks the subject of each commit after the one that added this check: "area: subject", at most 72 characters. An area is
the folder name of a package or provider (portal, mongodb, twilio, …), or docs, test, bench or build. Merge commits are skipped.`;

const MAX_SUBJECT_LENGTH = 72;
const OTHER_AREAS = ['docs', 'test', 'bench', 'build'];
/** Folders whose folders are areas: packages, and the providers of one package. */
const AREA_FOLDERS = ['apps', 'libs', 'libs/adapters', 'libs/adapters/providers'];

const root = resolve(import.meta.dirname, '..');

/** Returns the areas that a subject may begin with. */
export const areasOf = (top: string): ReadonlySet<string> =>
  new Set([...AREA_FOLDERS.flatMap((folder) => readdirSync(join(top, folder))), ...OTHER_AREAS]);

/** Returns what is wrong with a subject, or null. */
export function faultOfSubject(subject: string, areas: ReadonlySet<string>): string | null {
  if (subject.length > MAX_SUBJECT_LENGTH)
    return `has ${subject.length} characters, at most ${MAX_SUBJECT_LENGTH} are allowed`;
  const area = /^([a-z0-9-]+): \S/.exec(subject)?.[1];
  if (area === undefined) return 'does not begin with "area: "';
  return areas.has(area) ? null : `begins with "${area}", which is neither a package nor ${OTHER_AREAS.join(', ')}`;
}

const git = (...args: readonly string[]): readonly string[] =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);

/** Returns one line per commit with a faulty subject. In a shallow clone it sees the commits that the clone has. */
function faultyCommits(): readonly string[] {
  const [added] = git('log', '--diff-filter=A', '--format=%H', '--', `tools/${basename(import.meta.filename)}`);
  if (added === undefined) return [];
  const areas = areasOf(root);
  return git('log', '--no-merges', '--format=%h %s', `${added}..HEAD`).flatMap((line) => {
    const [hash = ''] = line.split(' ', 1);
    const fault = faultOfSubject(line.slice(hash.length + 1), areas);
    return fault === null ? [] : [`${hash} ${fault}: ${line.slice(hash.length + 1)}`];
  });
}

if (import.meta.main) {
  if (process.argv.includes('--help')) console.log(HELP);
  else {
    const faulty = faultyCommits();
    for (const line of faulty) console.error(line);
    process.exitCode = faulty.length > 0 ? 1 : 0;
  }
}
