import { pathText, type Condition } from './form-rows.ts';
import type { ExpressionCheck } from './queries.ts';

type Form = NonNullable<ExpressionCheck['form']>;
type Part = Form['conditions'][number];

const FLIPPED: Readonly<Record<string, string>> = {
  '==': '!=',
  '!=': '==',
  '>': '<=',
  '<=': '>',
  '<': '>=',
  '>=': '<',
};

/** Returns the opposite of a line. `text` is its part of the expression. */
function oppositeOfPart(part: Part, text: string): string {
  if (part.kind === 'group') return `!(${text})`;
  const condition = part as Condition;
  switch (condition.kind) {
    case 'compare':
      return `${pathText(condition.path)} ${FLIPPED[condition.op]} ${JSON.stringify(condition.value)}`;
    case 'changed_to':
    case 'changed_from_to':
      // The value after the change is left again by an event with another value, not by the next event with the same one.
      return condition.not ? text.slice(1) : `${pathText(condition.path)} != ${JSON.stringify(condition.value)}`;
    case 'true':
    case 'has':
    case 'text':
    case 'changed':
      return condition.not ? text.slice(1) : `!${text}`;
    case 'one_of':
    case 'size':
    case 'some':
    case 'expression':
      return `!(${text})`;
  }
}

/**
 * Returns an expression that is true once a condition has ended: the opposite of each line, joined the other way, so that the form shows
 * lines again. `form` is the form of `source`.
 */
export function oppositeOf(source: string, { match, conditions }: Form): string {
  const parts = conditions.map((part) => oppositeOfPart(part, source.slice(part.start, part.end)));
  return parts.join(match === 'all' ? ' || ' : ' && ');
}
