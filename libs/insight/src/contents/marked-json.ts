import type { FieldStep } from '@carillon/domain/events';
import { isJsonObject, stringifyJson, type Json } from '@carillon/kernel';

/** A field that somebody reads, as a path below the value. */
export type ReadField = { readonly steps: readonly FieldStep[]; readonly readBy: readonly string[] };

/** One line of a formatted value, with the readers of the field that begins there. */
export type MarkedLine = { readonly text: string; readonly readBy: readonly string[] };

/** A longer line is folded; what follows begins with `…`. */
const LINE_CHARACTERS = 1000;
/** Characters that JSON allows in a string, and that could change how the lines around them look. */
const UNSEEN = /[\p{C}\u2028\u2029]/gu;

const scalarText = (value: Json): string =>
  stringifyJson(value).replaceAll(UNSEEN, (found) =>
    [...found]
      .flatMap((each) => Array.from({ length: each.length }, (_, at) => each.charCodeAt(at)))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );

/**
 * A value as indented JSON, line by line. All of it is there: lines that are put together again, without the `…` of
 * folded ones, are JSON of the same value.
 */
export function* markedLines(value: Json, fields: readonly ReadField[]): Generator<MarkedLine> {
  yield* linesOf(value, fields, '', '', '');
}

function* linesOf(
  value: Json,
  fields: readonly ReadField[],
  indent: string,
  before: string,
  after: string,
): Generator<MarkedLine> {
  const readBy = [...new Set(fields.filter(({ steps }) => steps.length === 0).flatMap((one) => one.readBy))];
  const children = childrenOf(value);
  if (!children || children.entries.length === 0) {
    const text = children ? `${children.open}${children.close}` : scalarText(value);
    yield* folded(`${before}${text}${after}`, indent, readBy);
    return;
  }
  yield* folded(`${before}${children.open}`, indent, readBy);
  const last = children.entries.length - 1;
  for (const [at, { name, step, item }] of children.entries.entries()) {
    const inner = fields.flatMap(({ steps: [first, ...steps], readBy: by }) =>
      first === step || (first === null && typeof step === 'number') ? [{ steps, readBy: by }] : [],
    );
    yield* linesOf(item, inner, `${indent}  `, name, at === last ? '' : ',');
  }
  yield { text: `${indent}${children.close}${after}`, readBy: [] };
}

type Children = {
  readonly open: string;
  readonly close: string;
  readonly entries: readonly { readonly name: string; readonly step: FieldStep; readonly item: Json }[];
};

function childrenOf(value: Json): Children | null {
  if (Array.isArray(value)) {
    const entries = (value as readonly Json[]).map((item, step) => ({ name: '', step, item }));
    return { open: '[', close: ']', entries };
  }
  if (!isJsonObject(value)) return null;
  const entries = Object.entries(value).map(([step, item]) => ({ name: `${scalarText(step)}: `, step, item }));
  return { open: '{', close: '}', entries };
}

function* folded(text: string, indent: string, readBy: readonly string[]): Generator<MarkedLine> {
  let from = 0;
  do {
    let until = Math.min(text.length, from + LINE_CHARACTERS);
    // A pair of surrogates stays together.
    if (until < text.length && /[\ud800-\udbff]/.test(text.charAt(until - 1))) until -= 1;
    yield from === 0
      ? { text: `${indent}${text.slice(0, until)}`, readBy }
      : { text: `${indent}…${text.slice(from, until)}`, readBy: [] };
    from = until;
  } while (from < text.length);
}
