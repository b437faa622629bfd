import type { EventLog, Ids, ReadModels, TopicName } from '@carillon/ports';
import { step, type TraceStep } from './steps.ts';

export type LetterPorts = {
  readonly log: Pick<EventLog, 'logId'>;
  readonly ids: Pick<Ids, 'derive'>;
  readonly readModels: Pick<ReadModels, 'deadLetter'>;
};

/** Returns the id of the dead letter that a stage would make of a record. It derives from the record's position. */
export const letterAt = (
  stage: 'evaluate' | 'resolve',
  topic: TopicName,
  { partition, offset }: { readonly partition: number; readonly offset: number },
  { log, ids }: LetterPorts,
): string => ids.derive('deadLetter', stage, log.logId, topic, String(partition), String(offset));

/** Returns the steps of a dead letter and its redrive. Empty if it does not exist. */
export async function letterSteps(id: string, { readModels }: LetterPorts): Promise<readonly TraceStep[]> {
  const row = await readModels.deadLetter(id);
  if (!row) return [];
  const next = row.redrivenAt === null ? `; process it again with: npx carillon dead-letters redrive ${id}` : '';
  const parked = step('dead_letter', row.at, `now a dead letter: ${row.reason}${next}`, { id, reason: 'parked' });
  if (row.redrivenAt === null) return [parked];
  const by = row.redrivenBy ?? 'an operator';
  return [parked, step('dead_letter', row.redrivenAt, `redriven by ${by}`, { id, reason: 'redriven' })];
}
