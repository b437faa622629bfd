const MINUTE = 60_000;

/** Whose clock times are told by. */
export type Zone = 'mine' | 'utc';

const two = (value: number): string => String(value).padStart(2, '0');

/** The clock of a moment, to the second. */
export function clockOf(at: Date, zone: Zone): string {
  return zone === 'utc'
    ? `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`
    : `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** The day of a moment: year, month, day, as they sort. */
export function dayOf(at: Date, zone: Zone): string {
  return zone === 'utc'
    ? at.toISOString().slice(0, 10)
    : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Clock time of today, else the day with it. */
export function momentWords(at: Date, now: Date, zone: Zone): string {
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
export function agoWords(at: Date, now: Date, zone: Zone): string {
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
