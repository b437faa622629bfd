import Handlebars from 'handlebars';
import { messageOf } from '@carillon/kernel';

/** Where something starts, as editors count: lines and columns from 1. */
export type Place = { readonly line: number; readonly column: number };
type Location = { readonly start: Place };
type Strip = { readonly open: boolean; readonly close: boolean };

/**
 * The syntax tree of Handlebars 4.7, as its parser makes it. Handlebars' own types leave the kinds of statements open, so
 * they cannot be told apart without casts; these can.
 */
export type PathExpression = {
  readonly type: 'PathExpression';
  readonly data: boolean;
  readonly depth: number;
  readonly parts: readonly string[];
  readonly original: string;
  readonly loc: Location;
};
export type Literal =
  | { readonly type: 'StringLiteral'; readonly value: string; readonly original: string; readonly loc: Location }
  | { readonly type: 'NumberLiteral'; readonly value: number; readonly original: number; readonly loc: Location }
  | { readonly type: 'BooleanLiteral'; readonly value: boolean; readonly original: boolean; readonly loc: Location }
  | { readonly type: 'UndefinedLiteral' | 'NullLiteral'; readonly loc: Location };
export type HashPair = {
  readonly type: 'HashPair';
  readonly key: string;
  readonly value: Expression;
  readonly loc: Location;
};
export type Hash = { readonly type: 'Hash'; readonly pairs: readonly HashPair[]; readonly loc: Location };
export type Call = {
  readonly path: PathExpression | Literal;
  readonly params: readonly Expression[];
  readonly hash: Hash | undefined;
  readonly loc: Location;
};
export type SubExpression = Call & { readonly type: 'SubExpression' };
export type Expression = PathExpression | Literal | SubExpression;
export type Mustache = Call & { readonly type: 'MustacheStatement'; readonly escaped: boolean; readonly strip: Strip };
export type Block = Call & {
  readonly type: 'BlockStatement';
  readonly program: Program | undefined;
  readonly inverse: Program | undefined;
};
export type Content = { readonly type: 'ContentStatement'; readonly value: string; readonly loc: Location };
export type Unsupported = {
  readonly type: 'PartialStatement' | 'PartialBlockStatement' | 'Decorator' | 'DecoratorBlock';
  readonly loc: Location;
};
export type Statement =
  | Mustache
  | Block
  | Content
  | Unsupported
  | { readonly type: 'CommentStatement'; readonly loc: Location };
export type Program = {
  readonly type: 'Program';
  readonly body: readonly Statement[];
  readonly blockParams: readonly string[] | undefined;
  /** The `{{else if}}` form: it holds one block that the author does not see as nested. */
  readonly chained?: boolean;
  readonly loc: Location;
};

export type SyntaxFault = Place & { readonly message: string };

/** The place of a node, columns from 1 (Handlebars counts them from 0). */
export const placeOf = (node: { readonly loc: Location }): Place => ({
  line: node.loc.start.line,
  column: node.loc.start.column + 1,
});

/** Whether it is written `name args`: a call of a helper, not a variable. A name alone is always a variable here. */
export const isCall = (node: Call): boolean =>
  node.path.type === 'PathExpression' && (node.params.length > 0 || (node.hash?.pairs.length ?? 0) > 0);

/** Returns the name of the called helper. Undefined for a path such as `a.b` or `this`. */
export function calledName(node: Call): string | undefined {
  const path = node.path;
  if (path.type !== 'PathExpression' || path.data || path.depth > 0 || path.parts.length !== 1) return undefined;
  return isScoped(path) ? undefined : path.parts[0];
}

/** Written `this.x`, `./x` or `../x`: never a block parameter and never a helper. */
export const isScoped = (path: PathExpression): boolean => /^\.|^this\b/.test(path.original);

/**
 * Parses a source that passed `scan`, which limits its time: the parser alone takes minutes for 64 KB of nested
 * parentheses. Accepts text only, because Handlebars would compile a syntax tree from the caller without checks.
 */
export function parse(source: string): { readonly program: Program } | { readonly fault: SyntaxFault } {
  if (typeof source !== 'string') return { fault: { line: 1, column: 1, message: 'A template is text' } };
  try {
    return { program: Handlebars.parseWithoutProcessing(source) as unknown as Program };
  } catch (error) {
    return { fault: syntaxFault(error) };
  }
}

/** Takes out, in place, the blanks that `~` and blocks on lines of their own leave behind. */
export function stripBlanks(program: Program): void {
  (Handlebars.parse as (program: unknown) => unknown)(program);
}

/** The parser as far as its messages leave out what its lexer knows: where it stopped. */
type ParserInside = {
  readonly Parser?: { readonly lexer?: { readonly yylloc?: { first_line: number; first_column: number } } };
};

function syntaxFault(error: unknown): SyntaxFault {
  const message = messageOf(error);
  const known = error as { lineNumber?: unknown; column?: unknown };
  if (typeof known.lineNumber === 'number' && typeof known.column === 'number') {
    // Made by Handlebars' own checks: "if doesn't match unless - 1:3".
    return { line: known.lineNumber, column: known.column + 1, message: message.replace(/ - \d+:\d+$/, '') };
  }
  const at = (Handlebars as unknown as ParserInside).Parser?.lexer?.yylloc;
  const line = at?.first_line ?? Number(/on line (\d+)/.exec(message)?.[1] ?? 1);
  return { line, column: (at?.first_column ?? 0) + 1, message: readable(message) };
}

const TOKENS: Readonly<Record<string, string>> = {
  EOF: 'the end of the template',
  CLOSE: '"}}"',
  CLOSE_UNESCAPED: '"}}}"',
  OPEN_ENDBLOCK: 'the end of a block that was not opened',
  INVERSE: '"{{else}}" outside of a block',
  OPEN_INVERSE_CHAIN: '"{{else ...}}" outside of a block',
  INVALID: 'a character that cannot stand here',
  SEP: '"."',
  EQUALS: '"="',
  CLOSE_SEXPR: '")"',
  OPEN_SEXPR: '"("',
  ID: 'a name',
  STRING: 'a text in quotes',
  NUMBER: 'a number',
};

function readable(message: string): string {
  const got = /got '([A-Z_]+)'/.exec(message)?.[1];
  if (got === 'EOF' && message.includes("'OPEN_ENDBLOCK'")) return 'A block is not closed at the end of the template';
  return got === undefined ? 'This tag cannot be parsed' : `Did not expect ${TOKENS[got] ?? got} here`;
}
