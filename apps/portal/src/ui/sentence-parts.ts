export type SentencePart = { readonly kind: 'text' | 'code' | 'time'; readonly text: string };

/** RFC 3339 in UTC, or a clock of UTC with or without its day. */
const TIMES = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC)/;
const CLOCK = /^(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d) UTC$/;

/** Splits a sentence of the server at its code and its times. A clock without a day is of the UTC day of `now`. */
export function sentenceParts(text: string, now: Date): readonly SentencePart[] {
  return text
    .split('`')
    .flatMap((part, index): readonly SentencePart[] =>
      index % 2 === 1 ? [{ kind: 'code', text: part }] : part.split(TIMES).map((piece, at) => pieceOf(piece, at, now)),
    )
    .filter((part) => part.text !== '');
}

function pieceOf(piece: string, index: number, now: Date): SentencePart {
  if (index % 2 === 0) return { kind: 'text', text: piece };
  const clock = CLOCK.exec(piece);
  if (clock === null) return { kind: 'time', text: piece };
  const [, day = now.toISOString().slice(0, 10), time = ''] = clock;
  return { kind: 'time', text: `${day}T${time}Z` };
}
