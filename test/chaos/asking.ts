import type { Lookup } from '@carillon/domain';
import type { Evidence, RecordedLookup } from './evidence.ts';
import type { BookedCall } from './partner.ts';
import type { Finding } from './verdict.ts';

/** A time in which calls to the partner may have been cut off, or what came of them. */
export type Cut = { readonly from: number; readonly until: number };

/** What the partner's book says, and what excuses a call that the product knows nothing of. */
export type PartnerSide = { readonly calls: readonly BookedCall[]; readonly cuts: readonly Cut[] };

/**
 * Holds the answers on the log against the partner's book: each came from a call that was answered, nobody was asked
 * about again once it was there, and every call of which the product knows nothing was under way at a cut.
 */
export function findAsked({ calls, cuts }: PartnerSide, { lookups }: Evidence): readonly Finding[] {
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
  return [...ofTriggers, ...findRepeated({ calls, cuts }, answers)];
}

/** The one that counts: a later record of the same answer is superseded. */
const firstOf = (records: readonly RecordedLookup[]): RecordedLookup =>
  records.reduce((first, record) => (record.at < first.at ? record : first));

const nameOf = ({ trigger }: Lookup): string => `${trigger.eventId} (${trigger.userIds.join(', ')})`;

/** By whom they are about: each of these has one trigger, or two where a member came and went. */
function findRepeated({ calls, cuts }: PartnerSide, answers: readonly RecordedLookup[]): readonly Finding[] {
  const callsAbout = groupByUser(
    calls.filter(({ refused }) => !refused),
    ({ userIds }) => userIds,
  );
  const answersAbout = groupByUser(answers, ({ lookup }) => lookup.trigger.userIds);
  const wasCut = ({ at, endedAt }: BookedCall): boolean =>
    cuts.some(({ from, until }) => at <= until && endedAt >= from);
  return [...answersAbout].flatMap(([user, own]): Finding[] => {
    const booked = callsAbout.get(user) ?? [];
    const lastAt = Math.max(...own.map(({ at }) => at));
    const late = booked.filter(({ at }) => at > lastAt).length;
    const known = own.reduce((sum, { lookup }) => sum + lookup.calls, 0);
    const unknown = booked.length - late - known;
    const excused = booked.filter(wasCut).length;
    const findings: Finding[] = [];
    if (late > 0) findings.push({ kind: 'asked', what: `${user}: ${late} calls after the answer was on the log` });
    if (unknown > excused) {
      const what = `${user}: ${unknown} calls of which the product knows nothing, and ${excused} were cut off`;
      findings.push({ kind: 'asked', what });
    }
    return findings;
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
