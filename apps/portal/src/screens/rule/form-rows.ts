import type { Schemas } from '../../api/client.ts';

export type Condition = Schemas['FormCondition'];
export type FormValue = string | number | boolean | null;
type Path = readonly [string, ...(string | number)[]];

/** How a field is compared, for people, in the order of the list. */
export const TESTS = {
  '==': 'is',
  '!=': 'is not',
  '>': 'is more than',
  '>=': 'is at least',
  '<': 'is less than',
  '<=': 'is at most',
  in: 'is one of',
  'not in': 'is none of',
  startsWith: 'begins with',
  'not startsWith': 'does not begin with',
  endsWith: 'ends with',
  'not endsWith': 'does not end with',
  contains: 'contains',
  'not contains': 'does not contain',
  matches: 'matches the pattern',
  'not matches': 'does not match the pattern',
  has: 'is there',
  'not has': 'is not there',
  true: 'is true',
  'not true': 'is not true',
  'size ==': 'has as many entries as',
  'size !=': 'does not have as many entries as',
  'size >': 'has more entries than',
  'size >=': 'has at least as many entries as',
  'size <': 'has fewer entries than',
  'size <=': 'has at most as many entries as',
  some: 'has an entry where',
  changes: 'changes',
  'not changes': 'does not change',
} as const;
export type Test = keyof typeof TESTS;

/** Returns true if a test compares an event with the one before it, and so takes a value before and a value after. Empty: any value. */
export const isOfChanges = (test: Test): boolean => test.endsWith('changes');
export const COMPARED = ['==', '!=', '>', '>=', '<', '<='] as const;
export type Compared = (typeof COMPARED)[number];

/** A line of the form as it is typed. */
export type Row = {
  readonly field: string;
  readonly test: Test;
  /** Empty where the test takes none. */
  readonly value: string;
  /** The value before, for a test of changes. Empty: any. */
  readonly from: string;
  /** What `some` tests: the field within an entry, empty for the entry itself, and how it compares with the value. */
  readonly entry: { readonly field: string; readonly test: Compared; readonly name: string };
};

export const takesValue = (test: Test): boolean => !/^(?:not )?(?:has|true)$/.test(test);

const PLAIN = /^[A-Za-z_]\w*/;
const WORDS = new Set(['in', 'true', 'false', 'null']);
const stepText = (step: string | number): string =>
  typeof step === 'string' && PLAIN.exec(step)?.[0] === step && !WORDS.has(step)
    ? `.${step}`
    : `[${JSON.stringify(step)}]`;

/** `event.customer["first name"]`, as an expression writes it. */
export const pathText = ([root, ...steps]: Path): string => root + steps.map(stepText).join('');

