/**
 * Builds the documentation that the control role serves at `/docs` (decision 0095). Pages are rendered by Eleventy. A link to a
 * page or an anchor that does not exist fails the build. `tools/portal.ts` runs this program if a source has changed.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, posix, resolve } from 'node:path';
import { build } from 'esbuild';
import { buildInto, fingerprintOf } from '../built-folder.ts';
import { addRules, type Markdown, type PageFacts } from './markdown.ts';
import { DOCS, linkResolver, readPages, shelvesOf, type DocsPage } from './pages.ts';

const root = resolve(import.meta.dirname, '../..');
const look = join(root, 'apps/portal/docs-site');
const ICON = join(root, 'apps/portal/public/assets/icon.svg');

/** Where the control role reads the documentation in a checkout: a link to the last build. */
export const DOCS_BUILT = join(root, 'apps/portal/docs-dist');
export const DOCS_PROGRAM = import.meta.filename;
/** The package whose code is in the script of the pages, for the licences of a release. */
export const PACKAGES_OF_DOCS = ['node_modules/minisearch'];

/** The files that a build is made from. Decisions, benchmarks and internals are not served. */
const SOURCES = [
  'docs',
  'apps/portal/docs-site',
  'apps/portal/public/assets/icon.svg',
  'tools/docs',
  'tools/built-folder.ts',
  'package.json',
];
const NOT_SERVED = /\/docs\/(?:decisions|benchmarks|internals)\/|\/node_modules\//;
export const docsFingerprint = (): string => fingerprintOf(root, SOURCES, 'docs', (path) => !NOT_SERVED.test(path));

/** The part of Eleventy that is used here. */
type EleventySettings = {
  setIncludesDirectory(folder: string): void;
  amendLibrary(name: 'md', change: (markdown: Markdown) => void): void;
  addTemplate(path: string, text: string, data: object): void;
};
type EleventyClass = new (
  input: string,
  output: string,
  options: { readonly quietMode: boolean; readonly configPath: null; config(settings: EleventySettings): void },
) => { toJSON(): Promise<readonly { readonly url: string; readonly content: string }[]> };

/** Loads a package without its types, so that type checks pass before `npm ci`. */
async function load<Module>(name: string): Promise<Module> {
  try {
    return (await import(name)) as Module;
  } catch (error) {
    throw new Error(`The documentation needs the package ${name}. Run npm ci.`, { cause: error });
  }
}

/** Returns a function that draws mermaid text as SVG. Colours come from docs.css: the policy of the pages allows no inline style. */
async function diagrams(): Promise<(text: string) => string> {
  const { renderMermaidSVG } = await load<{ readonly renderMermaidSVG: (text: string) => string }>('beautiful-mermaid');
  let count = 0;
  return (text) => {
    count += 1;
    const svg = renderMermaidSVG(text)
      .replace(/<style>[\s\S]*?<\/style>/, '')
      .replace(/ style="[^"]*"/, ' role="img" aria-label="Diagram"')
      .replaceAll(/ id="([^"]+)"/g, ` id="diagram-${count}-$1"`)
      .replaceAll(/url\(#([^)]+)\)/g, `url(#diagram-${count}-$1)`)
      .replaceAll(/ data-[\w-]+="[^"]*"/g, '')
      // An empty line would end the block of HTML.
      .replaceAll(/\n\s*\n/g, '\n');
    return `<div class="diagram" tabindex="0" role="group" aria-label="Diagram">${svg}</div>\n`;
  };
}

/** Writes a file below `assets` with the hash of its content in its name, so that browsers keep it. Returns its address. */
async function writeAsset(fresh: string, name: string, content: string | Uint8Array): Promise<string> {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const file = name.replace(/(?=\.\w+$)/, `-${hash}`);
  await mkdir(join(fresh, 'assets'), { recursive: true });
  await writeFile(join(fresh, 'assets', file), content);
  return `/docs/assets/${file}`;
}

async function scriptOfPages(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(look, 'docs.js')],
    bundle: true,
    write: false,
    minify: true,
    target: ['chrome123', 'firefox120', 'safari17.5'],
    absWorkingDir: root,
  });
  return outputFiles[0]!.contents;
}

