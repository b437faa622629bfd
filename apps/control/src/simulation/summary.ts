import type { SimulatedCadenceBody } from '@carillon/contracts';
import type { PastMessage, SimulatedFate, SimulatedRun } from '@carillon/domain/cadence';
import { formatInstant, type Instant } from '@carillon/kernel';

type Summary = SimulatedCadenceBody['now'];
type Told = { readonly message: PastMessage; readonly fate: SimulatedFate };

/** The people whom a cadence changes most are drawn one by one. */
const MAX_PEOPLE = 12;
const MAX_OF_ONE = 100;
const MAX_BUCKETS = 168;

/** A run in numbers, in time, and by person, of the messages that were asked about. Times are shown from `from` on. */
export function summaryOf(
  messages: readonly PastMessage[],
  { fates }: SimulatedRun,
  isAsked: (message: PastMessage) => boolean,
  { from, to }: { readonly from: Instant; readonly to: Instant },
  maySeePeople: boolean,
): Summary {
  const told = messages.flatMap((message, index): Told[] => {
    const fate = fates[index];
    return fate && isAsked(message) ? [{ message, fate }] : [];
  });
  const byKind = Map.groupBy(told, ({ fate }) => fate.kind);
  const countOf = (kind: SimulatedFate['kind']): number => byKind.get(kind)?.length ?? 0;
  const waits = (byKind.get('held') ?? [])
    .map(({ message, fate }) => fate.at - message.causedAt)
    .toSorted((a, b) => a - b);
  const dropped = (byKind.get('dropped') ?? []).flatMap(({ fate }) => (fate.kind === 'dropped' ? [fate] : []));
  const people = Map.groupBy(told, ({ message }) => message.person);
  const touched = [...people.values()].filter((of) => of.some(({ fate }) => fate.kind !== 'sent'));
  const weight = (of: readonly Told[]): number => of.filter(({ fate }) => fate.kind !== 'sent').length;
  return {
    messages: told.length,
    people: people.size,
    people_touched: touched.length,
    at_once: countOf('sent'),
    held: countOf('held'),
    held_median: waits.length === 0 ? null : Math.round((waits[Math.floor(waits.length / 2)] ?? 0) / 1000),
    digested: countOf('digested'),
    digests: new Set(told.flatMap(({ fate }) => (fate.kind === 'digested' ? [fate.index] : []))).size,
    dropped: dropped.length,
    dropped_by: [...Map.groupBy(dropped, ({ by }) => by)].map(([by, of]) => ({ by, count: of.length })),
    buckets: bucketsOf(told, from, to),
    most_touched: touched
      .toSorted((a, b) => weight(b) - weight(a))
      .slice(0, MAX_PEOPLE)
      .map((of) => ({
        person: maySeePeople ? (of[0]?.message.person ?? '') : null,
        messages: of.slice(0, MAX_OF_ONE).map(messageBody),
        more: Math.max(0, of.length - MAX_OF_ONE),
      })),
  };
}

function messageBody({ message, fate }: Told): Summary['most_touched'][number]['messages'][number] {
  return {
    delivery_id: message.deliveryId,
    channel: message.channel,
    caused_at: formatInstant(message.causedAt),
    fate: fate.kind,
    at: formatInstant(fate.at),
    by: fate.kind === 'held' ? fate.heldBy.join(', then ') : fate.kind === 'dropped' ? fate.by : null,
    filled_by: fate.kind === 'dropped' ? fate.filledBy.slice(0, 10) : [],
    digest: fate.kind === 'digested' ? fate.index : null,
  };
}

/**
 * Returns the number of messages per bar of an hour, or of longer bars if there would be too many. A digest counts
 * once.
 */
function bucketsOf(told: readonly Told[], from: Instant, to: Instant): Summary['buckets'] {
  const hours = Math.max(1, Math.ceil((to - from) / 3_600_000 / MAX_BUCKETS));
  const length = hours * 3_600_000;
  const first = Math.floor(from / length) * length;
  const buckets = Array.from({ length: Math.ceil((to - first) / length) }, (_, index) => ({
    at: formatInstant(first + index * length),
    came: 0,
    went: 0,
    dropped: 0,
  }));
  const bucketAt = (at: Instant) => buckets[Math.floor((at - first) / length)];
  const digests = new Set<number>();
  for (const { message, fate } of told) {
    const came = bucketAt(message.causedAt);
    if (came) came.came += 1;
    const bucket = bucketAt(fate.at);
    if (!bucket) continue;
    if (fate.kind === 'dropped') bucket.dropped += 1;
    else if (fate.kind !== 'digested') bucket.went += 1;
    else if (!digests.has(fate.index)) {
      digests.add(fate.index);
      bucket.went += 1;
    }
  }
  return buckets;
}
