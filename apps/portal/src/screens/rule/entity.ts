import type { Bodies } from '../../api/draft-calls.ts';
import type { NotificationBody } from '../notifications/sentence.ts';

type Rule = NonNullable<NotificationBody['rules']>[string];

type StreamBody = Partial<Bodies['streams']>;

/** What the events of a rule are about, and whether the rule may look at more than one event of it. */
export type Entity = {
  /** `order` of `event.order_id`. Empty: the key does not say. */
  readonly noun: string;
  /** The path of the key. Null: there is none, or each table has its own. */
  readonly key: string | null;
  /** Why the rule can neither wait nor have a cooldown. Null: it can. */
  readonly off: string | null;
};

/** `event.order_id` is about an order, `event.customer.id` about a customer. */
export function nounOfKey(key: string): string {
  const [last = '', before = ''] = key.split('.').toReversed();
  const name = /^(?:id|key|uuid)$/i.test(last) ? before : last.replace(/(?:_(?:id|key|no|number|uuid)|Id|ID|Key)$/, '');
  return name === 'event' ? '' : name.replaceAll('_', ' ');
}

/** Returns true if rules on the stream may look at earlier events of an entity. */
export const keepsState = ({ key, from }: StreamBody): boolean => key !== undefined || from !== undefined;

/** Returns the entity of a rule. `stream` is its shared stream; undefined if there is none, or it is not loaded. */
export function entityOf(rule: Pick<Rule, 'cohort' | 'stream'>, stream: StreamBody | undefined): Entity {
  if (rule.cohort !== undefined) return { noun: 'member', key: null, off: null };
  if (rule.stream === undefined) {
    return { noun: '', key: null, off: 'This rule has an event stream of its own, which has no key.' };
  }
  if (stream === undefined) return { noun: '', key: null, off: null };
  const { from } = stream;
  const key = stream.key === undefined ? null : String(stream.key);
  if (key === null && from === undefined) {
    return { noun: '', key: null, off: `The event stream ${rule.stream} has no key.` };
  }
  const noun = key === null ? (from?.tables === undefined ? 'record' : 'row') : nounOfKey(key);
  return { noun, key, off: null };
}

/** Returns true if an expression names the event before: the row before of a change, else the entity's event before. */
export const readsPrevious = (source: string): boolean => /\b(?:previous|changed(?:To|FromTo)?)\b/.test(source);
