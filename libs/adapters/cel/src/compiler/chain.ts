import { matchBrackets, type Range } from './brackets.ts';
import type { Plan } from './plan.ts';

/** A member of a chain of `&&` or `||`. `from`: where it is cut off, the operator before it included. */
export type Link = { readonly plan: Plan; readonly whole: Range; readonly from: number };

/** A text with the places of its parts: what a form is read from and where it is changed. */
export class PlacedText {
  readonly source: string;
  /** The source with comments replaced by spaces, so that only operators and brackets lie between two parts. */
  readonly #bare: string;
  readonly #partners: ReadonlyMap<number, number>;

  constructor(source: string) {
    this.source = source;
    this.#bare = withoutComments(source);
    this.#partners = matchBrackets(source);
  }

  /** A member of a chain with the brackets that hold it alone. */
  whole({ start, end }: Range): Range {
    const before = this.#bare.slice(0, start).trimEnd().length - 1;
    const after = end + (this.#bare.length - end - this.#bare.slice(end).trimStart().length);
    if (before < 0 || this.#bare[before] !== '(' || this.#partners.get(before) !== after) return { start, end };
    return this.whole({ start: before, end: after + 1 });
  }

  /**
   * Returns the members of the outermost `&&` or `||`, from left to right, or the whole expression. A bracketed
   * expression is one member and stays one when it moves.
   */
  links(plan: Plan): readonly Link[] {
    const { op } = plan;
    const members = (each: Plan): Link[] => {
      const whole = this.whole(each);
      const isBracketed = each !== plan && whole.start !== each.start;
      if ((each.op !== 'and' && each.op !== 'or') || each.op !== op || isBracketed) {
        return [{ plan: each, whole, from: whole.start }];
      }
      const right = this.whole(each.right);
      return [...members(each.left), { plan: each.right, whole: right, from: this.whole(each.left).end }];
    };
    return members(plan);
  }

  /** Where the operator between two members stands. */
  operatorBetween(end: number, start: number): Range {
    const at = this.#bare.slice(end, start).search(/&&|\|\|/);
    return { start: end + at, end: end + at + 2 };
  }
}

function withoutComments(source: string): string {
  return source.replaceAll(
    /("""|''')(?:\\[^]|(?!\1)[^\\])*\1|"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|\/\/[^\n]*/g,
    (found) => (found.startsWith('//') ? ' '.repeat(found.length) : found),
  );
}
