/** Where the body of a planned event comes from. */
export type PlannedSource =
  /** An event of the sample of the rule as it is when it runs. `toCome`: events of the sample after it. */
  | { readonly kind: 'minimum'; readonly toCome: number }
  | { readonly kind: 'pasted'; readonly text: string }
  | { readonly kind: 'log'; readonly id: string };

export type PlannedEvent = {
  readonly key: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly label: string;
  readonly source: PlannedSource;
};

/** Events that a rule meets on the test bench, and until when time passes. */
export type Plan = {
  /** In the order of time. */
  readonly events: readonly PlannedEvent[];
  /** Time that has passed on the bench. Null: none was let pass since the last event. */
  readonly until: number | null;
};

export const EMPTY_PLAN: Plan = { events: [], until: null };
const MINUTE = 60_000;

/** The time of the next event. The first comes at the beginning of this minute. */
export const cursorOf = ({ events, until }: Plan, now: number): number =>
  Math.max(until ?? 0, events.at(-1)?.at ?? Math.floor(now / MINUTE) * MINUTE);

const nextKey = ({ events }: Plan): number => 1 + Math.max(0, ...events.map(({ key }) => key));

/** Adds an event at the time that has passed. */
export function withEvent(plan: Plan, source: PlannedSource, label: string, now: number): Plan {
  const event = { key: nextKey(plan), at: cursorOf(plan, now), label, source };
  return { events: [...plan.events, event], until: null };
}

/** Adds the events of a sample: as many as the rule needs to fire. */
export const withSample = (plan: Plan, count: number, now: number): Plan =>
  Array.from({ length: count }, (_, index) => index).reduce(
    (before, index) =>
      withEvent(
        before,
        { kind: 'minimum', toCome: count - 1 - index },
        count === 1 ? 'Smallest matching event' : `Smallest matching event ${index + 1} of ${count}`,
        now,
      ),
    plan,
  );

/** Adds events that came, at the times at which they came. */
export function withCame(plan: Plan, came: readonly Omit<PlannedEvent, 'key'>[]): Plan {
  const first = nextKey(plan);
  const events = [...plan.events, ...came.map((event, at) => ({ ...event, key: first + at }))];
  return { ...plan, events: events.toSorted((one, other) => one.at - other.at) };
}

/** Lets so many milliseconds pass. */
export const letPass = (plan: Plan, span: number, now: number): Plan => ({
  ...plan,
  until: cursorOf(plan, now) + span,
});

export const withoutEvent = (plan: Plan, key: number): Plan => ({
  ...plan,
  events: plan.events.filter((event) => event.key !== key),
});

export const withText = (plan: Plan, key: number, text: string): Plan => ({
  ...plan,
  events: plan.events.map((event) => (event.key === key ? { ...event, source: { kind: 'pasted', text } } : event)),
});

/** Returns the text of an event of a sample: its last event if the sample has become shorter. Empty: it is not known yet. */
export const sampleText = (sample: readonly string[], toCome: number): string =>
  sample[sample.length - 1 - toCome] ?? sample.at(-1) ?? '';

/** Returns what the API tests: each event with its time. Without an end all deadlines pass. `sample`: its events as JSON. */
export function testOf({ events, until }: Plan, sample: readonly string[]) {
  const last = events.at(-1)?.at ?? 0;
  return {
    events: events.map(({ at, source }) => ({
      at: new Date(at).toISOString(),
      ...(source.kind === 'log'
        ? { event_id: source.id }
        : { event: source.kind === 'minimum' ? sampleText(sample, source.toCome) : source.text }),
    })),
    ...(until !== null && until > last && { until: new Date(until).toISOString() }),
  };
}
