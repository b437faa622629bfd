import { putInTags, type PutInTag, type Refusal } from './put-in-tags.ts';

/** Layouts and partials that templates may include, by name. */
export type TemplateIncludes = {
  layout(name: string): { readonly html?: string; readonly mjml?: string; readonly text?: string } | undefined;
  partial(name: string): { readonly text: string } | undefined;
};

/** Source of a text, with the whole text. */
export type TextOrigin = {
  readonly kind: 'template' | 'layout' | 'partial';
  /** Name of a layout or a partial; empty for the template itself. */
  readonly name: string;
  /** The key that holds the text. */
  readonly part: string;
  readonly source: string;
};

/** A piece of an assembled text: `text` begins at `start` of its origin. */
export type TextPiece = { readonly origin: TextOrigin; readonly start: number; readonly text: string };
export type IncludeFault = Refusal & { readonly origin: TextOrigin; readonly at: number };

/** Maximum partials in one template. Nested partials count each time. */
export const MAX_PARTIALS = 20;
/** Partials inside each other. */
export const PARTIAL_DEPTH = 3;
/** Maximum faults reported per template; a source could have thousands. */
const MAX_FAULTS = 50;

/**
 * State shared by all steps that assemble one template: the faults and partials found so far, and how many partials
 * were used.
 */
export type Putting = {
  readonly includes: TemplateIncludes;
  readonly faults: IncludeFault[];
  /** Names of partials in the order in which they are met, each once. */
  readonly partials: Set<string>;
  count: number;
};

export const newPutting = (includes: TemplateIncludes): Putting => ({
  includes,
  faults: [],
  partials: new Set(),
  count: 0,
});

/**
 * Returns the text of `origin` with all includes: a partial's text replaces its tag, without its final line end. A
 * failed include is replaced by nothing and reported as a fault.
 */
export function putTogether(
  origin: TextOrigin,
  putting: Putting,
  body: TextOrigin | null = null,
): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  put(origin, putting, body, [], pieces);
  const standing = pieces.filter(({ text }) => text !== '');
  checkSeams(standing, putting.faults);
  return standing;
}

function put(
  origin: TextOrigin,
  putting: Putting,
  body: TextOrigin | null,
  above: readonly string[],
  pieces: TextPiece[],
): void {
  // A part that is no text counts as empty here. The check of the template reports it.
  const source = typeof origin.source === 'string' ? origin.source : '';
  let at = 0;
  const text = (end: number): void => void pieces.push({ origin, start: at, text: source.slice(at, end) });
  for (const tag of putInTags(source)) {
    // Outside a layout there is no body to insert, so `{{{body}}}` is an ordinary variable.
    if (tag.kind === 'body' && !body) continue;
    text(tag.start);
    if (tag.stripBefore) stripEnd(pieces);
    at = tag.end;
    if (tag.stripAfter) at += source.length - at - source.slice(at).trimStart().length;
    if (tag.kind === 'body' && body) put(withoutLastLineEnd(body), putting, null, above, pieces);
    else putPartial(tag, origin, putting, above, pieces);
  }
  text(source.length);
}

function putPartial(
  tag: PutInTag,
  origin: TextOrigin,
  putting: Putting,
  above: readonly string[],
  pieces: TextPiece[],
): void {
  const { name, start } = tag;
  const refuse = (refusal: Refusal): void => {
    if (putting.faults.length < MAX_FAULTS) putting.faults.push({ origin, at: start, ...refusal });
  };
  if (tag.refusal) return refuse(tag.refusal);
  putting.partials.add(name);
  putting.count += 1;
  if (putting.count > MAX_PARTIALS) {
    if (putting.count > MAX_PARTIALS + 1) return;
    return refuse({
      message: `The template includes more than ${MAX_PARTIALS} partials, counting partials inside partials`,
      fix: 'Join partials that are used together.',
    });
  }
  if (above.includes(name)) {
    return refuse({
      message: `The partial ${name} includes itself: ${[...above.slice(above.indexOf(name)), name].join(', which includes ')}`,
      fix: 'Remove one of them. For a list, use {{#each}}.',
    });
  }
  if (above.length >= PARTIAL_DEPTH) {
    return refuse({
      message: `More than ${PARTIAL_DEPTH} partials inside each other: ${[...above, name].join(', ')}`,
      fix: `Write what ${name} holds into ${above.at(-1) ?? ''}.`,
    });
  }
  const found = putting.includes.partial(name);
  if (!found) {
    return refuse({ message: `There is no partial ${name}`, fix: `Write partials/${name}.hbs.`, missing: name });
  }
  const own: TextOrigin = { kind: 'partial', name, part: 'text', source: found.text };
  put(withoutLastLineEnd(own), putting, null, [...above, name], pieces);
}

const withoutLastLineEnd = (origin: TextOrigin): TextOrigin =>
  typeof origin.source === 'string' ? { ...origin, source: origin.source.replace(/\r?\n$/, '') } : origin;

function stripEnd(pieces: TextPiece[]): void {
  const last = pieces.at(-1);
  if (last) pieces[pieces.length - 1] = { ...last, text: last.text.trimEnd() };
}

/** Where two texts meet, their braces must not become a tag that stands in neither. */
function checkSeams(pieces: readonly TextPiece[], faults: IncludeFault[]): void {
  for (const [at, { text, origin, start }] of pieces.entries()) {
    const before = pieces[at - 1]?.text.at(-1);
    const [first] = text;
    const meets = (before === '{' && first === '{') || (before === '}' && first === '}');
    if (!meets && !(before === '\\' && first === '{')) continue;
    faults.push({
      origin,
      at: start,
      message: `The inserted text begins with ${first} right after ${before}, so both would form another tag`,
      fix: 'Put a space between them.',
    });
  }
}

export const wholeText = (pieces: readonly TextPiece[]): string => pieces.map(({ text }) => text).join('');

/** Line and column, from 1, of an offset in a text. */
export function placeAt(source: string, offset: number): { readonly line: number; readonly column: number } {
  const before = source.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** Returns the position in the original file for a position in the combined text. */
export function originOf(
  pieces: readonly TextPiece[],
  { line, column }: { readonly line: number; readonly column: number },
): { readonly origin: TextOrigin; readonly at: number } | null {
  const text = wholeText(pieces);
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    start = end + 1;
  }
  let rest = Math.max(0, Math.min(start + column - 1, text.length - 1));
  for (const piece of pieces) {
    if (rest < piece.text.length) return { origin: piece.origin, at: piece.start + rest };
    rest -= piece.text.length;
  }
  return null;
}
