import { err, ok, parseDuration, parseInstant, type Instant, type Result } from '@carillon/kernel';

/** Accepted forms of a time in a rule test, for error texts. */
export const MOMENT_WORDS = '10:00, an RFC 3339 time, or +26h from the first line';

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/;

/**
 * Reads when a line of a rehearsal happens: a time of the day of `first` (UTC), an RFC 3339 time, or a span from `first`. The
 * error says what to write.
 */
export function readMoment(text: string, first: Instant): Result<Instant, string> {
  if (CLOCK.test(text)) {
    const at = parseInstant(
      `${new Date(first).toISOString().slice(0, 10)}T${text.length === 5 ? `${text}:00` : text}Z`,
    );
    if (at !== undefined) return ok(at);
  }
  if (text.startsWith('+')) {
    const span = parseDuration(text.slice(1));
    return span.ok ? ok(first + span.value) : err(`write +90s, +30m, +26h or +1d, found ${JSON.stringify(text)}`);
  }
  const at = parseInstant(text);
  return at === undefined ? err(`write ${MOMENT_WORDS}, found ${JSON.stringify(text)}`) : ok(at);
}
