/** The pages of the documentation: which files become pages, and where links between them lead. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, extname, join, posix, relative, resolve } from 'node:path';
import type { Target } from './markdown.ts';

const root = resolve(import.meta.dirname, '../..');
export const DOCS = join(root, 'docs');

/** Pages for developers of Carillon. They are in the source code only. */
const FOR_MAINTAINERS = new Set(['contributing.md', 'benchmarks.md', 'portal-design.md']);

export type DocsPage = {
  /** Path below `docs`. Links in the page are relative to its folder. */
  readonly file: string;
  /** Address in the product. */
  readonly address: string;
  readonly title: string;
  readonly text: string;
};

/** Returns the first heading of a page. Throws if the page has none. */
function titleOf(file: string, text: string): string {
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`docs/${file} has no heading of level 1`);
  return title.replaceAll('`', '');
}

const page = (file: string, name: string, text: string): DocsPage => ({
  file,
  address: name === '' ? '/docs' : `/docs/${name}`,
  title: titleOf(file, text),
  text,
});

/** Returns a page with the README of an example folder and every file in it. */
function examplePage(name: string): DocsPage {
  const folder = join(DOCS, 'examples', name);
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules') && entry.name !== 'README.md')
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return `### \`${file}\`\n\n\`\`\`\`${extname(file).slice(1)}\n${text.trimEnd()}\n\`\`\`\`\n`;
    });
  const text = `${readme}\n## Files of \`docs/examples/${name}\`\n\n${files.join('\n')}`;
  return page(`examples/${name}/README.md`, `examples/${name}`, text);
}

/** Returns all pages. The first is the table of contents, `docs/README.md`. */
export function readPages(): readonly DocsPage[] {
  const files = readdirSync(DOCS)
    .filter((file) => file.endsWith('.md') && file !== 'README.md' && !FOR_MAINTAINERS.has(file))
    .toSorted();
  const examples = readdirSync(join(DOCS, 'examples')).filter((name) =>
    existsSync(join(DOCS, 'examples', name, 'README.md')),
  );
  return [
    page('README.md', '', readFileSync(join(DOCS, 'README.md'), 'utf8')),
    ...files.map((file) => page(file, file.slice(0, -'.md'.length), readFileSync(join(DOCS, file), 'utf8'))),
    ...examples.toSorted().map(examplePage),
  ];
}

export type Shelf = { readonly title: string; readonly pages: readonly DocsPage[] };

/** Returns the shelves of `docs/README.md` with the pages that each of them links. Throws if a page is on no shelf. */
export function shelvesOf(pages: readonly DocsPage[]): readonly Shelf[] {
  const byAddress = new Map(pages.map((each) => [each.address, each]));
  const targetOf = linkResolver(pages);
  const [contents, ...others] = pages;
  const missing = new Set(others);
  const shelves = contents!.text
    .split(/^## /m)
    .slice(1)
    .map((shelf) => {
      const found = [...shelf.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, href = '']) => {
        const target = targetOf(contents!.file, href);
        const linked = 'site' in target ? byAddress.get(target.site.split('#')[0] ?? '') : undefined;
        return linked && missing.delete(linked) ? [linked] : [];
      });
      return { title: shelf.split('\n')[0] ?? '', pages: found };
    });
  if (missing.size > 0) {
    throw new Error(`docs/README.md does not link these pages: ${[...missing].map(({ file }) => file).join(', ')}`);
  }
  return shelves;
}

/** Returns a function that tells where a link in a file leads. It throws if no file of `docs` is there. */
export function linkResolver(pages: readonly DocsPage[]): (file: string, href: string) => Target {
  const addresses = new Map(pages.map(({ file, address }) => [file, address]));
  return (file, href) => {
    if (/^[a-z]+:/.test(href)) return { address: href };
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? file : posix.join(dirname(file), path);
    const address = addresses.get(target) ?? addresses.get(posix.join(target, 'README.md'));
    if (address !== undefined) return { site: anchor === undefined ? address : `${address}#${anchor}` };
    if (target.startsWith('..')) return { source: posix.join('docs', target) };
    if (!existsSync(join(DOCS, target))) throw new Error(`docs/${file} links ${href}, which does not exist`);
    const [, example] = /^examples\/([^/]+)\//.exec(target) ?? [];
    return example === undefined ? { source: posix.join('docs', target) } : { site: `/docs/examples/${example}` };
  };
}
