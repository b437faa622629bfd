const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Returns the format of a time zone, or that of UTC if this Node does not know the zone. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = FORMATS.get(zone);
  if (format === undefined) {
    const options = {
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    } as const;
    try {
      format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
    } catch {
      format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
    }
    FORMATS.set(zone, format);
  }
  return format;
}

export type LocalTime = {
  /** `2026-11-30`. */
  readonly day: string;
  /** `14:32:05`. */
  readonly clock: string;
  /** `123`. */
  readonly milliseconds: string;
  /** `+01:00`. Empty while the clock is that of UTC. */
  readonly offset: string;
};

/** Returns a moment as a clock in a time zone shows it. */
export function localTime(at: Date, zone: string): LocalTime {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return {
    day: `${parts['year']}-${parts['month']}-${parts['day']}`,
    clock: `${parts['hour']}:${parts['minute']}:${parts['second']}`,
    milliseconds: parts['fractionalSecond'] ?? '000',
    offset: (parts['timeZoneName'] ?? '').replace(/^GMT(?:\+00:00)?/, ''),
  };
}
