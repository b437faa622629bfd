import { readJson, type JsonFault, type JsonFaultCode, type JsonLimits } from '@carillon/domain/events';
import type { Json } from '@carillon/kernel';

/** The items of an answer. Those that cannot be read are null, and `unread` says why, by their place. */
export type Items = { readonly items: readonly Json[]; readonly unread: ReadonlyMap<number, JsonFaultCode> };

/** Faults that spoil only the item that has them. */
const OF_ONE_ITEM: ReadonlySet<JsonFaultCode> = new Set(['forbidden_key', 'duplicate_key', 'number_out_of_range']);

/** Reads a list item by item where one of them spoils the whole; null: that would not help, or no item can be read. */
export function readItemsApart(body: Uint8Array, fault: JsonFault, limits: JsonLimits): Items | null {
  if (!OF_ONE_ITEM.has(fault.code)) return null;
  const texts = cutApart(new TextDecoder().decode(body));
  if (texts === null) return null;
  const unread = new Map<number, JsonFaultCode>();
  const encoder = new TextEncoder();
  const items = texts.map((text, index): Json => {
    const read = readJson(encoder.encode(text), limits);
    if (read.ok) return read.value;
    unread.set(index, read.error.code);
    return null;
  });
  return unread.size === items.length ? null : { items, unread };
}

/** The texts of a list's items; null where the text is no JSON, or no list. */
function cutApart(text: string): readonly string[] | null {
  try {
    if (!Array.isArray(JSON.parse(text))) return null;
  } catch {
    return null;
  }
  const items: string[] = [];
  let depth = 0;
  let quoted = false;
  let from = text.indexOf('[') + 1;
  for (let at = from - 1; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    else if (character === ',' && depth === 1) {
      items.push(text.slice(from, at));
      from = at + 1;
    }
  }
  items.push(text.slice(from, text.lastIndexOf(']')));
  return items;
}
