import type { Lookup } from '@carillon/domain/lookups';
import type { Cut, PartnerSide } from './cuts.ts';
import type { Evidence, RecordedLookup } from '../harness/evidence.ts';
import type { BookedCall } from './partner.ts';
import type { Tolerance } from './kill-tolerance.ts';
import type { Finding } from '../harness/promises.ts';

/**
 * Holds the answers on the log against the partner's book: each came from a call that was answered, nobody was asked
 * about again once it was there (but where it was being written at a cut), and every call of which the product knows
 * nothing was under way at a cut, or so soon before it (`slack`) that its answer was not written down yet.
 */
export function findAsked({ calls, cuts }: PartnerSide, { lookups }: Evidence, slack: Tolerance): readonly Finding[] {
  const byTrigger = Map.groupBy(lookups, ({ lookup }) => lookup.trigger.id);
  const answers = [...byTrigger.values()].map(firstOf);
  const callsById = new Map(calls.map((call) => [call.callId, call]));
  const ofTriggers = answers.flatMap(({ lookup }): Finding[] => {
    const name = nameOf(lookup);
    const callIds = new Set(byTrigger.get(lookup.trigger.id)?.map((record) => record.lookup.callId));
    const findings: Finding[] = [];
    if (callIds.size > 1) findings.push({ kind: 'asked', what: `${name}: ${callIds.size} answers are on the log` });
    if (!callsById.get(lookup.callId)?.answered) {
      findings.push({ kind: 'untrue', what: `${name}: its answer is on the log, and the partner gave none` });
    }
    return findings;
  });
  return [...ofTriggers, ...findRepeated({ calls, cuts }, answers, slack)];
}

/** The one that counts: a later record of the same answer is superseded. */
const firstOf = (records: readonly RecordedLookup[]): RecordedLookup =>
  records.reduce((first, record) => (record.at < first.at ? record : first));

const nameOf = ({ trigger }: Lookup): string => `${trigger.eventId} (${trigger.userIds.join(', ')})`;

/** By whom they are about: each of these has one trigger, or two where a member came and went. */
function findRepeated(
  { calls, cuts }: PartnerSide,
  answers: readonly RecordedLookup[],
  slack: Tolerance,
): readonly Finding[] {
  return aboutUsers(calls, answers).flatMap(({ user, own, booked, late, unknown }): Finding[] => {
    // A trigger is asked about once at a time, so that a cut costs it one call and no more.
    const hits = cuts.filter((cut) => booked.some((call) => isCutBy(call, cut, slack))).length;
    const cutOff = booked.filter((call) => cuts.some((cut) => isCutBy(call, cut, slack))).length;
    const excused = Math.min(cutOff, hits * own.length);
    const findings: Finding[] = [];
    if (late > lateAtCuts(own, cuts, slack)) {
      findings.push({ kind: 'asked', what: `${user}: ${late} calls after the answer was on the log` });
    }
    if (unknown > excused) {
      const what = `${user}: ${unknown} calls of which the product knows nothing, and ${excused} were cut off`;
      findings.push({ kind: 'asked', what });
    }
    return findings;
  });
}

/**
 * An append that a cut interrupts is tried again by whoever sent it, with the time at which it was made. It may land after
 * another process has taken the trigger over and has read the log to its end: that one asks again, once a cut.
 */
const lateAtCuts = (own: readonly RecordedLookup[], cuts: readonly Cut[], slack: Tolerance): number =>
  cuts.filter((cut) => own.some(({ at }) => isCutBy({ at, endedAt: at }, cut, slack))).length;

/** Whether a call, or what came of it, was under way at a cut. */
export const isCutBy = ({ at, endedAt }: Pick<BookedCall, 'at' | 'endedAt'>, cut: Cut, slack: Tolerance): boolean =>
  at - slack(cut) <= cut.until && endedAt + slack(cut) >= cut.from;

/** Calls that were made again because the product knew nothing of them. */
export const countAskedAgain = ({ calls }: PartnerSide, { lookups }: Evidence): number => {
  const byTrigger = Map.groupBy(lookups, ({ lookup }) => lookup.trigger.id);
  return aboutUsers(calls, [...byTrigger.values()].map(firstOf)).reduce(
    (sum, { unknown }) => sum + Math.max(0, unknown),
    0,
  );
};

type AboutUser = {
  readonly user: string;
  readonly own: readonly RecordedLookup[];
  readonly booked: readonly BookedCall[];
  /** Calls after the last answer was on the log, and others that no answer on it counts. */
  readonly late: number;
  readonly unknown: number;
};

function aboutUsers(calls: readonly BookedCall[], answers: readonly RecordedLookup[]): readonly AboutUser[] {
  const callsAbout = groupByUser(
    calls.filter(({ refused }) => !refused),
    ({ userIds }) => userIds,
  );
  const answersAbout = groupByUser(answers, ({ lookup }) => lookup.trigger.userIds);
  return [...answersAbout].map(([user, own]) => {
    const booked = callsAbout.get(user) ?? [];
    const lastAt = Math.max(...own.map(({ at }) => at));
    const late = booked.filter(({ at }) => at > lastAt).length;
    const known = own.reduce((sum, { lookup }) => sum + lookup.calls, 0);
    return { user, own, booked, late, unknown: booked.length - late - known };
  });
}

function groupByUser<Item>(
  items: readonly Item[],
  usersOf: (item: Item) => readonly string[],
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    for (const user of usersOf(item)) groups.set(user, [...(groups.get(user) ?? []), item]);
  }
  return groups;
}
