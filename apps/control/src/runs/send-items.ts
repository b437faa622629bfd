import { readTotals, type ShownTotals } from '@carillon/domain/rules';
import type { MissingLookup, MissingMessage } from '@carillon/domain/runs';
import type { DeliveryId, Instant, Json } from '@carillon/kernel';

/** An item of a sending job. It holds ids and positions, and no personal data. */
export type SendItem =
  | (ItemOfEvent & { readonly kind: 'message'; readonly slot: DeliveryId })
  /** A question to a partner: all triggers of a rule for an event. */
  | (ItemOfEvent & { readonly kind: 'question' });

/** Names the rule and its firing. */
type ItemOfEvent = {
  readonly position: string;
  /** `notification.rule` */
  readonly rule: string;
  /** Append time of the event, or the deadline of the rule. Null in items of earlier releases. */
  readonly at: Instant | null;
  /** Values of the rule's totals when it fired. Undefined: it has none. */
  readonly totals?: ShownTotals | undefined;
};

const QUESTION = 'ask';

export const messageItem = ({ slot, row: { position, rule, at, totals } }: MissingMessage): string =>
  [slot, position, rule, at, ...(totals ? [JSON.stringify(totals)] : [])].join(' ');
export const questionItem = ({ position, rule, at }: MissingLookup): string => `${QUESTION} ${position} ${rule} ${at}`;

export function readSendItem(item: string): SendItem {
  const [first = '', position = '', rule = '', time = '', totals] = item.split(' ');
  const at = /^\d+$/.test(time) ? Number(time) : null;
  const facts = { position, rule, at, ...(totals !== undefined && { totals: readTotals(JSON.parse(totals) as Json) }) };
  return first === QUESTION ? { kind: 'question', ...facts } : { kind: 'message', slot: first as DeliveryId, ...facts };
}

/** Returns the delivery of a message, or event and rule of a lookup. */
export function nameOfSendItem(text: string): string {
  const item = readSendItem(text);
  return item.kind === 'message' ? item.slot : `${item.position} ${item.rule}`;
}