/** Throws if a page links a page or an anchor that does not exist. */
export function checkLinks(pages: readonly DocsPage[], facts: ReadonlyMap<string, PageFacts>): void {
  const anchors = new Map(pages.map(({ file, address }) => [address, facts.get(file)?.anchors]));
  const dead = pages.flatMap(({ file }) =>
    (facts.get(file)?.links ?? []).flatMap((link) => {
      const [address = '', anchor] = link.split('#');
      const isThere = anchors.has(address) && (anchor === undefined || anchors.get(address)?.has(anchor) === true);
      return isThere ? [] : [`docs/${file}: ${link} does not exist`];
    }),
  );
  if (dead.length > 0) throw new Error(`dead links in the documentation:\n${dead.join('\n')}`);
}

type Assets = { readonly style: string; readonly script: string; readonly icon: string };
type Rendered = {
  /** By address of the page. */
  readonly html: ReadonlyMap<string, string>;
  /** By file of the page. */
  readonly facts: ReadonlyMap<string, PageFacts>;
  /** Paths below `docs`. */
  readonly images: ReadonlySet<string>;
};

/** Renders the pages with Eleventy. All of them are given as text, because a page of an example folder is made from many files. */
async function render(pages: readonly DocsPage[], assets: Assets): Promise<Rendered> {
  const { Eleventy } = await load<{ readonly Eleventy: EleventyClass }>('@11ty/eleventy');
  const diagramOf = await diagrams();
  const shelves = shelvesOf(pages);
  const facts = new Map<string, PageFacts>();
  const images = new Set<string>();
  const site = new Eleventy('apps/portal/docs-site', 'apps/portal/docs-dist', {
    quietMode: true,
    configPath: null,
    config(settings) {
      settings.setIncludesDirectory('layout');
      settings.amendLibrary('md', (markdown) =>
        addRules(markdown, {
          targetOf: linkResolver(pages),
          imageOf(file, source) {
            const name = posix.join(posix.dirname(file), source);
            images.add(name);
            return `/docs/${name}`;
          },
          diagramOf,
          onPage: (file, found) => void facts.set(file, found),
        }),
      );
      for (const { file, address, title, text } of pages) {
        const permalink = `${address}/index.html`;
        // Markdown only: text in double braces is an example of a template.
        const templateEngineOverride = 'md';
        const data = { file, address, title, shelves, assets, permalink, templateEngineOverride, layout: 'page.njk' };
        settings.addTemplate(file.replaceAll('/', '-'), text, data);
      }
    },
  });
  const rendered = await site.toJSON();
  return { html: new Map(rendered.map(({ url, content }) => [url.replace(/\/$/, ''), content])), facts, images };
}

/** What the search looks through: every section of every page. */
const searchEntries = (pages: readonly DocsPage[], facts: ReadonlyMap<string, PageFacts>): readonly object[] =>
  pages.flatMap(({ file, address, title }) =>
    (facts.get(file)?.sections ?? []).map(({ anchor, heading, text }) => ({
      address: anchor === '' ? address : `${address}#${anchor}`,
      title,
      heading,
      text: text.replaceAll(/\s+/g, ' ').trim(),
    })),
  );

/** Stands in the pages for the address of the search index, whose name follows from the texts of all pages. */
const INDEX_PLACEHOLDER = 'CARILLON_SEARCH_INDEX';

/** Builds the documentation into a folder. */
async function buildDocs(fresh: string): Promise<void> {
  const pages = readPages();
  const assets = {
    style: await writeAsset(fresh, 'docs.css', await readFile(join(look, 'docs.css'))),
    script: await writeAsset(fresh, 'docs.js', await scriptOfPages()),
    icon: await writeAsset(fresh, 'icon.svg', await readFile(ICON)),
  };
  const { html, facts, images } = await render(pages, assets);
  checkLinks(pages, facts);
  const index = await writeAsset(fresh, 'search.json', JSON.stringify(searchEntries(pages, facts)));
  for (const { address } of pages) {
    const file = join(fresh, address === '/docs' ? 'index.html' : `${address.slice('/docs/'.length)}.html`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, html.get(address)!.replace(INDEX_PLACEHOLDER, index));
  }
  for (const name of images) {
    await mkdir(dirname(join(fresh, name)), { recursive: true });
    await cp(join(DOCS, name), join(fresh, name));
  }
}

if (import.meta.main && process.argv.includes('--build-here')) {
  await buildInto(DOCS_BUILT, docsFingerprint(), buildDocs);
}
