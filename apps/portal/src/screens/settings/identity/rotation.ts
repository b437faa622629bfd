import type { ApiKey } from './queries.ts';

/** In milliseconds: so long the old key has to be silent before it may go. */
const SILENT_FOR = 24 * 60 * 60 * 1000;

type Facts = Pick<ApiKey, 'name' | 'used_by' | 'last_used_at'>;

/** How far the way from one key to the next has come. */
export function rotationOf(
  old: Facts,
  next: Facts | null,
  now: number,
): {
  /** Whatever takes the old key takes the new one too. */
  readonly isTaken: boolean;
  /** What takes the old key alone. */
  readonly missing: readonly string[];
  readonly isDeployed: boolean;
  /** Nothing was sent with the old key for a day. */
  readonly isUnused: boolean;
} {
  const missing = next === null ? old.used_by : old.used_by.filter((one) => !next.used_by.includes(one));
  const used = old.last_used_at === null ? Number.NEGATIVE_INFINITY : Date.parse(old.last_used_at);
  return {
    isTaken: next !== null && missing.length === 0,
    missing,
    isDeployed: next !== null && next.last_used_at !== null,
    isUnused: now - used >= SILENT_FOR,
  };
}

/** `backend` → `backend-2`, `backend-2` → `backend-3`: the first that is free. */
export function nextName(name: string, taken: readonly string[]): string {
  const [, stem = name, count = '1'] = /^(.*?)(?:-(\d{1,4}))?$/.exec(name) ?? [];
  for (let at = Number(count) + 1; ; at += 1) {
    const wanted = `${stem}-${at}`;
    if (!taken.includes(wanted)) return wanted;
  }
}