const STEP = /^(?:\.\s*([A-Za-z_]\w*)|\[\s*(\d{1,9}|"(?:[^"\\]|\\.)*")\s*\])/;

/** The steps that follow; null: the text is no path. */
function stepsIn(text: string): (string | number)[] | null {
  const steps: (string | number)[] = [];
  for (let rest = text; rest !== '';) {
    const [whole, name, bracket] = STEP.exec(rest) ?? [];
    if (whole === undefined) return null;
    if (name !== undefined) steps.push(name);
    else {
      try {
        steps.push(JSON.parse(bracket ?? '') as string | number);
      } catch {
        return null;
      }
    }
    rest = rest.slice(whole.length);
  }
  return steps;
}

const ROOTS = ['event', 'item', 'variables', 'event_id', 'time'];
const CHANGE_ROOTS = ['previous', 'source', 'op', 'totals'];

/** Reads a typed path. A name alone is a field of the event. Returns null if it is no path. `hasPrevious`: the event has one before it. */
export function readPath(text: string, hasPrevious = false): Path | null {
  const typed = text.trim();
  const root = PLAIN.exec(typed)?.[0];
  if (root === undefined) return null;
  const steps = stepsIn(typed.slice(root.length));
  if (steps === null) return null;
  if (ROOTS.includes(root) || (hasPrevious && CHANGE_ROOTS.includes(root))) {
    return steps.length === 0 && root === 'event' ? null : [root, ...steps];
  }
  return ['event', root, ...steps];
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A value as somebody types it: numbers, true, false and null are what they are, text needs no quotes. */
export function readValue(text: string): FormValue {
  const typed = text.trim();
  if (typed === 'true' || typed === 'false') return typed === 'true';
  if (typed === 'null') return null;
  if (NUMBER.test(typed) && Number.isFinite(Number(typed))) return Number(typed);
  if (/^".*"$/s.test(typed)) {
    try {
      return JSON.parse(typed) as string;
    } catch {
      // It only looks quoted.
    }
  }
  return typed;
}

/** Returns a value as the field shows it. Text that looks like a number or another type gets quotes. Empty text shows as an empty field. */
export function showValue(value: FormValue): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = readValue(value) === value && !value.startsWith('"');
  return isPlain ? value : JSON.stringify(value);
}

/** The same for a value before or after a change, where an empty field is any value. */
const showChanged = (value: FormValue): string => showValue(value) || '""';

const ENTRY = /\s*("(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)/y;

/** Values with commas between them. */
export function readValues(text: string): readonly FormValue[] {
  const values: FormValue[] = [];
  ENTRY.lastIndex = 0;
  while (ENTRY.lastIndex < text.length) {
    const found = ENTRY.exec(text);
    if (!found) return [...values, readValue(text)];
    if (found[1]?.trim() !== '') values.push(readValue(found[1] ?? ''));
  }
  return values;
}
export const showValues = (values: readonly FormValue[]): string =>
  values
    .map((value) => showValue(value) || '""')
    .map((text, at) => (text.includes(',') && !text.startsWith('"') ? JSON.stringify(values[at]) : text))
    .join(', ');

const NO_ENTRY = { field: '', test: '==', name: 'entry' } as const;

/** A line of the form; null: it is an expression, which stands as a chip. */
export function rowOf(condition: Condition): Row | null {
  if (condition.kind === 'expression') return null;
  const field = pathText(condition.path);
  const row = { field, entry: NO_ENTRY, value: '', from: '' };
  const no = 'not' in condition && condition.not ? 'not ' : '';
  switch (condition.kind) {
    case 'compare':
      return { ...row, test: condition.op, value: showValue(condition.value) };
    case 'one_of':
      return { ...row, test: `${no}in`, value: showValues(condition.values) };
    case 'text':
      return { ...row, test: `${no}${condition.test}`, value: showValue(condition.value) };
    case 'true':
    case 'has':
      return { ...row, test: `${no}${condition.kind}` };
    case 'changed':
      return { ...row, test: `${no}changes` };
    case 'changed_to':
      return { ...row, test: `${no}changes`, value: showChanged(condition.value) };
    case 'changed_from_to':
      return {
        ...row,
        test: `${no}changes`,
        from: showChanged(condition.from),
        value: showChanged(condition.value),
      };
    case 'size':
      return { ...row, test: `size ${condition.op}`, value: String(condition.value) };
    case 'some': {
      const { name, op } = condition;
      const entry = { field: condition.field.map(stepText).join('').replace(/^\./, ''), test: op, name };
      return { ...row, test: 'some', value: showValue(condition.value), entry };
    }
  }
}

export type Written =
  | { readonly ok: true; readonly condition: Condition }
  /** Which part of the line cannot be meant, and what would. */
  | { readonly ok: false; readonly part: 'field' | 'value' | 'entry'; readonly fault: string };

const refused = (part: 'field' | 'value' | 'entry', fault: string): Written => ({ ok: false, part, fault });

/** A line of the form as a condition. `hasPrevious`: the event has one before it. */
export function conditionOf({ field, test, value, from, entry }: Row, hasPrevious = false): Written {
  const path = readPath(field, hasPrevious);
  if (path === null) return refused('field', 'Name a field, such as event.status.');
  const done = (condition: unknown): Written => ({ ok: true, condition: condition as Condition });
  const not = test.startsWith('not ');
  const plain = not ? test.slice('not '.length) : test;
  switch (plain) {
    case 'in':
      return done({ kind: 'one_of', path, values: [...readValues(value)], not });
    case 'has':
    case 'true':
      return done({ kind: plain, path, not });
    case 'changes':
      if (value.trim() !== '') {
        const to = { path, value: readValue(value), not };
        return from.trim() === ''
          ? done({ kind: 'changed_to', ...to })
          : done({ kind: 'changed_from_to', from: readValue(from), ...to });
      }
      if (from.trim() !== '') return refused('value', 'Enter the value after the change, or empty both.');
      return done({ kind: 'changed', path, not });
    case 'startsWith':
    case 'endsWith':
    case 'contains':
    case 'matches': {
      const text = readValue(value);
      return done({ kind: 'text', path, test: plain, value: typeof text === 'string' ? text : value.trim(), not });
    }
    case 'some': {
      const steps =
        entry.field.trim() === ''
          ? []
          : stepsIn(/^[.[]/.test(entry.field.trim()) ? entry.field.trim() : `.${entry.field.trim()}`);
      if (steps === null) return refused('entry', 'Name a field of an entry, such as qty, or leave it empty.');
      return done({ kind: 'some', path, name: entry.name, field: steps, op: entry.test, value: readValue(value) });
    }
    default: {
      if (!test.startsWith('size ')) return done({ kind: 'compare', path, op: test, value: readValue(value) });
      const count = readValue(value);
      if (typeof count !== 'number' || !Number.isInteger(count)) return refused('value', 'Enter a whole number.');
      return done({ kind: 'size', path, op: test.slice('size '.length), value: count });
    }
  }
}
