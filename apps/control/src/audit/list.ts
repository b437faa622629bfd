import type { AuditEntry } from '@carillon/domain/audit';
import type { Instant } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';

export type AuditFilter = {
  /** Id of an author. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** From this time on, and before that one. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly sees: (workspace: string | null) => boolean;
};

export type AuditRow = AuditEntry & { readonly position: number };
export type AuditPage = { readonly items: readonly AuditRow[]; readonly next: number | null };

const BLOCK = 500;
/** So many records are looked through for one page; it may be short then, and have a `next` all the same. */
const MAX_READ = 20_000;
/** An outcome follows what it is the outcome of within so many records, or the page shows both. */
const LOOK_AHEAD = 1_000;

/** The newest first: what was done, once each, with its outcome, or as begun where none is there. `before`: the position of the page before. */
export async function listAudit(
  { log, codecs, slice }: Pick<ControlPorts, 'log' | 'codecs' | 'slice'>,
  filter: AuditFilter,
  limit: number,
  before?: number,
): Promise<AuditPage> {
  const { start, end } = await log.bounds('carillon.audit', 0);
  let upTo = Math.min(before ?? end, end);
  const ended = new Set<string>();
  for (const row of await read(upTo, Math.min(end, upTo + LOOK_AHEAD))) if (row.outcome !== 'begun') ended.add(row.id);
  const items: AuditRow[] = [];
  for (let looked = 0; upTo > start && looked < MAX_READ; looked += BLOCK) {
    const from = Math.max(start, upTo - BLOCK);
    for (const row of (await read(from, upTo)).toReversed()) {
      if (items.length === limit) return { items, next: row.position + 1 };
      if (row.outcome === 'begun' && ended.has(row.id)) continue;
      ended.add(row.id);
      if (isWanted(row, filter)) items.push(row);
    }
    upTo = from;
  }
  return { items, next: upTo > start ? upTo : null };

  /** Entries from a position to before another. What cannot be read here is for `verify` to tell. */
  async function read(from: number, to: number): Promise<readonly AuditRow[]> {
    const rows: AuditRow[] = [];
    for (let next = from; next < to;) {
      const records = await log.read('carillon.audit', 0, next, to - next);
      if (records.length === 0) break;
      for (const { offset, value } of records) {
        next = offset + 1;
        if (slice.isExpired()) await slice.yield();
        const decoded = codecs.audit.decode(value);
        if (offset < to && decoded.ok && decoded.value.kind === 'entry')
          rows.push({ ...decoded.value, position: offset });
      }
    }
    return rows;
  }
}

const isWanted = (row: AuditRow, { actor, action, target, from, to, sees }: AuditFilter): boolean =>
  sees(row.workspace) &&
  (actor === undefined || row.actor?.id === actor) &&
  (action === undefined || row.what === action) &&
  (target === undefined || row.target === target) &&
  (from === undefined || row.at >= from) &&
  (to === undefined || row.at < to);
