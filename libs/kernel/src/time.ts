import { err, ok, type Result } from './result.ts';

/** Milliseconds since 1970 UTC. */
export type Instant = number;
/** A span of time in milliseconds. */
export type Duration = number;

/** Formats a time as RFC 3339 in UTC with milliseconds, the only form that people see. */
export const formatInstant = (at: Instant): string => new Date(at).toISOString();

/** Reads an RFC 3339 date-time with zone. Returns undefined for anything else, calendar nonsense included. */
export function parseInstant(text: string): Instant | undefined {
  if (!RFC_3339.test(text)) return undefined;
  // Date.parse takes up to 31 days of any month.
  if (Number(text.slice(8, 10)) > SHORTEST_MONTH) {
    const [year, month, day] = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)].map(Number);
    if ((day ?? 0) > new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate()) return undefined;
  }
  const at = Date.parse(text.toUpperCase());
  return Number.isNaN(at) ? undefined : at;
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
/** Days that every month has. */
const SHORTEST_MONTH = 28;

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Reads `90s 30m 2h 1d 1w` (`1d` is 24 hours). At most ten years. */
export function parseDuration(text: string): Result<Duration, string> {
  const parts = /^(\d{1,9})([smhdw])$/.exec(text);
  if (!parts) return err(`expected a duration such as 90s, 30m, 2h, 1d or 1w, found ${JSON.stringify(text)}`);
  const span = Number(parts[1]) * UNITS[parts[2] as keyof typeof UNITS];
  return span > 3650 * UNITS.d ? err(`a duration is at most 3650d, found ${text}`) : ok(span);
}

/** The duration that a text says, or the other one where there is no text that says one. */
export function durationOr(text: string | undefined, otherwise: Duration): Duration {
  const span = text === undefined ? undefined : parseDuration(text);
  return span?.ok ? span.value : otherwise;
}

/** The shortest exact form that `parseDuration` reads, for whole seconds. */
export function formatDuration(span: Duration): string {
  for (const unit of ['w', 'd', 'h', 'm'] as const) {
    if (span >= UNITS[unit] && span % UNITS[unit] === 0) return `${span / UNITS[unit]}${unit}`;
  }
  return `${Math.round(span / 1000)}s`;
}

const DAY: Duration = UNITS.d;

/**
 * A time as people say it of the past: a duration ago (`2h`), `today` and `yesterday` (the day's beginning, UTC), a date (its
 * beginning, UTC), or what `parseInstant` reads. Undefined for anything else.
 */
export function parseSince(text: string, now: Instant): Instant | undefined {
  const word = text.trim().toLowerCase();
  const midnight = now - (((now % DAY) + DAY) % DAY);
  if (word === 'today') return midnight;
  if (word === 'yesterday') return midnight - DAY;
  const span = parseDuration(word);
  if (span.ok) return now - span.value;
  return parseInstant(/^\d{4}-\d{2}-\d{2}$/.test(word) ? `${word}T00:00:00Z` : word);
}

/** Formats that `parseSince` accepts, for error messages. */
export const SINCE_WORDS = '2h, today, yesterday, a date such as 2026-01-31, or an RFC 3339 time';
