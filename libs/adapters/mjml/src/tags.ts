import type { MjmlFault } from '@carillon/ports';

/** Tags of templates: `{{...}}`, comments too. */
const TAG = /\{\{(?:~?!--[\s\S]*?--~?|[\s\S]*?)\}\}\}?/g;
const isBlock = (tag: string): boolean => /^\{\{~?\s*(?:[#/^]|else\b)/.test(tag);
const isComment = (tag: string): boolean => /^\{\{~?!/.test(tag);

/**
 * The first tag of a source that does not come out, or comes out in another place than its block begins or ends: where a
 * compiler takes an attribute that it does not know away, nobody would see what is missing from the mail.
 */
export function lostTag(source: string, html: string): MjmlFault | null {
  const left = new Map<string, number>();
  for (const [tag] of html.matchAll(TAG)) left.set(tag, (left.get(tag) ?? 0) + 1);
  const blocks = [...html.matchAll(TAG)].map(([tag]) => tag).filter(isBlock);
  let block = 0;
  for (const { 0: tag, index } of source.matchAll(TAG)) {
    if (isComment(tag)) continue;
    const count = left.get(tag) ?? 0;
    left.set(tag, count - 1);
    if (count <= 0) return told(source, index, `${shown(tag)} does not come out of the compiler`);
    if (!isBlock(tag)) continue;
    block = blocks.indexOf(tag, block) + 1;
    if (block === 0) return told(source, index, `${shown(tag)} comes out in another place`);
  }
  return null;
}

const shown = (tag: string): string => (tag.length > 60 ? `${tag.slice(0, 57)}...` : tag);

function told(source: string, at: number, message: string): MjmlFault {
  const before = source.slice(0, at);
  return {
    line: before.split('\n').length,
    column: at - before.lastIndexOf('\n'),
    message,
    fix: 'Blocks go into <mj-raw> between elements; values into text, or attributes that the element has.',
  };
}
