import type { ScratchFile } from '@carillon/adapter-embedded';
import { ruleIdOf } from '@carillon/domain/configuration';
import { parseJson, stringifyJson, type EventId } from '@carillon/kernel';
import {
  decodeRecord,
  isFirstAnswer,
  offsetAt,
  recordedAnswerOf,
  streamsOf,
  type FindAnswer,
  type RecordedAnswer,
} from '@carillon/stages';
import type { CompareParts } from './compare-parts.ts';

const TOPIC = 'carillon.lookups';
const PAGE_RECORDS = 500;

const keyOf = (ruleId: string, eventId: EventId, part: number): string => JSON.stringify([ruleId, eventId, part]);

/** Finds recorded answers in the scratch file. */
export const findRecordedAnswer =
  (scratch: Pick<ScratchFile, 'answer'>): FindAnswer =>
  (ruleId, eventId, part) => {
    const answer = scratch.answer(keyOf(ruleId, eventId, part));
    return answer === undefined ? undefined : (parseJson(answer) as unknown as RecordedAnswer);
  };

/** Position at which a comparison continues to read `carillon.lookups`. It reads the partitions in turn, each to its end. */
export type LookupPosition = { readonly partition: number; readonly from: number };

/**
 * Copies recorded lookups of a run's rules to its scratch file, from the start of the time range until the run was created. Continues at
 * `begun`. `checkpointOf` gets the position behind a page and the number of its records, and returns the checkpoint that is committed
 * with the page.
 */
export async function recordAnswers(
  { run, history, scratch, lookups, comparing, pace }: CompareParts,
  begun: LookupPosition,
  checkpointOf: (next: LookupPosition, records: number) => string,
): Promise<void> {
  const { configurations, book } = comparing;
  const sides = Object.values(configurations);
  const streams = [...streamsOf(configurations, book)];
  const rules = new Set(
    sides.flatMap((side) =>
      streams.flatMap((stream) => book.rulesOf(side, stream)).map(({ placed }) => ruleIdOf(placed)),
    ),
  );
  const find = findRecordedAnswer(scratch);
  for (let { partition } = begun; partition < history.partitions(TOPIC); partition += 1) {
    const end = await offsetAt(history, TOPIC, partition, run.createdAt);
    const first = await offsetAt(history, TOPIC, partition, run.from);
    const from = partition === begun.partition ? Math.max(first, begun.from) : first;
    let startedAt = performance.now();
    for await (const { records, next } of history.pages({ topic: TOPIC, partition, from, end }, PAGE_RECORDS)) {
      const found = new Map<string, RecordedAnswer>();
      for (const record of records) {
        const decoded = await decodeRecord(lookups, record.value);
        if (!decoded.ok || !rules.has(decoded.value.trigger.ruleId)) continue;
        const answer = recordedAnswerOf(decoded.value, record.time);
        const key = keyOf(answer.ruleId, answer.eventId, answer.part);
        const known = found.get(key) ?? find(answer.ruleId, answer.eventId, answer.part);
        if (!known || isFirstAnswer(answer, known)) found.set(key, answer);
      }
      scratch.commit({
        answers: [...found].map(([key, answer]) => ({ key, answer: stringifyJson(answer) })),
        checkpoint: checkpointOf({ partition, from: next }, records.length),
      });
      await pace.afterPage(startedAt);
      startedAt = performance.now();
    }
  }
}
