import { CarillonError } from '@carillon/kernel';
import type { BatchItem, ItemSplitter } from './batch-items.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** State of the parser: what the next byte may be. */
type State = 'list' | 'first' | 'item' | 'text' | 'escape' | 'next' | 'end';

/**
 * Splits a JSON list into items of at most `maxBytes`, by brackets and commas outside of texts. Whether an item is valid JSON is for its
 * reader to say.
 */
export function createListSplitter(maxBytes: number): ItemSplitter {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let isTooLong = false;
  let state: State = 'list';
  let depth = 0;
  let number = 0;

  function keep(part: Uint8Array): void {
    held += part.length;
    if (held > maxBytes) isTooLong = true;
    if (isTooLong) pieces = [];
    else pieces.push(part);
  }

  function finishItem(last: Uint8Array): BatchItem {
    keep(last);
    const [only] = pieces;
    const bytes = isTooLong ? null : pieces.length === 1 && only ? only : Buffer.concat(pieces);
    number += 1;
    pieces = [];
    held = 0;
    isTooLong = false;
    return { number, bytes };
  }

  /** Takes a byte between items. Returns true if an item begins with it. */
  function isBegin(byte: number): boolean {
    if (isSpace(byte)) return false;
    if (state === 'list') {
      if (byte !== OPEN_LIST)
        throw new CarillonError('invalid_request', 'The body is not a list. Send a list of CloudEvents.');
      state = 'first';
      return false;
    }
    if (state === 'end') throw fault('There is more after the end of the list. Send one list.');
    if (byte === CLOSE_LIST && state === 'first') {
      state = 'end';
      return false;
    }
    if (byte === COMMA || byte === CLOSE_LIST) throw fault('A CloudEvent is missing next to a comma of the list.');
    return true;
  }

  /** Takes a byte of an item. Returns true if the item ends before it. */
  function isEnd(byte: number): boolean {
    if (state === 'escape') state = 'text';
    else if (state === 'text') {
      if (byte === QUOTE) state = 'item';
      else if (byte === BACKSLASH) state = 'escape';
    } else if (byte === QUOTE) state = 'text';
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (depth > 0 && (byte === CLOSE_OBJECT || byte === CLOSE_LIST)) depth -= 1;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) {
      state = byte === COMMA ? 'next' : 'end';
      return true;
    }
    return false;
  }

  const isWithin = (): boolean => state === 'item' || state === 'text' || state === 'escape';

  return {
    *push(chunk) {
      let from = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (!isWithin()) {
          if (!isBegin(byte)) continue;
          from = at;
          state = 'item';
          depth = 0;
        }
        if (isEnd(byte)) yield finishItem(chunk.subarray(from, at));
      }
      if (isWithin()) keep(chunk.subarray(from));
    },
    // oxlint-disable-next-line require-yield -- the last item ends with the bracket of the list
    *end() {
      if (state !== 'end') throw fault('The body ends before the list does.');
    },
    next: () => number + 1,
    held: () => (isTooLong ? 0 : held),
  };
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const fault = (detail: string): CarillonError => new CarillonError('invalid_json', detail);
