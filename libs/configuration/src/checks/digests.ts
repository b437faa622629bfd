import { channelsOf, templateOf } from '@carillon/domain/channels';
import type { NotificationBody } from '@carillon/domain/configuration';
import { deliverySettings } from '@carillon/domain/deliveries';
import { digestSettings, type DigestWindow } from '@carillon/domain/digests';
import { formatDuration, type Duration } from '@carillon/kernel';
import { isKind } from '../resource.ts';
import type { Report } from './finding.ts';
import { checkName } from './names.ts';
import type { Check, CheckedAgainst } from './check-context.ts';

const AT = ['cadence', 'digest'] as const;

/** Several messages become one: what the shape cannot say of it. */
export const checkDigest: Check = (resource, around, report) => {
  if (!isKind(resource, 'notification')) return;
  const { body, ref } = resource;
  const digest = digestSettings(body);
  if (!digest) return;
  checkSliding(body, digest.window, report);
  checkTimes(body, report);
  checkTemplate(body, ref.workspace, around, report);
  const longest = longestOf(digest.window);
  const { expires } = deliverySettings(body);
  if (longest <= expires) return;
  report.warn([...AT, 'window'], {
    code: 'digest_outlasts_expiry',
    facts: { expires: formatDuration(expires), length: formatDuration(longest) },
  });
};

function checkSliding(body: NotificationBody, window: DigestWindow, report: Report): void {
  if (window.kind !== 'sliding' || window.step <= window.atMost) return;
  const written = body.cadence?.digest?.window;
  const step = written && 'sliding' in written ? written.sliding : '';
  report.fault([...AT, 'window', 'at_most'], { code: 'digest_window_short', facts: { step } });
}

function checkTimes(body: NotificationBody, report: Report): void {
  const window = body.cadence?.digest?.window;
  const times = window && 'at' in window ? window.at : [];
  for (const [index, time] of times.entries()) {
    if (times.indexOf(time) === index) continue;
    report.fault([...AT, 'window', 'at', index], { code: 'time_repeated', facts: { time } });
  }
}

/** One template must serve all channels of the notification. */
function checkTemplate(body: NotificationBody, workspace: string, around: CheckedAgainst, report: Report): void {
  const name = body.cadence?.digest?.template;
  if (name === undefined) return;
  checkName([...AT, 'template'], { kind: 'template', workspace, name }, around, report);
  const template = around.template(workspace, name);
  if (!template) return;
  const without = channelsOf(body)
    .map(([channel]) => channel)
    .filter((channel) => !templateOf(template, channel));
  if (without.length === 0) return;
  report.fault([...AT, 'template'], {
    code: 'template_lacks_channel',
    facts: { template: name, channel: without.join(', '), known: '' },
  });
}

const DAY = 1440;
const WEEK = 7 * DAY;

/** How long a window may collect by the clock on the wall. */
function longestOf(window: DigestWindow): Duration {
  if (window.kind === 'fixed') return window.length;
  if (window.kind === 'sliding') return window.atMost;
  const ends = [...window.days]
    .flatMap((day) => window.minutes.map((minute) => (day - 1) * DAY + minute))
    .toSorted((a, b) => a - b);
  const gaps = ends.map((end, index) => (ends[index + 1] ?? (ends[0] ?? 0) + WEEK) - end);
  return Math.max(...gaps) * 60_000;
}
