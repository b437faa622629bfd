const MINUTE = 60_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the format of a time zone such as `Europe/Vienna`, or that of UTC if this browser does not know the zone. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-GB', { ...FIELDS, timeZone: zone });
    } catch {
      format = new Intl.DateTimeFormat('en-GB', { ...FIELDS, timeZone: 'UTC' });
    }
    formats.set(zone, format);
  }
  return format;
}

const FIELDS = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const;

function partsOf(at: Date, zone: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
}

/** Returns the clock of a moment in a time zone, such as `14:32:05`. */
export function clockOf(at: Date, zone: string): string {
  const { hour, minute, second } = partsOf(at, zone);
  return `${hour}:${minute}:${second}`;
}

/** Returns the day of a moment in a time zone, such as `2026-11-30`. */
export function dayOf(at: Date, zone: string): string {
  const { year, month, day } = partsOf(at, zone);
  return `${year}-${month}-${day}`;
}

/** Milliseconds by which the clock of a time zone is ahead of UTC. */
function offsetAt(moment: number, zone: string): number {
  const at = new Date(moment);
  return Date.parse(`${dayOf(at, zone)}T${clockOf(at, zone)}Z`) - Math.floor(moment / 1000) * 1000;
}

/** Returns the moment at which the clock of a time zone shows a text such as `2026-11-30T14:32`. NaN for any other text. */
export function momentAt(text: string, zone: string): number {
  const wall = Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return wall;
  return wall - offsetAt(wall - offsetAt(wall, zone), zone);
}

/** Returns the clock of a moment, with its day unless that is today. */
export function momentWords(at: Date, now: Date, zone: string): string {
  const clock = clockOf(at, zone);
  return dayOf(at, zone) === dayOf(now, zone) ? clock : `${dayOf(at, zone)} ${clock}`;
}

/** Milliseconds that the page's clock may lag, because it changes only at its ticks. */
const MAX_LAG = MINUTE;

/** Returns what now is beside a moment: the moment itself if it is newer than the page's clock by a tick, else the clock. */
export const nowBeside = (moment: Date, clock: number): Date => {
  const ahead = moment.getTime() - clock;
  return ahead > 0 && ahead <= MAX_LAG ? moment : new Date(clock);
};

/** Seconds within the last minute; else as `momentWords`. */
export function agoWords(at: Date, now: Date, zone: string): string {
  const passed = now.getTime() - at.getTime();
  if (passed >= 0 && passed < MINUTE) return passed < 2_000 ? 'now' : `${Math.floor(passed / 1000)} s ago`;
  return momentWords(at, now, zone);
}

/** A span of milliseconds in its two largest units. */
export function spanWords(span: number): string {
  if (span < 1000) return `${Math.round(span)} ms`;
  if (span < 10_000) return `${(span / 1000).toFixed(1)} s`;
  const seconds = Math.round(span / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}
