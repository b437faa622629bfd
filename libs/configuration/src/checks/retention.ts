import { readRetention, type DeploymentBody, type NotificationBody } from '@carillon/domain/configuration';
import { timesOf, type NotificationTime } from '@carillon/domain/rules';
import type { Duration } from '@carillon/kernel';
import type { WantedResource } from '../resource.ts';
import type { Report } from './finding.ts';

/** Topics whose records waits and deliveries go back to. */
const NEEDED = ['events', 'triggers', 'lookups', 'intents'] as const;

type Notification = WantedResource<'notification'>;
type Bound = { readonly notification: string; readonly time: NotificationTime };
type ShortTopic = { readonly topic: (typeof NEEDED)[number]; readonly kept: string; readonly duration: Duration };

/** Reports each topic of the deployment that is kept shorter than the longest time of all notifications. */
export function checkRetention(
  { retention }: DeploymentBody,
  notifications: readonly Notification[],
  report: Report,
): void {
  const topics = topicsOf(retention);
  if (topics.length === 0) return;
  const longest = notifications.flatMap(boundsOf).reduce<Bound | null>(longer, null);
  if (longest === null) return;
  for (const topic of topics) {
    if (topic.duration < longest.time.duration) report.fault(['retention', topic.topic], tooShort(topic, longest));
  }
}

/**
 * Checks a notification against the unchanged retention of the deployment. The mistake is reported at the notification,
 * because the change is about it.
 */
export function checkStayingRetention(notification: Notification, { retention }: DeploymentBody, report: Report): void {
  const [shortest] = topicsOf(retention).toSorted((a, b) => a.duration - b.duration);
  const longest = boundsOf(notification).reduce<Bound | null>(longer, null);
  if (shortest === undefined || longest === null || shortest.duration >= longest.time.duration) return;
  report.fault(longest.time.path, tooShort(shortest, longest));
}

function topicsOf(retention: DeploymentBody['retention']): readonly ShortTopic[] {
  return NEEDED.flatMap((topic) => {
    const kept = retention?.[topic];
    const duration = kept === undefined ? null : readRetention(kept);
    return kept === undefined || duration === null ? [] : [{ topic, kept, duration }];
  });
}

const boundsOf = ({
  ref,
  body,
}: {
  readonly ref: Notification['ref'];
  readonly body: NotificationBody;
}): readonly Bound[] => timesOf(body).map((time) => ({ notification: `${ref.workspace}/${ref.name}`, time }));

const longer = (best: Bound | null, bound: Bound): Bound =>
  best === null || bound.time.duration > best.time.duration ? bound : best;

const tooShort = ({ topic, kept }: ShortTopic, { notification, time }: Bound) => ({
  code: 'retention_too_short' as const,
  facts: {
    topic,
    kept,
    notification,
    rule: time.rule ?? '',
    setting: time.path.at(-1) ?? '',
    bound: time.text,
  },
});
