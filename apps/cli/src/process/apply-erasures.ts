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
import { createConfigurationView, createErasureWork, createRuleBook } from '@carillon/stages';
import { COLLECTIONS, createStores } from '@carillon/stores';
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

/**
 * Erases the people of a list from a restored data folder that no product has started over. Erasures that the backup holds as ended are
 * left out: what it knows of these people came later. Returns the number of erasures that were applied.
 */
export async function applyErasures(
  dataDir: string,
  { erasures: listed, log_id: logId }: ErasureListBody,
  env: Environment,
): Promise<number> {
  const clock = systemClock;
  const data = await openEmbedded({ dataDir, clock, holder: 'carillon restore', collections: COLLECTIONS });
  const templates = createTemplateRenderer();
  try {
    if (data.log.logId !== logId) throw refuse('the list of erasures is of another deployment than the backup');
    const { erasures } = createStores(data.documents);
    const ids = createIds((await readKeys(dataDir, env)).ledgerKey);
    const codecs = await createRecordCodecs(data.registry, () => clock.now());
    const configuration = createConfigurationView(data.log, codecs.configuration, clock);
    await configuration.refresh();
    const expressions = createExpressionLanguage();
    const book = createRuleBook((placed) => compileRule(placed, expressions), templates);
    const eraser = createEraser(data.erasure);
    let applied = 0;
    for (const erasure of listed.map((entry) => erasureOf(entry, clock.now()))) {
      const known = await erasures.get(erasure.id);
      if (known && known.erasedAt !== null) continue;
      const matcher = createErasureMatcher(erasure, (...parts) => ids.keyed(...parts));
      const work = createErasureWork(matcher, { log: data.log, configuration, codecs, book });
      const moment = { now: clock.now(), derive: ids.derive };
      await eraser.erase({ ...work, takesUndecided: true }, () => Number.POSITIVE_INFINITY, moment);
      if (known) await erasures.replace({ ...erasure, version: known.version + 1 });
      else await erasures.insert(erasure);
      applied += 1;
    }
    if (applied > 0) await eraser.finish();
    return applied;
  } finally {
    await templates.close();
    await data.close();
  }
}
