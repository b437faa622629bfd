import type { Schemas } from '../../api/client.ts';

export type ChangeFacts = NonNullable<Schemas['Event']['change']>;

const OPS: Readonly<Record<ChangeFacts['op'], string>> = {
  create: 'Created',
  update: 'Updated',
  delete: 'Deleted',
  snapshot: 'Existing row',
};

/** `Updated in public.orders` */
export const changeText = ({ op, table }: Pick<ChangeFacts, 'op' | 'table'>): string => `${OPS[op]} in ${table}`;

/** A value as it is shown: text without quotes, everything else as JSON. Null: the row has no such field. */
export function valueText(json: string | null): string {
  if (json === null) return 'nothing';
  if (json === '""') return '""';
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : json;
  } catch {
    // A long value is cut, so that it is no JSON any more.
    return json;
  }
}

/** Characters of a value in a list to choose from. */
const MAX_VALUE_LENGTH = 30;

/** Returns a short name of a change for lists: `status open → paid`, or its operation if no field changed. */
export function changeName({ op, fields }: Pick<ChangeFacts, 'op' | 'fields'>): string {
  const [first] = fields;
  if (first === undefined) return OPS[op].toLowerCase();
  const [before, after] = [first.before, first.after].map((value) => valueText(value).slice(0, MAX_VALUE_LENGTH));
  return `${first.field} ${before} → ${after}`;
}

/** Which values the database did not send, in a sentence. Null if it sent all. */
export function unknownText({ op, unknown, before_known: isKnown }: Omit<ChangeFacts, 'table' | 'fields' | 'more'>) {
  const names = unknown.length === 0 ? '' : `Unknown: ${unknown.join(', ')}.`;
  const before = op === 'update' && !isKnown ? 'The row before is unknown.' : '';
  const words = [before, names].filter((text) => text !== '').join(' ');
  return words === '' ? null : words;
}
