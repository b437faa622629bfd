import { insightsBody, type InsightsBody } from '@carillon/contracts';
import { describeReason, type Delivery, type DeliveryReason, type DeliveryState } from '@carillon/domain/deliveries';
import {
  CarillonError,
  formatDuration,
  formatInstant,
  parseDuration,
  type Duration,
  type Instant,
} from '@carillon/kernel';
import type { DeliverySpan, StateCount, TopicName } from '@carillon/ports';
import { z } from 'zod';
import type { VisibleScope } from '../../access/visible-scope.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { namesOf, unknownFilter } from '../../names.ts';
import { wasThere } from '../../past-names.ts';
import type { ControlPorts } from '../../ports.ts';
import { inWorkspace, readRange, timeRange, type ApiServer } from '../app.ts';

const HOUR: Duration = 3_600_000;
const DAY: Duration = 24 * HOUR;
const LONGEST: Duration = 92 * DAY;
const SHORTEST_BUCKET: Duration = 60_000;
/** A bucket is counted by a question for each state: more would hold up others, and no screen shows more. */
const MAX_BUCKETS = 200;
/** Where none is asked for: the first that makes at most 48 of the span. */
const USUAL_BUCKETS: readonly Duration[] = [
  SHORTEST_BUCKET,
  5 * SHORTEST_BUCKET,
  15 * SHORTEST_BUCKET,
  HOUR,
  6 * HOUR,
  DAY,
];
const USUAL_MOST = 48;

const TOLD: readonly DeliveryState[] = ['SENT', 'DELIVERED', 'COMPLAINED'];
const ACCOUNT_TROUBLE: readonly DeliveryReason[] = ['refused_account', 'account_unavailable'];
const LOOKED_AT = 500;

/** Consumers whose lag users notice: evaluation, sending, and lists. */
const WAITED_FOR: readonly (readonly [group: string, topic: TopicName])[] = [
  ['engine', 'carillon.events'],
  ['delivery', 'carillon.intents'],
  ['control', 'carillon.events'],
];

type InsightPorts = Pick<ControlPorts, 'ledger' | 'log' | 'checkpoints' | 'configuration' | 'clock'>;
type Counts = Record<string, number>;

const query = z.strictObject({
  ...timeRange,
  bucket: z
    .string()
    .max(40)
    .optional()
    .describe(
      `Such as \`1h\`, at least 1m, at most ${MAX_BUCKETS} per time range. Defaults to a length that makes at most ${USUAL_MOST} buckets`,
    ),
  notification: z.string().max(100).optional().describe('Only deliveries of this notification'),
});

/**
 * Route for the number of deliveries of a time span per current state, counted from the ledger. Includes test messages,
 * as the list of deliveries does.
 */
export function insightsRoute(app: ApiServer, ports: InsightPorts): void {
  app.get(
    '/v1/workspaces/:workspace/insights',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'readInsights',
        tags: ['Deliveries'],
        summary: 'How many deliveries are in which state, over time and by notification; of the last day',
        params: inWorkspace,
        querystring: query,
        response: { 200: insightsBody },
      },
    },
    async (request) => {
      const now = ports.clock.now();
      const { workspace } = request.params;
      const { notification } = request.query;
      if (notification !== undefined) refuseUnknown(ports, visibleScopeOf(request), notification);
      const span = { workspace, ...spanOf(request.query, now) };
      const bucket = bucketOf(request.query.bucket, span);
      const [counts, people, byNotification, inDoubt, failing, records] = await Promise.all([
        ports.ledger.countOverTime({ ...span, ...(notification !== undefined && { notification }) }, bucket),
        notification === undefined ? ports.ledger.countPeople(span, TOLD) : null,
        notification === undefined ? ports.ledger.countByNotification(span) : [],
        ports.ledger.list({ workspace, states: ['IN_DOUBT'] }, LOOKED_AT),
        ports.ledger.list({ workspace, reasons: ACCOUNT_TROUBLE, since: now - HOUR }, LOOKED_AT),
        lagOf(ports),
      ]);
      const states = sumOf(counts);
      return {
        workspace,
        from: formatInstant(span.since),
        to: formatInstant(span.before),
        bucket: formatDuration(bucket),
        notification: notification ?? null,
        states,
        messages: TOLD.reduce((sum, state) => sum + (states[state] ?? 0), 0),
        people,
        buckets: bucketsOf(counts, span, bucket),
        notifications: [...Map.groupBy(byNotification, (one) => one.notification)]
          .map(([name, of]) => ({ notification: name, states: sumOf(of) }))
          .toSorted((one, other) => totalOf(other.states) - totalOf(one.states)),
        in_doubt: { deliveries: inDoubt.items.length, complete: inDoubt.next === null },
        failing_accounts: failingAccounts(failing.items),
        lag: { records },
      };
    },
  );
}

