import type { CodeChoice, Complete } from '../../ui/code-words.ts';

/** A field that events were seen to have. */
export type SeenField = {
  readonly path: string;
  readonly types: readonly string[];
  /** The beginning of its newest value as JSON text. */
  readonly sample: string | null;
  /** Events that had it. */
  readonly count: number;
};

const FUNCTIONS: readonly (readonly [label: string, info: string])[] = [
  ['has(', 'Whether the event has the field: has(event.coupon)'],
  ['size(', 'How many entries a list has, or characters a text: size(event.items) > 2'],
  ['timestamp(', 'A time from text: timestamp(event.due) < time'],
  ['duration(', 'A span of time: duration("2h")'],
  ['string(', 'A value as text'],
  ['int(', 'A value as a whole number'],
  ['double(', 'A value as a number'],
];
const METHODS: readonly (readonly [label: string, info: string])[] = [
  ['startsWith(', 'Text that begins so: event.name.startsWith("A")'],
  ['endsWith(', 'Text that ends so'],
  ['contains(', 'Text that has this in it'],
  ['matches(', 'Text that a pattern fits (RE2)'],
  ['exists(', 'A list with an entry that fits: event.items.exists(i, i.qty > 2)'],
  ['all(', 'A list of which every entry fits'],
  ['filter(', 'The entries that fit'],
  ['map(', 'Something of every entry'],
  ['lowerAscii(', 'The text in lower case'],
];

/** `number · 92 %`: types, and the share of events that have the field. Before the first event the types alone. */
export function shareWords(field: SeenField, most: number): string {
  const types = field.types.join(' or ');
  return most === 0 ? types : `${types} · ${Math.round((field.count / most) * 100)} %`;
}

/** The most events that any field was seen in: as good as all of them. */
export const mostSeen = (fields: readonly SeenField[]): number =>
  fields.reduce((most, { count }) => Math.max(most, count), 0);

/** A path as it is written in an expression: what is below a list has no place of its own there. */
const written = (path: string): string | null => (path.includes('[]') ? null : `event.${path}`);

/** Fields of the event that may stand at a path of the recipients: lists for `for_each`, texts and numbers for all others but `where`. */
export function fieldChoices(path: string, fields: readonly SeenField[]): readonly string[] {
  if (path === 'where') return [];
  const types =
    path === 'for_each' ? ['array'] : path === 'user_ids' ? ['string', 'number', 'array'] : ['string', 'number'];
  return fields.flatMap((field) => {
    const text = written(field.path);
    return text !== null && field.types.some((type) => types.includes(type)) ? [text] : [];
  });
}

/** Fields with type, newest value and share of events; then names and functions. `roots` are the names that the place sees. */
export function completeExpression(fields: readonly SeenField[], roots: readonly string[]): Complete {
  const most = mostSeen(fields);
  const ofFields = fields.flatMap((field): CodeChoice[] => {
    const label = written(field.path);
    if (label === null) return [];
    const detail = shareWords(field, most);
    return [{ label, detail, kind: 'field', ...(field.sample !== null && { info: `newest: ${field.sample}` }) }];
  });
  const words = roots.map((label): CodeChoice => ({ label, kind: 'word' }));
  const functions = FUNCTIONS.map(([label, info]): CodeChoice => ({ label, info, kind: 'function' }));
  const methods = METHODS.map(([label, info]): CodeChoice => ({ label, info, kind: 'function' }));
  return (before) => {
    const typed = /[A-Za-z_][\w.]*$/.exec(before)?.[0] ?? '';
    const from = before.length - typed.length;
    // No completion inside a text literal.
    if (((before.slice(0, from).match(/(?<!\\)"/g)?.length ?? 0) & 1) === 1) return null;
    const path = /^(.+)\.(\w*)$/.exec(typed);
    const fits = (label: string): boolean => label.toLowerCase().startsWith(typed.toLowerCase());
    const found = [...ofFields, ...words, ...functions].filter(({ label }) => fits(label) && label !== typed);
    if (path && !ofFields.some(({ label }) => label.startsWith(`${path[1]}.`))) {
      return { from: from + (path[1]?.length ?? 0) + 1, choices: methods };
    }
    return { from, choices: found };
  };
}

/** Replaces a field in an expression by another, wherever it occurs as a whole. */
export function withField(source: string, path: string, nearest: string): string {
  const shape = new RegExp(
    String.raw`\bevent\.${path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?![\w.])`,
    'g',
  );
  return source.replaceAll(shape, () => `event.${nearest}`);
}
