import { DEFAULT_TOPIC_RETENTION, type TopicRetention } from '@carillon/contracts';
import type { DeadLetterRow } from '@carillon/ports';
import { logRecord } from '@carillon/testing';
import fc from 'fast-check';
import { openEmbedded, type Embedded } from '../src/index.ts';
import { temporaryFolder } from './open-embedded.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const EVENTS = 'carillon.events';
const INTENTS = 'carillon.intents';
const LETTERS = 'carillon.dead-letters';
type Topic = typeof EVENTS | typeof INTENTS | typeof LETTERS;

/** A record as the model knows it. */
type Known = {
  readonly topic: Topic;
  readonly offset: number;
  readonly time: number;
  /** Until then a wait or a delivery needs the record. A rule may ask for no longer than the retention of the topic. */
  readonly neededUntil: number;
  /** Id of the open dead letter of the record. */
  letter: string | null;
};

type Step =
  | { readonly kind: 'append'; readonly topic: Topic; readonly neededShare: number; readonly isOpen: boolean }
  | { readonly kind: 'pass'; readonly hours: number }
  | { readonly kind: 'read'; readonly topic: typeof EVENTS | typeof INTENTS; readonly share: number }
  | { readonly kind: 'close'; readonly at: number }
  | {
      readonly kind: 'retention';
      /** Place of a record whose time ends when retention runs. Null: it runs now. */
      readonly edge: number | null;
    };

const topics = fc.constantFrom<Topic>(EVENTS, INTENTS, LETTERS);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('append' as const), topic: topics, neededShare: share, isOpen: fc.boolean() }),
    fc.record({ kind: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 240 }) }),
    fc.record({
      kind: fc.constant('read' as const),
      topic: fc.constantFrom(EVENTS as typeof EVENTS, INTENTS as typeof INTENTS),
      share,
    }),
    fc.record({ kind: fc.constant('close' as const), at: fc.nat({ max: 9 }) }),
    fc.record({ kind: fc.constant('retention' as const), edge: fc.option(fc.nat({ max: 9 })) }),
  ),
  { minLength: 5, maxLength: 25 },
);
const days = fc.integer({ min: 1, max: 20 });
const policies: fc.Arbitrary<TopicRetention> = fc
  .record({ events: days, intents: days, letters: fc.option(days) })
  .map(({ events, intents, letters }) => ({
    ...DEFAULT_TOPIC_RETENTION,
    [EVENTS]: events * DAY,
    [INTENTS]: intents * DAY,
    [LETTERS]: letters === null ? null : letters * DAY,
  }));

export type LawRun = { readonly cases: number; readonly removed: number };

/**
 * Checks in random cases that retention removes no record that a wait or a delivery needs, that a role has not read, or that is an open dead
 * letter, and that it removes the others. Returns how much was removed, so that the caller sees that the cases show something.
 */
export async function checkRetentionLaw(cases: number, seed?: number): Promise<LawRun> {
  const folder = temporaryFolder();
  let now = 1_700_000_000_000;
  let removed = 0;
  let letters = 0;
  const data = await openEmbedded({ dataDir: folder.path, clock: { now: () => now } });
  try {
    await fc.assert(
      fc.asyncProperty(policies, steps, async (policy, chosen) => {
        const known: Known[] = [];
        const unread = { [EVENTS]: 0, [INTENTS]: 0, [LETTERS]: Number.POSITIVE_INFINITY };
        for (const topic of [EVENTS, INTENTS] as const) unread[topic] = (await data.log.bounds(topic, 0)).end;
        for (const step of chosen) {
          if (step.kind === 'pass') now += step.hours * HOUR;
          if (step.kind === 'append') {
            const letter = step.topic === LETTERS && step.isOpen ? `dlq_${(letters += 1)}` : null;
            known.push(await append(data, { ...step, letter }, policy, now));
          }
          if (step.kind === 'read') {
            const { end } = await data.log.bounds(step.topic, 0);
            unread[step.topic] += Math.floor((end - unread[step.topic]) * step.share);
          }
          if (step.kind === 'close') {
            const open = known.filter(({ letter }) => letter !== null)[step.at];
            if (open?.letter) await data.readModels.markDismissed(open.letter, now, 'ada');
            if (open) open.letter = null;
          }
          if (step.kind === 'retention') {
            const edge = step.edge === null ? undefined : known[step.edge];
            now = Math.max(now, edge ? edge.time + (policy[edge.topic] ?? 0) : now);
            await data.applyRetention(now, {
              topics: policy,
              unreadFrom: (topic) => unread[topic as Topic] ?? Number.POSITIVE_INFINITY,
            });
            removed += await compare(data, known, { policy, unread, now });
          }
        }
        // The next case begins with nothing open.
        for (const { letter } of known) if (letter !== null) await data.readModels.markDismissed(letter, now, 'ada');
      }),
      { numRuns: cases, ...(seed !== undefined && { seed }) },
    );
    return { cases, removed };
  } finally {
    await data.close();
    folder.remove();
  }
}

async function append(
  data: Embedded,
  {
    topic,
    neededShare,
    letter,
  }: { readonly topic: Topic; readonly neededShare: number; readonly letter: string | null },
  policy: TopicRetention,
  now: number,
): Promise<Known> {
  const [offset = -1] = await data.log.append([logRecord('x', { topic, partition: 0 })]);
  if (letter !== null) await data.readModels.put({ deadLetters: [letterRow(letter, offset, now)] });
  return { topic, offset, time: now, neededUntil: now + neededShare * (policy[topic] ?? 0), letter };
}

const letterRow = (id: string, ownOffset: number, at: number): DeadLetterRow => ({
  id,
  workspace: 'shop',
  stage: 'deliver',
  topic: 'carillon.receipts',
  partition: 0,
  offset: ownOffset,
  reason: 'unreadable',
  at,
  ownPartition: 0,
  ownOffset,
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
  receipt: null,
});

type Facts = {
  readonly policy: TopicRetention;
  readonly unread: Readonly<Record<Topic, number>>;
  readonly now: number;
};

/** Compares log and model. Removes from the model what the log removed, and returns how many records those were. */
async function compare(data: Embedded, known: Known[], { policy, unread, now }: Facts): Promise<number> {
  let removed = 0;
  for (const topic of [EVENTS, INTENTS, LETTERS] as const) {
    const left = new Set((await data.log.read(topic, 0, 0, 10_000)).map(({ offset }) => offset));
    for (const record of known.filter((one) => one.topic === topic)) {
      const kept = policy[topic];
      const isPast = kept !== null && record.time + kept < now;
      const isNeeded = record.letter !== null || record.offset >= unread[topic] || record.neededUntil > now;
      if (left.has(record.offset)) {
        if (isPast && !isNeeded) throw new Error(`${topic} ${record.offset} is past its time and stayed`);
        continue;
      }
      if (isNeeded || !isPast) throw new Error(`${topic} ${record.offset} was removed although it is needed`);
      known.splice(known.indexOf(record), 1);
      removed += 1;
    }
  }
  return removed;
}
