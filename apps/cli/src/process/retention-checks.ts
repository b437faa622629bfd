import { keptLonger } from '@carillon/adapter-embedded';
import { keyOfTopic, withNamedRetention, type TopicRetention } from '@carillon/contracts';
import type { Check } from '@carillon/control';
import type { NamedRetention } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';

const DAY = 86_400_000;

/** Says how long a data folder keeps each topic, and what it keeps forever because an earlier release made it. */
export function folderRetentionCheck(defaults: TopicRetention, named: NamedRetention): Check {
  const longer = keptLonger(withNamedRetention(named, defaults)).filter((topic) => !(keyOfTopic(topic) in named));
  const keys = longer.map(keyOfTopic);
  const note =
    keys.length === 0
      ? ''
      : `. An earlier release made this folder, so ${keys.join(', ')} stay until retention in carillon.yaml names them`;
  return { step: 'retention', ok: true, detail: describeRetention(withNamedRetention(named, defaults)) + note };
}

/** Returns the topics of each time, the shortest time first: `30d: events, intents; forever: config`. */
function describeRetention(topics: TopicRetention): string {
  const byTime = new Map<Duration | null, string[]>();
  for (const [topic, kept] of Object.entries(topics)) {
    const names = byTime.get(kept) ?? [];
    byTime.set(kept, [...names, topic.replace('carillon.', '')]);
  }
  const sorted = [...byTime].toSorted(([a], [b]) => (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY));
  return sorted
    .map(([kept, names]) => `${kept === null ? 'forever' : `${kept / DAY}d`}: ${names.join(', ')}`)
    .join('; ');
}
