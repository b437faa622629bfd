import { readPosition } from '@carillon/domain/events';
import type { Finding, VerifiedTopic, VerifyCounts } from '@carillon/domain/runs';
import { CarillonError, type Instant } from '@carillon/kernel';
import {
  decodeRecord,
  entryOf,
  eventIdOf,
  firstDifference,
  matchOutputs,
  ruleOf,
  workspaceOf,
  type EvaluatedRule,
  type EventOutput,
  type ExpectedOutput,
  type FoundOutput,
} from '@carillon/stages';
import { decodeOutput } from './verify-copy.ts';
import type { VerifyParts, VerifyState } from './verify-parts.ts';
import { removedUntilOf } from './verify-removed.ts';

/** Outputs after which a page is committed in part, because one event may have 10,000 recipients. */
const MAX_PAGE_OUTPUTS = 10_000;

type Counted = { -readonly [Name in Exclude<keyof VerifyCounts, 'problems'>]-?: number };

/** The result of evaluating the events of one page. */
export type VerifiedPage = {
  readonly findings: Finding[];
  readonly compared: string[];
  readonly answers: { readonly key: string; readonly answer: string }[];
  readonly counted: Pick<
    Counted,
    'cold' | 'events' | 'otherSemantics' | 'pastRetention' | 'same' | 'unknownConfiguration' | 'unreadable'
  >;
};

export const emptyPage = (): VerifiedPage => ({
  findings: [],
  compared: [],
  answers: [],
  counted: { cold: 0, events: 0, otherSemantics: 0, pastRetention: 0, same: 0, unknownConfiguration: 0, unreadable: 0 },
});

export const isLarge = ({ compared, findings }: VerifiedPage): boolean =>
  compared.length + findings.length >= MAX_PAGE_OUTPUTS;

export function addPage(counts: VerifyCounts, { counted, findings }: VerifiedPage): VerifyCounts {
  const problems = { ...counts.problems };
  for (const { problem } of findings) problems[problem] += 1;
  return {
    ...counts,
    events: counts.events + counted.events,
    same: counts.same + counted.same,
    problems,
    unknownConfiguration: counts.unknownConfiguration + counted.unknownConfiguration,
    otherSemantics: counts.otherSemantics + counted.otherSemantics,
    unreadable: counts.unreadable + counted.unreadable,
    pastRetention: counts.pastRetention + counted.pastRetention,
    cold: (counts.cold ?? 0) + counted.cold,
  };
}

export type Work = VerifyParts & { readonly state: VerifyState };

/** Key of an event that is left out, and with it the messages made of partners' answers about it. */
export const leftOutKey = (eventPosition: string): string => `left out ${eventPosition}`;
/** Key of the position of a right copy of an output that also has another copy. */
export const rightKey = ({ kind, id, key }: FoundOutput): string => `right ${kind} ${id} ${key}`;

/** Returns the messages of rules, and their questions to partners. */
export const outputsOf = (rules: readonly Pick<EvaluatedRule, 'intents' | 'triggers'>[]): readonly EventOutput[] =>
  rules.flatMap(({ intents, triggers }): EventOutput[] => [
    ...intents.map((intent) => ({ kind: 'intent', intent }) as const),
    ...triggers.map((trigger) => ({ kind: 'trigger', trigger }) as const),
  ]);

/** Returns outputs as they come out of their records. */
export async function normalized(
  outputs: readonly EventOutput[],
  { codecs, ids, run }: VerifyParts,
): Promise<readonly ExpectedOutput[]> {
  const expected: ExpectedOutput[] = [];
  for (const output of outputs) {
    if (workspaceOf(output) !== run.workspace) continue;
    const read =
      output.kind === 'intent'
        ? await decodeRecord(codecs.intent, codecs.intent.encode(output.intent))
        : await decodeRecord(codecs.trigger, codecs.trigger.encode(output.trigger));
    if (!read.ok)
      throw new CarillonError(
        'internal',
        `an output of ${ruleOf(output)} cannot be decoded with the schema that it was written with`,
      );
    const again = { kind: output.kind, [output.kind]: read.value } as unknown as EventOutput;
    expected.push({ ...entryOf(again, ids), output: again });
  }
  return expected;
}

/** Compares outputs that an event gives with those on the log. `at` is the append time of the event. */
export async function compare(
  expected: readonly ExpectedOutput[],
  eventPosition: string,
  at: Instant,
  work: Work,
  page: VerifiedPage,
): Promise<void> {
  if (expected.length === 0) return;
  const { besideRight, compared, different, missing } = matchOutputs(expected, work.scratch.outputsOf(eventPosition));
  page.counted.same += expected.length - different.length - missing.length;
  page.compared.push(...compared.map(({ position }) => position));
  page.answers.push(...besideRight.map(({ copy, right }) => ({ key: rightKey(copy), answer: right.position })));
  for (const { expected: output, found } of different) page.findings.push(await differenceOf(output, found, work));
  for (const output of missing) {
    if (at <= removedUntilOf(output.output, work)) page.counted.pastRetention += 1;
    else page.findings.push({ ...findingOf(output.output, output), problem: 'missing', field: null, position: null });
  }
}

export const findingOf = (
  output: EventOutput,
  { kind, id, eventPosition }: Pick<FoundOutput, 'kind' | 'id' | 'eventPosition'>,
) => ({
  output: kind,
  id,
  rule: ruleOf(output),
  eventId: eventIdOf(output),
  eventPosition,
});

async function differenceOf({ output }: ExpectedOutput, found: FoundOutput, work: Work): Promise<Finding> {
  const onLog = await readOutput(found, work);
  const field = onLog && firstDifference(output, onLog);
  return { ...findingOf(output, found), problem: 'different', field, position: found.position };
}

export async function readOutput(
  { position }: Pick<FoundOutput, 'position'>,
  { codecs, history }: VerifyParts,
): Promise<EventOutput | null> {
  const place = readPosition(position);
  if (!place) return null;
  const topic = place.topic as VerifiedTopic;
  const [record] = await history.read(topic, place.partition, place.offset, 1);
  return record?.offset === place.offset ? decodeOutput(record, codecs) : null;
}
