import type { Result } from '@carillon/kernel';
import { err, ok } from '@carillon/kernel';
import { RE2JS } from 're2js';
import type { Meter } from '../runtime/meter.ts';
import { TOO_COMPLEX } from '../runtime/meter.ts';
import { matchPrice, searchPrice } from '../runtime/prices.ts';
import type { Value } from '../runtime/values.ts';
import { noOverload } from '../runtime/values.ts';

/** A compiled pattern of `matches`: part of the text is enough. Linear in the text, whatever the pattern. */
export type Pattern = {
  readonly source: string;
  /** Steps of a match on a text of so many characters. */
  price(text: number): number;
  matches(meter: Meter, value: Value): Value;
};

export const MAX_PATTERN = 256;
/** A pattern without a sign of the pattern language is a text that is sought. */
const PLAIN = /^[\w \-@,:;/="'<>!#%&~]+$/;
/** Instructions; the time of a match is at most about this many by the length of the text. */
const MAX_PROGRAM = 4000;

/**
 * About how large the program will be, from the text alone: counted repetition multiplies, so it is bounded before the
 * program is made. An escape or a class counts as one.
 */
function estimate(source: string): number {
  const open: number[] = [];
  let size = 0;
  let atom = 0;
  for (const [piece] of source.matchAll(/\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[^]/g)) {
    const [, low, high] = /^\{(\d+)(?:,(\d*))?\}$/.exec(piece) ?? [];
    if (low !== undefined) {
      const more = atom * Math.max(0, Number(high || low) - 1);
      size += more;
      atom += more;
    } else if (piece === '(') {
      open.push(size);
      size = 0;
    } else if (piece === ')') {
      atom = size + 2;
      size = (open.pop() ?? 0) + atom;
    } else {
      atom = 1;
      size += 1;
    }
  }
  return size;
}

export function compilePattern(source: string): Result<Pattern, string> {
  if (source.length > MAX_PATTERN) return err(`the pattern is longer than ${MAX_PATTERN} characters`);
  if (estimate(source) > MAX_PROGRAM) return err('the pattern repeats too much');
  try {
    const compiled = RE2JS.compile(source);
    const size = compiled.programSize();
    const isPlain = PLAIN.test(source);
    if (size > MAX_PROGRAM) return err('the pattern repeats too much');
    const price = (text: number): number => (isPlain ? searchPrice(text, source.length) : matchPrice(text, size));
    return ok({
      source,
      price,
      matches: (meter, value) => {
        if (typeof value !== 'string') return noOverload('matches', value);
        if (!meter.spend(price(value.length))) return TOO_COMPLEX;
        return isPlain ? value.includes(source) : compiled.matcher(value).find();
      },
    });
  } catch (error) {
    return err(error instanceof Error ? error.message : 'not a pattern');
  }
}
