import type { Bodies } from '../../api/draft-calls.ts';

export type NotificationCadence = NonNullable<Bodies['notifications']['cadence']>;
export type WorkspaceCadence = NonNullable<Bodies['workspace']['cadence']>;
/** Cadence of a notification or of a workspace, as it is edited: a draft may lack what the shape asks for. */
export type Cadence = Partial<NotificationCadence>;
export type Limit = NonNullable<NotificationCadence['limits']>[number];
export type QuietHours = NonNullable<NotificationCadence['quiet_hours']>;
export type Digest = NonNullable<NotificationCadence['digest']>;

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export const DAY_WORDS: Readonly<Record<(typeof DAYS)[number], string>> = {
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
};

const PERIODS = [
  ['1h', 'hour, rolling'],
  ['1d', 'day, rolling'],
  ['7d', 'week, rolling'],
  ['30d', '30 days, rolling'],
  ['calendar day', 'calendar day'],
  ['calendar week', 'calendar week'],
  ['calendar month', 'calendar month'],
] as const;

/** Options for a period. A custom value is added as written. */
export const periodOptions = (per: string): readonly { readonly id: string; readonly name: string }[] => [
  ...PERIODS.map(([id, name]) => ({ id, name })),
  ...(PERIODS.some(([id]) => id === per) || per === '' ? [] : [{ id: per, name: per }]),
];

/** Removes empty keys. Undefined if nothing is left. */
export function trimmed(cadence: Cadence): Cadence | undefined {
  const kept = Object.entries(cadence).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as Cadence);
}

/** The same body with another cadence; none: without it. */
export function withCadence<Body extends { readonly cadence?: unknown }>(body: Body, cadence: Cadence): Body {
  const { cadence: _, ...rest } = body;
  const next = trimmed(cadence);
  return (next === undefined ? rest : { ...rest, cadence: next }) as Body;
}

export type DelayKind = 'none' | 'span' | 'local_time' | 'until';
export function delayKind(delay: Cadence['delay']): DelayKind {
  if (delay === undefined) return 'none';
  if (typeof delay === 'string') return 'span';
  return 'until' in delay ? 'until' : 'local_time';
}
export const delayText = (delay: Cadence['delay']): string =>
  delay === undefined
    ? ''
    : typeof delay === 'string'
      ? delay
      : String('until' in delay ? delay.until : delay.local_time);
/** What a kind begins with, and what a text in its field makes of it. */
export function delayOf(kind: DelayKind, text?: string): Cadence['delay'] {
  if (kind === 'span') return text ?? '10m';
  if (kind === 'local_time') return { local_time: text ?? '09:00' };
  if (kind === 'until') return { until: text ?? 'event.starts_at' };
  return undefined;
}

export type WindowKind = 'fixed' | 'sliding' | 'at';
export const windowKind = (window: Digest['window'] | undefined): WindowKind =>
  window === undefined || 'fixed' in window ? 'fixed' : 'sliding' in window ? 'sliding' : 'at';
export const windowOf = (kind: WindowKind): Digest['window'] =>
  kind === 'fixed' ? { fixed: '1h' } : kind === 'sliding' ? { sliding: '10m', at_most: '2h' } : { at: ['08:00'] };
