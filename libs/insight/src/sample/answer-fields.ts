import type { Lookup } from '@carillon/domain/lookups';
import type { EventLog, RecordCodecs } from '@carillon/ports';
import { decodeRecords, mergeFields, tallyFields, type SeenEvent, type StreamField } from '@carillon/stages';

export type AnswerFieldsPorts = {
  readonly log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>;
  readonly codecs: Pick<RecordCodecs, 'lookup'>;
};

export type AnswerFields = {
  /** People of whom answers were looked at. */
  readonly people: number;
  readonly fields: readonly Omit<StreamField, 'firstAt' | 'lastAt'>[];
};

/** Answers that are looked at in each partition: the newest ones of all partners. */
const MAX_RECORDS = 200;
/** Maximum people of one answer that are read, because they are usually alike. */
const MAX_PEOPLE = 20;

/** Variables that a partner was seen to answer, with types and the newest value: what templates can name beside fields of the event. */
export async function answerFields(
  { workspace, integration }: Pick<Lookup['trigger'], 'workspace' | 'integration'>,
  { log, codecs }: AnswerFieldsPorts,
): Promise<AnswerFields> {
  const seen: SeenEvent[] = [];
  for (let partition = 0; partition < log.partitions('carillon.lookups'); partition += 1) {
    const { start, end } = await log.bounds('carillon.lookups', partition);
    const from = Math.max(start, end - MAX_RECORDS);
    const records = from < end ? await log.read('carillon.lookups', partition, from, end - from) : [];
    for (const { decoded } of await decodeRecords(codecs.lookup, records)) {
      if (!decoded.ok) continue;
      const { trigger, items, answeredAt } = decoded.value;
      if (trigger.workspace !== workspace || trigger.integration !== integration) continue;
      for (const { variables } of items.slice(0, MAX_PEOPLE)) {
        // Each person counts once, identified by the offset.
        const offset = seen.length;
        const at = answeredAt;
        seen.push({ workspace, stream: integration, partition: 0, offset, at, body: variables, table: null });
      }
    }
  }
  return { people: seen.length, fields: mergeFields(tallyFields([], seen)) };
}
