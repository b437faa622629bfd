import type { ReactNode } from 'react';

/** What a field of code is coloured as. */
export type CodeLanguage = 'cel' | 'html' | 'json' | 'text';

/** A mistake in a text; lines and columns begin at 1. */
export type CodeFault = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What to write instead. */
  readonly fix?: string;
};

/** One thing that could stand at the caret. */
export type CodeChoice = {
  /** What is written there. */
  readonly label: string;
  /** Beside it, at the other end of the line: its type, or how many have it. */
  readonly detail?: string;
  /** One line of help, or the newest value. */
  readonly info?: string;
  readonly kind?: 'field' | 'function' | 'word';
};

/** What fits the text before the caret, from `from` on; null: nothing. Keys after it narrow the same choices as long as they are letters of a path. */
export type Complete = (before: string) => { readonly from: number; readonly choices: readonly CodeChoice[] } | null;

/** Where a fault stands in a text, by its number of UTF-16 units; a fault beyond the end stands at the end. */
export function placeOf(text: string, { line, column }: Pick<CodeFault, 'line' | 'column'>): number {
  const lines = text.split('\n');
  const before = lines.slice(0, Math.max(0, line - 1)).reduce((sum, one) => sum + one.length + 1, 0);
  return Math.min(before + Math.max(0, column - 1), text.length);
}

/** A variable that a button beside the field inserts at the caret. */
export type CodeVariable = {
  /** The path as the template names it: `customer.name`. */
  readonly path: string;
  /** An example value of the variable, or its source. */
  readonly note?: string;
};

/**
 * The change that inserts a variable at the caret: `{{path}}` in text, the path alone inside a tag. A name that was begun in the tag is
 * replaced, and a tag that is not closed gets its braces.
 */
export function variableAt(
  before: string,
  after: string,
  path: string,
): { readonly from: number; readonly insert: string } {
  const open = before.lastIndexOf('{{');
  const tag = open < 0 ? '' : before.slice(open);
  const isInside = open >= 0 && !tag.includes('}}');
  if (!isInside) return { from: before.length, insert: `{{${path}}}` };
  const begun = /[\w.[\]]*$/.exec(tag)?.[0] ?? '';
  const braces = before[open - 1] === '{' ? '}}}' : '}}';
  const isClosed = /^[^{]*?\}\}/.test(after);
  return { from: before.length - begun.length, insert: isClosed ? path : `${path}${braces}` };
}

export type CodeFieldProps = {
  readonly label: string;
  readonly hidesLabel?: boolean;
  readonly note?: ReactNode;
  readonly language: CodeLanguage;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** They are underlined where they stand, and said below. */
  readonly faults?: readonly CodeFault[];
  /** What could stand at the caret. */
  readonly complete?: Complete;
  /** Variables behind the button "Variable" above the field. Without any the field has no such button. */
  readonly variables?: readonly CodeVariable[];
  /** Ctrl or ⌘ and Enter. */
  readonly onRun?: () => void;
  readonly isReadOnly?: boolean;
  /** Takes no line break. */
  readonly isSingleLine?: boolean;
  /** So high is it at least, from 1 to 24. */
  readonly minLines?: number;
  readonly placeholder?: string;
  /** Takes the focus when it comes. */
  readonly hasFocus?: boolean;
};

/** Places in the text, from 0; of a caret both are the same. */
export type Chosen = { readonly anchor: number; readonly head: number };

/** The field as the button of its variables uses it. */
export type VariableTarget = {
  /** Inserts a variable at the caret. */
  insert(path: string): void;
  focus(): void;
};
