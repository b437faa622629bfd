import type { MissingLookup, MissingMessage } from '@carillon/domain/runs';
import type { DeliveryId } from '@carillon/kernel';

/** An item of a sending job. It holds ids and positions, and no personal data. */
export type SendItem =
  | { readonly kind: 'message'; readonly slot: DeliveryId; readonly position: string }
  /** A question to a partner: all triggers of a rule for an event. `rule` is `notification.rule`. */
  | { readonly kind: 'question'; readonly position: string; readonly rule: string };

const QUESTION = 'ask';

export const messageItem = ({ slot, row }: MissingMessage): string => `${slot} ${row.position}`;
export const questionItem = ({ position, rule }: MissingLookup): string => `${QUESTION} ${position} ${rule}`;

export function readSendItem(item: string): SendItem {
  const [first = '', position = '', rule = ''] = item.split(' ');
  if (first === QUESTION) return { kind: 'question', position, rule };
  return { kind: 'message', slot: first as DeliveryId, position };
}

/** Returns the delivery of a message, or event and rule of a lookup. */
export function nameOfSendItem(text: string): string {
  const item = readSendItem(text);
  return item.kind === 'message' ? item.slot : `${item.position} ${item.rule}`;
}
