import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutPortalLinks } from '@carillon/runtime';
import { describe, expect, it } from 'vitest';
import type { PageFacts } from '../../../tools/docs/markdown.ts';
import { linkResolver, readPages, shelvesOf, type DocsPage } from '../../../tools/docs/pages.ts';
import { checkLinks } from '../../../tools/docs/site.ts';

const pageOf = (file: string, text = '# Title\n'): DocsPage => ({
  file,
  address: file === 'README.md' ? '/docs' : `/docs/${file.replace('.md', '')}`,
  title: 'Title',
  text,
});

describe('The table of contents of the documentation', () => {
  it('holds every page, and names no page twice', () => {
    const pages = readPages();
    const listed = shelvesOf(pages).flatMap((shelf) => shelf.pages.map(({ file }) => file));
    expect(listed.toSorted()).toEqual(
      pages
        .slice(1)
        .map(({ file }) => file)
        .toSorted(),
    );
  });

  it('fails the build if a page is missing', () => {
    const contents = pageOf('README.md', '# Contents\n## Guides\n[rules](rules.md)\n');
    expect(() => shelvesOf([contents, pageOf('rules.md'), pageOf('waiting.md')])).toThrow(
      'docs/README.md does not link these pages: waiting.md',
    );
  });
});

describe('The layout of a page', () => {
  it('marks links to portal and API reference, so that other servers hide them', () => {
    const layout = readFileSync(join(import.meta.dirname, '../../../apps/portal/docs-site/layout/page.njk'), 'utf8');
    const portalLinks = /href="\/(?:docs\/api)?"/g;
    expect(layout.match(portalLinks)).toHaveLength(3);
    expect(withoutPortalLinks(layout).match(portalLinks)).toBeNull();
  });
});

describe('A link of the documentation', () => {
  const resolve = linkResolver(readPages());

  it('leads to the page in the product, or to the source file', () => {
    expect(resolve('errors.md', 'rules.md#terms')).toEqual({ site: '/docs/rules#terms' });
    expect(resolve('errors.md', '#top')).toEqual({ site: '/docs/errors#top' });
    expect(resolve('README.md', 'examples/demo')).toEqual({ site: '/docs/examples/demo' });
    expect(resolve('README.md', 'examples/demo/carillon.yaml')).toEqual({ site: '/docs/examples/demo' });
    expect(resolve('examples/demo/README.md', '../../rules.md')).toEqual({ site: '/docs/rules' });
    expect(resolve('README.md', '../test/walkthrough')).toEqual({ source: 'test/walkthrough' });
    expect(resolve('README.md', 'contributing.md#programs')).toEqual({ source: 'docs/contributing.md' });
    expect(resolve('README.md', 'https://example.com/')).toEqual({ address: 'https://example.com/' });
  });

  it('fails the build if its page does not exist', () => {
    expect(() => resolve('rules.md', 'rulez.md')).toThrow('docs/rules.md links rulez.md, which does not exist');
  });

  it('fails the build if its anchor does not exist', () => {
    const facts = (links: string[]): PageFacts => ({ anchors: new Set(['terms']), links, sections: [] });
    const check = (link: string): void => checkLinks([pageOf('rules.md')], new Map([['rules.md', facts([link])]]));
    expect(() => check('/docs/rules#terms')).not.toThrow();
    expect(() => check('/docs/rules#forms')).toThrow('docs/rules.md: /docs/rules#forms does not exist');
  });
});
