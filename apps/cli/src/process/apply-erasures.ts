import { readFileSync } from 'node:fs';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { openEmbedded } from '@carillon/adapter-embedded';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createIds, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs, erasureListBody, type ErasureListBody, type ListedErasure } from '@carillon/contracts';
import { checksumOfErasures, createEraser } from '@carillon/control';
import { createErasureMatcher, type Erasure } from '@carillon/domain/erasures';
import { compileRule } from '@carillon/domain/rules';
import { CarillonError, parseInstant, type JobId } from '@carillon/kernel';
import type { Clock, Ids } from '@carillon/ports';
import { createConfigurationView, createErasureWork, createRuleBook } from '@carillon/stages';
import { COLLECTIONS, createStores } from '@carillon/stores';
import type { Backend } from './backend.ts';
import { readKeys } from './deployment-keys.ts';
import type { Environment } from './settings.ts';

const refuse = (detail: string): CarillonError => new CarillonError('wrong_usage', detail);

/** Reads the file of `carillon erasures export`. Throws CarillonError `wrong_usage` for a file that is not a whole list. */
export function readErasureList(file: string): ErasureListBody {
  const isWhole = (read: unknown): read is ErasureListBody => {
    const list = erasureListBody.safeParse(read);
    return list.success && checksumOfErasures((read as ErasureListBody).erasures) === list.data.checksum;
  };
  let read: unknown = null;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Said below, as of any other file.
  }
  if (isWhole(read)) return read;
  throw refuse(`${file} is not a whole list of erasures: write it with carillon erasures export`);
}

const instant = (text: string): number => parseInstant(text) ?? 0;

function erasureOf(listed: ListedErasure, now: number): Erasure {
  const { id, workspace, hashes, job, reason, requested_by: by, requested_by_name: byName, erased } = listed;
  return {
    id,
    workspace,
    hashes,
    job: job as JobId,
    reason,
    by,
    byName,
    requestedAt: instant(listed.requested_at),
    erasedAt: listed.erased_at === null ? now : instant(listed.erased_at),
    erased: Object.fromEntries(Object.entries(erased).filter(([, count]) => count !== undefined)),
    version: 1,
  };
}

/** Restored data that no role works on. */
export type RestoredData = Pick<Backend, 'log' | 'registry' | 'erasures' | 'erasure'>;

/** Erases the people of a list from a restored data folder that no product has started over. Returns the number of erasures that were applied. */
export async function applyErasuresToFolder(dataDir: string, list: ErasureListBody, env: Environment): Promise<number> {
  const clock = systemClock;
  const data = await openEmbedded({ dataDir, clock, holder: 'carillon restore', collections: COLLECTIONS });
  try {
    const { ledgerKey } = await readKeys(dataDir, env);
    return await applyErasures({ ...data, ...createStores(data.documents) }, list, createIds(ledgerKey), clock);
  } finally {
    await data.close();
  }
}

/**
 * Erases the people of a list from restored data. Erasures that the data holds as ended are left out: what it knows of these people came
 * later. Safe to repeat after a failure. Returns the number of erasures that were applied. Throws CarillonError `wrong_usage` for a list of
 * another deployment.
 */
export async function applyErasures(
  { log, registry, erasures, erasure: steps }: RestoredData,
  { erasures: listed, log_id: logId }: ErasureListBody,
  ids: Ids,
  clock: Clock,
): Promise<number> {
  if (log.logId !== logId) throw refuse('the list of erasures is of another deployment than the data');
  const templates = createTemplateRenderer();
  try {
    const codecs = await createRecordCodecs(registry, () => clock.now());
    const configuration = createConfigurationView(log, codecs.configuration, clock);
    await configuration.refresh();
    const expressions = createExpressionLanguage();
    const book = createRuleBook((placed) => compileRule(placed, expressions), templates);
    const eraser = createEraser(steps);
    const bytesUntil = await eraser.bytesUntil(clock.now());
    const applied: Erasure[] = [];
    for (const entry of listed) {
      const erasure = { ...erasureOf(entry, clock.now()), ...(bytesUntil !== null && { bytesUntil }) };
      const known = await erasures.get(erasure.id);
      if (known && known.erasedAt !== null) continue;
      const matcher = createErasureMatcher(erasure, (...parts) => ids.keyed(...parts));
      const work = createErasureWork(matcher, { log, configuration, codecs, book });
      const moment = { now: clock.now(), derive: ids.derive };
      // The log is read by what the previous erasure left of it.
      const resume = await eraser.pauseConsumers();
      await eraser.erase({ ...work, takesUndecided: true }, () => Number.POSITIVE_INFINITY, moment);
      resume();
      applied.push({ ...erasure, version: (known?.version ?? 0) + 1 });
    }
    if (applied.length > 0) await eraser.finish();
    // Written last, so that after a failure everything is applied again, and the data file is rewritten.
    for (const erasure of applied) {
      if (erasure.version > 1) await erasures.replace(erasure);
      else await erasures.insert(erasure);
    }
    return applied.length;
  } finally {
    await templates.close();
  }
}
