import { CarillonError } from '@carillon/kernel';
import type { BatchItem, ItemSplitter } from './batch-items.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const OPEN_LIST = 0x5b;

/**
 * Splits `application/x-ndjson` into lines of at most `maxBytes`. A line may end with CRLF, the last one without an end. Blank lines are
 * no items, but they are counted, so that an item keeps its number when others around it are blanked.
 */
export function createLineSplitter(maxBytes: number): ItemSplitter {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let line = 0;
  let isBegun = false;
  let isTooLong = false;

  function finishLine(last: Uint8Array): BatchItem | null {
    line += 1;
    const whole = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
    // One byte more is allowed here: the last byte may be the carriage return of the line end, which does not count.
    const bytes = isTooLong || whole.length > maxBytes + 1 ? null : withoutReturn(whole);
    pieces = [];
    held = 0;
    isTooLong = false;
    if (bytes === null || bytes.length > maxBytes) return { number: line, bytes: null };
    return isBlank(bytes) ? null : { number: line, bytes };
  }

  function keep(rest: Uint8Array): void {
    if (rest.length === 0) return;
    if (held + rest.length > maxBytes + 1) isTooLong = true;
    if (isTooLong) {
      pieces = [];
      held = 0;
    } else {
      pieces.push(rest);
      held += rest.length;
    }
  }

  function refuseList(chunk: Uint8Array): void {
    const first = chunk.find((byte) => byte > SPACE);
    if (first === undefined) return;
    isBegun = true;
    if (first !== OPEN_LIST) return;
    const detail =
      'The body begins with a list. Send one object on each line, without brackets and commas around them; with curl, use --data-binary.';
    throw new CarillonError('not_an_object', detail, { line: 1 });
  }

  return {
    *push(chunk) {
      if (!isBegun) refuseList(chunk);
      let from = 0;
      for (let to = chunk.indexOf(LINE_FEED); to !== -1; to = chunk.indexOf(LINE_FEED, from)) {
        const item = finishLine(chunk.subarray(from, to));
        from = to + 1;
        if (item) yield item;
      }
      keep(chunk.subarray(from));
    },
    *end() {
      const item = held > 0 || isTooLong ? finishLine(new Uint8Array()) : null;
      if (item) yield item;
    },
    next: () => line + 1,
    held: () => held,
  };
}

const withoutReturn = (line: Uint8Array): Uint8Array => (line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line);

const isBlank = (line: Uint8Array): boolean =>
  !((line[0] ?? SPACE) > SPACE) && line.every((byte) => byte === SPACE || byte === 0x09 || byte === CARRIAGE_RETURN);
