import type { AuditEntry } from '@carillon/domain/audit';
import type { Instant } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';

export type AuditFilter = {
  /** Id of an author. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Time range, start inclusive, end exclusive. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly sees: (workspace: string | null) => boolean;
};

export type AuditRow = AuditEntry & { readonly position: number };
export type AuditPage = { readonly items: readonly AuditRow[]; readonly next: number | null };

const BLOCK = 500;
/** Records read for one page. A page may be short and still have a `next`. */
const MAX_READ = 20_000;
/** Records after an entry among which its outcome is found. A later outcome becomes an entry of its own. */
const LOOK_AHEAD = 1_000;

/**
 * Lists actions newest first, each once with its outcome, or as begun without one. `before` is the position of the
 * previous page.
 */
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

  /** Reads entries from a position up to another. Unreadable records are skipped; `verify` reports them. */
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
