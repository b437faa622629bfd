const TAG = /<(\/?(?:body|head|html|!doctype))(?=[\s>])/iy;

const HIDDEN =
  'display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all';
/** Characters of no width: programs show so much beside the subject that the body would follow a short preheader. */
const FILLING = '&#847;&zwnj;&nbsp;'.repeat(40);

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Returns the HTML with a hidden preheader at its beginning, which message lists show next to the subject. The text is
 * escaped. Without text the HTML stays unchanged.
 */
export function withPreheader(html: string, preheader: string): string {
  const line = preheader.trim();
  if (line === '') return html;
  const escaped = line.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
  const at = beginningOf(html);
  return `${html.slice(0, at)}<div style="${HIDDEN}">${escaped}${FILLING}</div>${html.slice(at)}`;
}

/** Behind `<body>`; of HTML without one behind its head, else behind what introduces it. Reads the HTML once. */
function beginningOf(html: string): number {
  let found = 0;
  let at = html.indexOf('<');
  while (at !== -1) {
    // Comments may hold tags that no program sees.
    const isComment = html.startsWith('<!--', at);
    const name = isComment ? undefined : tagAt(html, at);
    const end = isComment ? endOfComment(html, at) : name === undefined ? at + 1 : endOfTag(html, at);
    // An unterminated tag has no content after it.
    if (end === -1 || name === '/body') return found;
    if (name === 'body') return end;
    if (name === '/head' || name === 'html' || name === '!doctype') found = end;
    at = html.indexOf('<', end);
  }
  return found;
}

function tagAt(html: string, at: number): string | undefined {
  TAG.lastIndex = at;
  return TAG.exec(html)?.[1]?.toLowerCase();
}

function endOfComment(html: string, at: number): number {
  const end = html.indexOf('-->', at + 4);
  return end === -1 ? -1 : end + 3;
}

/** A quoted value may hold `>`. */
function endOfTag(html: string, from: number): number {
  let quote = '';
  for (let at = from; at < html.length; at += 1) {
    const character = html[at] ?? '';
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at + 1;
  }
  return -1;
}
