/** What pages of the portal may cost, held against a build: `tools/portal.ts` puts none in place that is above it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** In bytes. A route: JS and CSS of a first visit, packed. An editor: what comes once its page can be used. Fonts: all of them. */
export const BUDGETS = { route: 200_000, editor: 170_000, fonts: 60_000 } as const;

/** Screens on which text is written: each loads an editor of code after its page. */
const EDITORS: ReadonlySet<string> = new Set([
  'src/screens/rule/rule.tsx',
  'src/screens/templates/template.tsx',
  'src/screens/templates/shared-text.tsx',
  'src/screens/notifications/cadence.tsx',
  'src/screens/cadence/workspace-cadence.tsx',
]);
/** What stands around pages of a folder, and is loaded with each of them. */
const AROUND: readonly (readonly [folder: string, frame: string])[] = [
  ['src/screens/settings/', 'src/screens/settings/settings-frame.tsx'],
];
const START = 'index.html';

type Chunk = {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
};
export type Manifest = Readonly<Record<string, Chunk>>;

export type Measured = {
  /** The screen that it shows. */
  readonly route: string;
  /** In bytes, packed: what a first visit loads before the page can be used. */
  readonly first: number;
  /** What it loads after that, and what a click may load. */
  readonly later: number;
  readonly isEditor: boolean;
};

const screensOf = (manifest: Manifest): readonly string[] =>
  (manifest[START]?.dynamicImports ?? []).filter((name) => name.startsWith('src/screens/'));

/** A chunk and all that it cannot do without. */
function neededBy(manifest: Manifest, name: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (!chunk || seen.has(name)) return seen;
  seen.add(name);
  for (const one of chunk.imports ?? []) neededBy(manifest, one, seen);
  return seen;
}

/** Chunks that a screen asks for once it is there, those that such parts ask for among them; other screens are none of it. */
function askedFor(manifest: Manifest, begun: ReadonlySet<string>, from: Iterable<string>): Set<string> {
  const screens = new Set(screensOf(manifest));
  const later = new Set<string>();
  const open = [...from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const part of manifest[name]?.dynamicImports ?? []) {
      if (screens.has(part)) continue;
      for (const one of neededBy(manifest, part)) {
        if (begun.has(one) || later.has(one)) continue;
        later.add(one);
        open.push(one);
      }
    }
  }
  return later;
}

const filesOf = (manifest: Manifest, names: Iterable<string>): ReadonlySet<string> =>
  new Set([...names].flatMap((name) => [manifest[name]?.file ?? [], manifest[name]?.css ?? []].flat()));

/** Every screen by what it costs; `sizeOf` is the packed size of a file. */
export function measure(manifest: Manifest, sizeOf: (file: string) => number): readonly Measured[] {
  const start = neededBy(manifest, START);
  const sum = (files: Iterable<string>): number => [...files].reduce((total, file) => total + sizeOf(file), 0);
  return screensOf(manifest).map((route) => {
    const own = neededBy(manifest, route);
    for (const [folder, frame] of AROUND) if (route.startsWith(folder)) neededBy(manifest, frame, own);
    const begun = new Set([...start, ...own]);
    const first = filesOf(manifest, begun);
    const rest = askedFor(
      manifest,
      begun,
      [...own].filter((name) => !start.has(name)),
    );
    const later = [...filesOf(manifest, rest)].filter((file) => !first.has(file));
    return { route, first: sum(first), later: sum(later), isEditor: EDITORS.has(route) };
  });
}

/** What is above its budget, in words; empty: nothing. */
export function aboveBudget(measured: readonly Measured[], fonts: number): readonly string[] {
  const words = (what: string, bytes: number, most: number): readonly string[] =>
    bytes > most ? [`${what}: ${bytes} bytes, ${bytes - most} above what it may cost`] : [];
  return [
    ...measured.flatMap(({ route, first, later, isEditor }) => [
      ...words(`${route}, first visit`, first, BUDGETS.route),
      ...(isEditor ? words(`${route}, what comes after it`, later, BUDGETS.editor) : []),
    ]),
    ...words('fonts', fonts, BUDGETS.fonts),
  ];
}

/** A build in a folder: its screens, and the bytes of its fonts. */
export function measureBuild(folder: string): { readonly measured: readonly Measured[]; readonly fonts: number } {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const sizes = new Map<string, number>();
  const sizeOf = (file: string): number => {
    const size = sizes.get(file) ?? gzipSync(readFileSync(join(folder, file)), { level: 9 }).length;
    sizes.set(file, size);
    return size;
  };
  const fonts = readdirSync(join(folder, 'assets'))
    .filter((name) => name.endsWith('.woff2'))
    .reduce((total, name) => total + readFileSync(join(folder, 'assets', name)).length, 0);
  return { measured: measure(manifest, sizeOf), fonts };
}
