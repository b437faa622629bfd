import { ERASURE_LIST, type ErasureListBody, type ListedErasure } from '@carillon/contracts';
import type { Erasure } from '@carillon/domain/erasures';
import { formatInstant } from '@carillon/kernel';
import { digestOf } from '../audit/facts.ts';
import type { ControlPorts } from '../ports.ts';

const PAGE = 500;

const listed = (erasure: Erasure): ListedErasure => ({
  id: erasure.id,
  workspace: erasure.workspace,
  hashes: [...erasure.hashes],
  job: erasure.job,
  reason: erasure.reason,
  requested_by: { ...erasure.by },
  requested_by_name: erasure.byName,
  requested_at: formatInstant(erasure.requestedAt),
  erased_at: erasure.erasedAt === null ? null : formatInstant(erasure.erasedAt),
  erased: { ...erasure.erased },
});

/** Returns the list of all erasures, for `carillon restore`. */
export async function listErasures({
  clock,
  erasures,
  log,
}: Pick<ControlPorts, 'clock' | 'erasures' | 'log'>): Promise<ErasureListBody> {
  const all: ListedErasure[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, next } = await erasures.list(undefined, PAGE, cursor);
    all.push(...items.map(listed));
    if (next === null) break;
    cursor = next;
  }
  return {
    format: ERASURE_LIST,
    log_id: log.logId,
    exported_at: formatInstant(clock.now()),
    erasures: all,
    checksum: checksumOfErasures(all),
  };
}

export const checksumOfErasures = (erasures: readonly ListedErasure[]): string => digestOf(erasures as never);
