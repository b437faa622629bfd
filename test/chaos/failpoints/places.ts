import { TOPICS } from '@carillon/contracts';
import { ERASURE_PLACES as ERASED_PLACES, type ErasurePlace } from '@carillon/domain/erasures';

/** Topics that are appended to on the way to a message, as places name them: `carillon.events` is `events`. */
const SENDING_TOPICS = [
  'events',
  'evaluations',
  'triggers',
  'lookups',
  'cohorts',
  'intents',
  'outcomes',
  'config',
  'audit',
  'dead-letters',
] as const;
const GROUPS = ['engine', 'delivery', 'control'] as const;
const STATES = ['sending', 'sent', 'waiting', 'failed', 'in-doubt', 'suppressed', 'expired', 'cancelled'] as const;

/** What comes after a message was sent: receipts, the listener for mail that came back, and what people want no more. */
export const AFTERWARDS_PLACES: ReadonlySet<string> = new Set([
  'receipts.append',
  'consents.append',
  'audit.append',
  'delivery.delivered',
  'delivery.bounced',
  'delivery.complained',
  'receipt.read',
  'listener.take',
  'consent.find',
  'consent.write',
]);

/**
 * Places on the way to a message, after the steps of architecture section 2. Each has a `.before`, at which nothing has
 * happened yet, and an `.after`, at which it has happened and nobody has heard of it.
 */
export const SENDING_PLACES: ReadonlySet<string> = new Set([
  ...SENDING_TOPICS.map((topic) => `${topic}.append`),
  ...GROUPS.map((group) => `${group}.checkpoint`),
  ...STATES.map((state) => `delivery.${state}`),
  'delivery.insert',
  'delivery.renewal',
  'provider.send',
  'task.insert',
  'task.replace',
  'task.finish',
  'partner.call',
  'lookup.claim',
  'cohort.members',
  'cohort.save',
  'projection.put',
  'dead-letter.redrive',
  'suppression.find',
  'suppression.add',
  'suppression.remove',
  'lease.acquire',
  'secret.put',
  'secret.remove',
  'key-use.record',
]);

/** What counts messages to a person, and what makes one digest of many (docs/internals/digests.md). */
export const CADENCE_PLACES = [
  'limit.take',
  'limit.give-back',
  'delivery.collected',
  'digest.list',
  'digest.close',
  'delivery.digested',
  'digest.insert',
  'digest.empty',
] as const;
export type CadencePlace = (typeof CADENCE_PLACES)[number];

/** What rules that wait do beside the steps of every event. */
export const WAITING_PLACES = ['rule-states.save', 'rule-states.due', 'ticks.append'] as const;

export const erasurePlace = (place: ErasurePlace): string => `erasure.${place.replaceAll('_', '-')}`;

/** Steps of an erasure in their order: the request, the pause of the consumers, log and stores, and the end. */
export const ERASURE_STEPS: readonly string[] = [
  'erasure.start',
  'erasure.pause',
  ...ERASED_PLACES.map(erasurePlace),
  'erasure.finish',
  'erasure.end',
];

/** Every place at which a process can be told to fail. */
export const FAILPOINT_PLACES: ReadonlySet<string> = new Set([
  ...SENDING_PLACES,
  ...AFTERWARDS_PLACES,
  ...CADENCE_PLACES,
  ...WAITING_PLACES,
  'job.replace',
  ...ERASURE_STEPS,
  ...TOPICS.map((topic) => `${topic.slice('carillon.'.length)}.append`),
]);
