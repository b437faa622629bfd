import { toneOf, type Tone } from '../../ui/state-words.ts';

/** A part of what happened to a delivery; `from` and `to` in milliseconds, the same where it took no time. */
export type Leg = {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
  /** Text of the leg. Empty if there is none. */
  readonly words: string;
};

type Move = { readonly at: string; readonly state: string; readonly state_words: string; readonly reason: string };
type Attempt = {
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly verdict: string | null;
  readonly code: string | null;
};
export type Travelled = {
  readonly created_at: string;
  readonly history: readonly Move[];
  readonly attempts: readonly Attempt[];
};

/** What a wait is for, by its reason; any other is just a wait. */
const WAITS: Readonly<Record<string, string>> = {
  delayed: 'Delay',
  held_by_quiet_hours: 'Quiet hours',
  held_by_limit: 'Limit',
  collected: 'Digest',
};
/** In milliseconds: a wait that is shorter is only the way to the next step. */
const WORTH_A_LINE = 1_000;

const VERDICTS: Readonly<Record<string, Tone>> = { accepted: 'good', ambiguous: 'doubt' };

/** What happened to a delivery, in the order of its beginnings. `eventAt`: null where no event caused it. `now`: until when an open wait goes. */
export function legsOf(
  { created_at: made, history, attempts }: Travelled,
  eventAt: string | null,
  now: number,
): readonly Leg[] {
  const at = (text: string): number => Date.parse(text);
  const point = (name: string, when: number, tone: Tone, words = ''): Leg => ({
    name,
    from: when,
    to: when,
    tone,
    words,
  });
  const legs: Leg[] = [];
  if (eventAt !== null) legs.push(point('Event', at(eventAt), 'none'));
  legs.push(point('Decided', at(made), 'none'));
  for (const [place, move] of history.entries()) {
    const from = at(move.at);
    const state = move.state.toUpperCase();
    if (state === 'SENDING') continue;
    if (state === 'WAITING' || state === 'COLLECTED') {
      const next = history[place + 1];
      const to = Math.max(from, next ? at(next.at) : now);
      if (to - from < WORTH_A_LINE && WAITS[move.reason] === undefined) continue;
      legs.push({
        name: WAITS[move.reason] ?? 'Waiting',
        from,
        to,
        tone: WAITS[move.reason] ? 'held' : 'wait',
        words: '',
      });
    } else legs.push(point(move.state_words, from, toneOf(state)));
  }
  for (const [place, attempt] of attempts.entries()) {
    const from = at(attempt.started_at);
    const to = attempt.ended_at === null ? from : Math.max(from, at(attempt.ended_at));
    const tone = attempt.verdict === null ? 'doubt' : (VERDICTS[attempt.verdict] ?? 'bad');
    legs.push({ name: `Attempt ${place + 1}`, from, to, tone, words: attempt.code ?? '' });
  }
  // Where two began together, the one that ended first comes first.
  return legs.toSorted((a, b) => a.from - b.from || a.to - b.to);
}

/** A gap between two moments as it is drawn: shares of the whole width. */
export type Gap = {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly width: number;
  readonly isFolded: boolean;
};

/** The least share of a gap, so that nothing is too narrow to be seen, as long as they all fit. */
const LEAST = 0.06;
/** A gap that takes more of the whole time than this carries a mark: it is drawn shorter than it was. */
const FOLDED = 0.25;

/**
 * The gaps between the moments of a journey, by the square root of how long they were: a wait of two hours leaves room for an
 * answer within two seconds. A longer gap is never narrower than a shorter one.
 */
export function gapsOf(legs: readonly Leg[]): readonly Gap[] {
  const moments = [...new Set(legs.flatMap(({ from, to }) => [from, to]))].toSorted((a, b) => a - b);
  const spans = moments.slice(1).map((to, place) => ({ from: moments[place] ?? to, to }));
  const widths = sharesOf(spans.map(({ from, to }) => Math.sqrt(to - from)));
  const whole = (moments.at(-1) ?? 0) - (moments[0] ?? 0);
  let start = 0;
  return spans.map((span, place) => {
    const width = widths[place] ?? 0;
    const gap = { ...span, start, width, isFolded: span.to - span.from > whole * FOLDED };
    start += width;
    return gap;
  });
}

/** Shares of weights, each at least LEAST; together 1. */
function sharesOf(weights: readonly number[]): readonly number[] {
  const least = Math.min(LEAST, 1 / Math.max(1, weights.length));
  let small = new Set<number>();
  for (;;) {
    const rest = weights.reduce((sum, weight, place) => sum + (small.has(place) ? 0 : weight), 0);
    const room = 1 - small.size * least;
    const share = (weight: number): number => (rest === 0 ? least : (weight / rest) * room);
    const grown = new Set(
      weights.flatMap((weight, place) => (small.has(place) || share(weight) < least ? [place] : [])),
    );
    if (grown.size === small.size || grown.size === weights.length) {
      return grown.size === weights.length
        ? weights.map(() => 1 / weights.length)
        : weights.map((weight, place) => (small.has(place) ? least : share(weight)));
    }
    small = grown;
  }
}

/** Where a moment stands, as a share of the whole width. */
export function placeOf(moment: number, gaps: readonly Gap[]): number {
  const gap = gaps.findLast(({ from }) => from <= moment);
  if (!gap) return 0;
  return moment >= gap.to ? gap.start + gap.width : gap.start;
}
