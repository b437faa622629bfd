/** Half of a second, doubled with each attempt, and never longer than half a minute: a server that is down is not asked all the time. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * Milliseconds until the next attempt. What the server asks for is kept to exactly; without it a random part of what doubles with
 * each attempt, so that many clients do not come back at once.
 */
export function waitBefore(attempt: number, retryAfter: number | null, random: () => number): number {
  if (retryAfter !== null) return retryAfter;
  const most = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  return most / 2 + (random() * most) / 2;
}

/** A `Retry-After` (RFC 9110, 10.2.3) in milliseconds from `now`: seconds, or a date. Null: none, or none that can be read. */
export function readRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1000;
  // Date.parse reads far more than dates of HTTP: "-5" is a year for it.
  const at = /^[A-Z][a-z]+,? .* GMT$/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Resolves after so many milliseconds, and at once when the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
