import { counted } from '../drafts/change-words.ts';
import type { Erasure } from './queries.ts';

/** Returns each place with entries of the person, as `cohort members: 3`. */
export const countLines = (counts: Erasure['erased']): readonly string[] =>
  Object.entries(counts).map(([place, count]) => `${place.replaceAll('_', ' ')}: ${count.toLocaleString('en')}`);

/** Returns the number of entries in all places. */
export const entriesText = (counts: Erasure['erased']): string =>
  counted(
    Object.values(counts).reduce((sum, count) => sum + count, 0),
    'entry',
    'entries',
  );

const REMAINS: Readonly<Record<Erasure['remains'][number]['where'], string>> = {
  log: 'Kafka',
  backups: 'Backups',
  sealed_responses: 'Sealed responses',
  keyed_hashes: 'Keyed hashes',
};
export const remainsName = (where: Erasure['remains'][number]['where']): string => REMAINS[where];
