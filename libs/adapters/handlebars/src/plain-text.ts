/** Characters that mail templates write by name. Others stay as they are written, which can still be read. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', shy: '', zwnj: '', zwj: '', ensp: ' ', emsp: ' ', thinsp: ' ',
  copy: '©', reg: '®', trade: '™', hellip: '…', mdash: '—', ndash: '–', bull: '•', middot: '·', laquo: '«', raquo: '»',
  lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„', euro: '€', pound: '£', yen: '¥', cent: '¢',
  sect: '§', para: '¶', deg: '°', plusmn: '±', times: '×', divide: '÷', frac12: '½', larr: '←', rarr: '→', uarr: '↑', darr: '↓',
  check: '✓', star: '☆', auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß', eacute: 'é', egrave: 'è',
  ecirc: 'ê', agrave: 'à', aacute: 'á', acirc: 'â', ccedil: 'ç', ntilde: 'ñ', oacute: 'ó', iacute: 'í', uacute: 'ú', aring: 'å',
  oslash: 'ø', aelig: 'æ', Eacute: 'É', Aring: 'Å', Oslash: 'Ø', iexcl: '¡', iquest: '¿',
}; // prettier-ignore

function decode(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]\w{1,8}));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] as string) : whole;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      const allowed =
        code === 10 || (code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && code !== 127);
      return allowed ? String.fromCodePoint(code) : '';
    },
  );
}

/** Elements whose content nobody sees. */
const UNSEEN = new Set(['style', 'script', 'head', 'title', 'template', 'noscript']);
/** Elements that stand on lines of their own, with an empty line around them or without. */
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'table', 'blockquote', 'pre', 'hr']);
const LINES = new Set([
  'div',
  'tr',
  'li',
  'br',
  'section',
  'article',
  'header',
  'footer',
  'center',
  'dt',
  'dd',
  'form',
]);
const CELLS = new Set(['td', 'th']);

type Tag = { readonly name: string; readonly closing: boolean; readonly source: string; readonly end: number };

/** Reads the tag at `at`; undefined if `<` is only a character there. An unfinished tag swallows the rest, as in browsers. */
function tagAt(html: string, at: number): Tag | undefined {
  const start = /^<(\/?)([a-z][\w:-]{0,30})/i.exec(html.slice(at, at + 34));
  if (!start) return undefined;
  let quote = '';
  let end = at + start[0].length;
  for (; end < html.length; end += 1) {
    const char = html[end] as string;
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '>') break;
    else if ((char === '"' || char === "'") && html[end - 1] === '=') quote = char;
  }
  return {
    name: (start[2] as string).toLowerCase(),
    closing: start[1] === '/',
    source: html.slice(at, end),
    end: end + 1,
  };
}

const attribute = (tag: Tag, name: string): string => {
  const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag.source);
  return decode(found?.[1] ?? found?.[2] ?? '').trim();
};

/** Writes words and breaks, so that blank space never doubles. */
class Lines {
  #text = '';
  #pending = '';
  #heard = '';
  add(text: string): void {
    const words = text.replace(/[ \t\r\n\f]+/g, ' ');
    if (words.startsWith(' ')) this.space();
    const trimmed = words.trim();
    if (trimmed === '') return;
    this.#text += (this.#text === '' ? '' : this.#pending) + trimmed;
    this.#heard += this.#pending + trimmed;
    this.#pending = words.endsWith(' ') ? ' ' : '';
  }
  space(): void {
    if (this.#pending === '') this.#pending = ' ';
  }
  break(lines: number): void {
    if (!this.#pending.startsWith('\n') || this.#pending.length < lines) this.#pending = '\n'.repeat(lines);
  }
  /** One more line, even after a line: `<br><br>` is an empty line. */
  line(): void {
    this.#pending = this.#pending.startsWith('\n') ? '\n\n' : '\n';
  }
  /** Starts to listen for the words of a link; they are collected aside, as slicing a growing text would copy it. */
  listen(): void {
    this.#heard = '';
  }
  get heard(): string {
    return this.#heard.trim();
  }
  get text(): string {
    return this.#text;
  }
}

/**
 * The text alternative of an HTML mail whose author wrote none: paragraphs, list items, rows, and links with their
 * address behind them. One pass, linear in the length. It knows no style sheets, so what CSS hides is in the text.
 */
export function textOfHtml(html: string): string {
  const lines = new Lines();
  let link: string | undefined;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open !== at) lines.add(decode(html.slice(at, open === -1 ? html.length : open)));
    if (open === -1) break;
    if (html.startsWith('<!', open)) {
      at = endOfMarkup(html, open);
      continue;
    }
    const tag = tagAt(html, open);
    if (!tag) {
      lines.add('<');
      at = open + 1;
      continue;
    }
    at = tag.end;
    if (UNSEEN.has(tag.name) && !tag.closing) at = afterClosing(html, tag);
    else if (tag.name === 'a') link = writeLink(lines, tag, link);
    else writeTag(lines, tag);
  }
  if (link !== undefined) writeLink(lines, { name: 'a', closing: true, source: '', end: 0 }, link);
  return lines.text;
}

/** Ends the link that is open, and starts one if the tag does; returns its address. */
function writeLink(lines: Lines, tag: Tag, open: string | undefined): string | undefined {
  if (open !== undefined && /^(https?|mailto|tel):/i.test(open)) {
    const shown = lines.heard;
    // The address is left out where it is the text already.
    if (shown !== open && `mailto:${shown}` !== open) {
      lines.space();
      lines.add(shown === '' ? open : `(${open})`);
    }
  }
  lines.listen();
  return tag.closing ? undefined : attribute(tag, 'href');
}

function writeTag(lines: Lines, tag: Tag): void {
  if (PARAGRAPHS.has(tag.name)) lines.break(2);
  else if (tag.name === 'br') lines.line();
  else if (LINES.has(tag.name)) lines.break(1);
  else if (CELLS.has(tag.name)) lines.space();
  if (tag.closing) return;
  if (tag.name === 'li') lines.add('- ');
  if (tag.name === 'hr') {
    lines.add('---');
    lines.break(2);
  }
  if (tag.name === 'img') lines.add(attribute(tag, 'alt'));
}

/** The end of a comment or declaration; without one the rest is inside it. */
function endOfMarkup(html: string, at: number): number {
  const closing = html.startsWith('<!--', at) ? '-->' : '>';
  const end = html.indexOf(closing, at + 2);
  return end === -1 ? html.length : end + closing.length;
}

function afterClosing(html: string, tag: Tag): number {
  const closing = new RegExp(`</${tag.name}`, 'gi');
  closing.lastIndex = tag.end;
  const end = closing.exec(html) ? html.indexOf('>', closing.lastIndex) : -1;
  return end === -1 ? html.length : end + 1;
}
