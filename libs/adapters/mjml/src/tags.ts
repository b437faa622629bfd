import type { MjmlFault } from '@carillon/ports';

type Tag = { readonly text: string; readonly at: number };
type Tags = {
  /** Those that are closed, in their order. */
  readonly closed: readonly Tag[];
  /** Offset of an unclosed tag, after which no further tags are parsed. */
  readonly unclosed: number | null;
};

const isBlock = (tag: string): boolean => /^\{\{~?\s*(?:[#/^]|else\b)/.test(tag);
const isComment = (tag: string): boolean => /^\{\{~?!/.test(tag);

/**
 * The tags of a text, `{{...}}`, comments too; `\{{` begins none. Sources are hostile and this runs on the main thread: no
 * character is looked at for more than one tag, and the first that never ends is the last that is looked for.
 */
function tagsIn(text: string): Tags {
  const closed: Tag[] = [];
  let at = text.indexOf('{{');
  while (at !== -1) {
    if (text[at - 1] === '\\' && text[at - 2] !== '\\') {
      at = text.indexOf('{{', at + 2);
      continue;
    }
    const end = endOf(text, at);
    if (end === -1) return { closed, unclosed: at };
    closed.push({ text: text.slice(at, end), at });
    at = text.indexOf('{{', end);
  }
  return { closed, unclosed: null };
}

/** Where the text after a tag begins; -1 of one that never ends. */
function endOf(text: string, at: number): number {
  const inside = text[at + 2] === '~' ? at + 3 : at + 2;
  const end = text.startsWith('!--', inside) ? /--~?\}\}/g : /\}\}\}?/g;
  end.lastIndex = text[inside] === '!' ? inside + 1 : inside;
  return end.test(text) ? end.lastIndex : -1;
}

/** What is wrong with the first tag of a source that never ends. */
export function unclosedTag(source: string): MjmlFault | null {
  const { unclosed } = tagsIn(source);
  if (unclosed === null) return null;
  return told(source, unclosed, 'This tag is not closed', 'Close it: {{...}}, or {{!-- ... --}}.');
}

/**
 * Returns the first tag of a source that is missing from the output or has moved out of its block. A compiler drops
 * unknown attributes silently, and nobody would notice the missing part of the mail.
 */
export function lostTag(source: string, html: string): MjmlFault | null {
  const out = tagsIn(html).closed.map(({ text }) => text);
  const left = new Map<string, number>();
  for (const tag of out) left.set(tag, (left.get(tag) ?? 0) + 1);
  const blocks = out.filter(isBlock);
  let block = 0;
  for (const { text: tag, at } of tagsIn(source).closed) {
    if (isComment(tag)) continue;
    const count = left.get(tag) ?? 0;
    left.set(tag, count - 1);
    if (count <= 0) return told(source, at, `${shown(tag)} does not come out of the compiler`, WHERE);
    if (!isBlock(tag)) continue;
    block = blocks.indexOf(tag, block) + 1;
    if (block === 0) return told(source, at, `${shown(tag)} comes out in another place`, WHERE);
  }
  return null;
}

const WHERE = 'Blocks go into <mj-raw> between elements; values into text, or attributes that the element has.';
const shown = (tag: string): string => (tag.length > 60 ? `${tag.slice(0, 57)}...` : tag);

function told(source: string, at: number, message: string, fix: string): MjmlFault {
  const before = source.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n'), message, fix };
}
