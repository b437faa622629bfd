/** Rules for the markdown of the documentation: anchors, links, tables and diagrams. They also collect what the site needs of a page. */

export type Token = {
  type: string;
  tag: string;
  content: string;
  readonly info: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
};

type Environment = { readonly file: string };
type Rule = (tokens: Token[], at: number) => string;

/** The part of markdown-it that is used here. */
export type Markdown = {
  options: { html: boolean };
  readonly core: {
    readonly ruler: {
      push(name: string, rule: (state: { readonly tokens: Token[]; readonly env: Environment }) => void): void;
    };
  };
  readonly renderer: { readonly rules: Record<string, Rule | undefined> };
  readonly utils: { escapeHtml(text: string): string };
};

/** A heading with the text below it, as the search finds it. The first section of a page has an empty anchor. */
export type Section = { readonly anchor: string; readonly heading: string; text: string };

/** What the rules read from a page. */
export type PageFacts = {
  readonly anchors: Set<string>;
  /** Links to pages of the site: `/docs/rules#terms`. */
  readonly links: string[];
  readonly sections: Section[];
};

/** Where a link of a page leads: a page of the site, another address, or a file that only the source code has. */
export type Target = { readonly site: string } | { readonly address: string } | { readonly source: string };

export type MarkdownSettings = {
  readonly targetOf: (file: string, href: string) => Target;
  readonly imageOf: (file: string, source: string) => string;
  readonly diagramOf: (text: string) => string;
  /** Called with the facts of a page whenever the page is rendered. */
  readonly onPage: (file: string, facts: PageFacts) => void;
};

const textOf = (token: Token): string =>
  (token.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('');

/** The anchor that GitHub gives a heading. */
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

function unusedAnchor(anchors: ReadonlySet<string>, slug: string): string {
  let anchor = slug;
  for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
  return anchor;
}

/** Gives every heading an anchor, and every table row whose first cell is one code. */
function setAnchors(tokens: readonly Token[], { anchors }: PageFacts): void {
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const anchor = unusedAnchor(anchors, slugOf(textOf(tokens[at + 1]!)));
    anchors.add(anchor);
    token.attrSet('id', anchor);
  }
  for (const [at, token] of tokens.entries()) {
    const [cell, inline] = [tokens[at + 1], tokens[at + 2]];
    if (token.type !== 'tr_open' || cell?.type !== 'td_open' || inline?.children?.length !== 1) continue;
    const [code] = inline.children;
    if (code?.type !== 'code_inline' || !/^[\w.-]+$/.test(code.content) || anchors.has(code.content)) continue;
    anchors.add(code.content);
    token.attrSet('id', code.content);
  }
}

function collectSections(tokens: readonly Token[], { sections }: PageFacts): void {
  let section: Section = { anchor: '', heading: '', text: '' };
  sections.push(section);
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open' && token.tag !== 'h1') {
      section = { anchor: token.attrGet('id') ?? '', heading: textOf(tokens[at + 1]!), text: '' };
      sections.push(section);
    } else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open') section.text += `${textOf(token)} `;
    else if (token.type === 'fence' && token.info.trim() !== 'mermaid') section.text += `${token.content} `;
  }
}

/** Links a page of the site or another address. Text that links a file of the source code stays text, with the path behind it. */
function resolveLinks(children: Token[], file: string, settings: MarkdownSettings, facts: PageFacts): void {
  let source: string | null = null;
  for (const token of children) {
    if (token.type === 'image') token.attrSet('src', settings.imageOf(file, token.attrGet('src') ?? ''));
    if (token.type === 'link_open') {
      const target = settings.targetOf(file, token.attrGet('href') ?? '');
      if ('source' in target) {
        source = target.source;
        token.type = 'source_open';
      } else if ('site' in target) {
        facts.links.push(target.site);
        token.attrSet('href', target.site);
      } else token.attrSet('href', target.address);
    } else if (token.type === 'link_close' && source !== null) {
      token.type = 'source_close';
      token.content = source;
      source = null;
    }
  }
}

/** Adds the rules to a parser. */
export function addRules(markdown: Markdown, settings: MarkdownSettings): void {
  const { rules } = markdown.renderer;
  const escapeHtml = (text: string): string => markdown.utils.escapeHtml(text);
  // Comments are found only if HTML is on. All other HTML is shown as text.
  markdown.options.html = true;
  const asText: Rule = (tokens, at) => {
    const text = tokens[at]!.content.replaceAll(/<!--[\s\S]*?-->/g, '');
    return text.trim() === '' ? '' : escapeHtml(text);
  };
  rules['html_block'] = asText;
  rules['html_inline'] = asText;
  rules['source_open'] = () => '';
  rules['source_close'] = (tokens, at) => ` (<code>${escapeHtml(tokens[at]!.content)}</code> of the source code)`;
  // A reader with a keyboard scrolls wide parts by focusing them.
  rules['table_open'] = () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  const block = (tokens: Token[], at: number): string =>
    `<pre tabindex="0"><code>${escapeHtml(tokens[at]!.content)}</code></pre>\n`;
  rules['code_block'] = block;
  rules['fence'] = (tokens, at) =>
    tokens[at]!.info.trim() === 'mermaid' ? settings.diagramOf(tokens[at]!.content) : block(tokens, at);
  markdown.core.ruler.push('carillon', ({ tokens, env }) => {
    const facts: PageFacts = { anchors: new Set(), links: [], sections: [] };
    setAnchors(tokens, facts);
    collectSections(tokens, facts);
    for (const { children } of tokens) if (children) resolveLinks(children, env.file, settings, facts);
    settings.onPage(env.file, facts);
  });
}