function refuseUnknown({ configuration }: InsightPorts, { names }: VisibleScope, name: string): void {
  const known = names.flatMap(namesOf(configuration.current(), 'notification'));
  if (known.includes(name) || wasThere(name, names, configuration)) return;
  throw unknownFilter('notification', 'notification', name, known);
}

const refused = (field: string, detail: string): CarillonError =>
  new CarillonError('invalid_request', `${field}: ${detail}`, { pointer: `/${field}` });

function spanOf(asked: z.infer<typeof query>, now: Instant): Pick<DeliverySpan, 'since' | 'before'> {
  const { since: from, before = now + 1 } = readRange(asked, now);
  const since = from ?? before - DAY;
  if (before <= since) throw refused('from', 'must not be in the future');
  if (before - since > LONGEST) throw refused(asked.last === undefined ? 'from' : 'last', 'a span is at most 92 days');
  return { since, before };
}

function bucketOf(text: string | undefined, { since, before }: DeliverySpan): Duration {
  const span = before - since;
  if (text === undefined) return USUAL_BUCKETS.find((one) => span / one <= USUAL_MOST) ?? 2 * DAY;
  const bucket = parseDuration(text);
  if (!bucket.ok || bucket.value < SHORTEST_BUCKET)
    throw refused('bucket', `expected a duration from 1m; found ${text}`);
  if (span / bucket.value > MAX_BUCKETS) {
    throw refused(
      'bucket',
      `${text} divides this time range into more than ${MAX_BUCKETS} buckets: choose a longer duration`,
    );
  }
  return bucket.value;
}

function sumOf(rows: readonly { readonly state: DeliveryState; readonly deliveries: number }[]): Counts {
  const sums: Counts = {};
  for (const { state, deliveries } of rows) sums[state] = (sums[state] ?? 0) + deliveries;
  return sums;
}

const totalOf = (counts: Counts): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

function bucketsOf(
  counts: readonly StateCount[],
  { since, before }: DeliverySpan,
  bucket: Duration,
): InsightsBody['buckets'] {
  const byTime = Map.groupBy(counts, ({ at }) => at);
  const buckets: InsightsBody['buckets'] = [];
  for (let at = since - (since % bucket); at < before; at += bucket) {
    buckets.push({ at: formatInstant(at), states: sumOf(byTime.get(at) ?? []) });
  }
  return buckets;
}

/**
 * Groups failed deliveries by the account of their last attempt. Deliveries without an attempt ended because no account
 * was available.
 */
function failingAccounts(deliveries: readonly Delivery[]): InsightsBody['failing_accounts'] {
  const named = deliveries.map(({ attempts, reason }) => ({ account: attempts.at(-1)?.account, reason }));
  const groups = Map.groupBy(named, ({ account, reason }) => JSON.stringify([account, reason]));
  return [...groups.values()].flatMap((group) => {
    const [one] = group;
    if (one?.account === undefined) return [];
    const { account, reason } = one;
    return [{ account, reason, sentence: describeReason(reason), deliveries: group.length }];
  });
}

async function lagOf({ log, checkpoints }: InsightPorts): Promise<number> {
  let records = 0;
  for (const [group, topic] of WAITED_FOR) {
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const { start, end } = await log.bounds(topic, partition);
      const next = (await checkpoints.load(group, topic, partition))?.next ?? start;
      records += Math.max(0, end - Math.max(next, start));
    }
  }
  return records;
}
