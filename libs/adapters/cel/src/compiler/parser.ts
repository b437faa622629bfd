import type { ExpressionFault } from '@carillon/domain/rules';
import type { Result } from '@carillon/kernel';
import { err, ok } from '@carillon/kernel';
import type { ASTNode } from '@marcbachmann/cel-js';
import { Environment, ParseError } from '@marcbachmann/cel-js';
import { makeReadable, restoreDoubles } from './beyond-syntax.ts';
import { explainSyntax, faultAt, listed } from './faults.ts';

/** Names that an expression sees, with the types of the checker. */
export type Names = ReadonlyMap<string, string>;

export type Parsed = {
  readonly ast: ASTNode;
  /** An expression of no known type, for the checker. */
  readonly untyped: ASTNode;
  /** Where `?` stands before an element of a list or a key of a map. */
  readonly optionalAt: ReadonlySet<number>;
  /** The type of the whole, or what the checker has against it. Asked after names and functions are known. */
  check(): Result<string, ExpressionFault>;
};

export type Parser = { readonly names: Names; parse(source: string): Result<Parsed, ExpressionFault> };

export const MAX_SOURCE = 4096;
const LIMITS = { maxDepth: 60, maxAstNodes: 1500, maxListElements: 500, maxMapEntries: 200, maxCallArguments: 8 };

const TIMESTAMP = 'google.protobuf.Timestamp';
const TIMES = [
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getFullYear',
  'getHours',
  'getMilliseconds',
  'getMinutes',
  'getMonth',
  'getSeconds',
];

/** Functions that our runtime has beyond the library's own; the checker has to know them. */
const BEYOND = [
  'string.charAt(int): string',
  'string.replace(string, string): string',
  'string.replace(string, string, int): string',
  `string(${TIMESTAMP}): string`,
  'string(google.protobuf.Duration): string',
  `int(${TIMESTAMP}): int`,
  'int(google.protobuf.Duration): int',
  'int(uint): int',
  'uint(uint): uint',
  `timestamp(${TIMESTAMP}): ${TIMESTAMP}`,
  'duration(google.protobuf.Duration): google.protobuf.Duration',
  'matches(string, string): bool',
  'string.matches(string): bool',
  `localTime(string, string): ${TIMESTAMP}`,
  'changed(dyn): bool',
  'changedTo(dyn, dyn): bool',
  'changedFromTo(dyn, dyn, dyn): bool',
];

const UNUSED = (): never => {
  throw new Error('the library only checks');
};

/** Declarations that the library already has are left as they are. */
function attempt(register: () => unknown): void {
  try {
    register();
  } catch {
    return;
  }
}

function makeEnvironment(names: Names): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: false,
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: LIMITS,
  });
  for (const [name, type] of names) environment.registerVariable(name, type);
  for (const signature of BEYOND) attempt(() => environment.registerFunction(signature, UNUSED));
  for (const name of TIMES) {
    attempt(() => environment.registerFunction(`${TIMESTAMP}.${name}(string): int`, UNUSED));
  }
  for (const sign of ['+', '-', '*', '/', '%']) {
    attempt(() => environment.registerOperator(`double ${sign} int: double`, UNUSED));
    attempt(() => environment.registerOperator(`int ${sign} double: double`, UNUSED));
  }
  const numbers = ['int', 'uint', 'double'];
  for (const [left, right] of numbers.flatMap((a) => numbers.map((b) => [a, b] as const))) {
    if (left !== right) attempt(() => environment.registerOperator(`${left} == ${right}: bool`, UNUSED));
  }
  for (const sign of ['<', '<=', '>', '>=']) {
    attempt(() => environment.registerOperator(`bytes ${sign} bytes: bool`, UNUSED));
  }
  attempt(() => environment.registerOperator('double % double: double', UNUSED));
  attempt(() => environment.registerOperator('optional<A> == optional<B>: bool', UNUSED));
  attempt(() => environment.registerOperator(`google.protobuf.Duration + ${TIMESTAMP}: ${TIMESTAMP}`, UNUSED));
  return environment;
}

type Located = { readonly code?: string; readonly summary?: string; readonly range?: { readonly start: number } };

/** Creates the library's parser and checker for a set of names. Neither executes anything. */
export function createParser(names: Names): Parser {
  const environment = makeEnvironment(names);
  const untyped = environment.parse('dyn(0)').ast;
  return {
    names,
    parse: (source) => {
      try {
        const { text, optionalAt } = makeReadable(source);
        const parsed = environment.parse(text);
        restoreDoubles(parsed.ast, source);
        return ok({
          ast: parsed.ast,
          untyped,
          optionalAt,
          check: () => {
            const checked = parsed.check();
            if (checked.valid) return ok(checked.type ?? 'dyn');
            return checkerFault(source, checked.error);
          },
        });
      } catch (error) {
        return err(syntaxFault(source, error));
      }
    },
  };
}

function checkerFault(source: string, error: Located | undefined): Result<string, ExpressionFault> {
  /** The library gives up on `[].all(x, …)`; its opinion is a courtesy, the plan has been checked and runs safely. */
  if (error?.code === undefined && !(error instanceof RangeError)) return ok('dyn');
  const offset = error?.range?.start ?? 0;
  const summary = (error?.summary ?? 'too complex to check').slice(0, 200);
  /** The library knows `has` on names only; the runtime also behind an index, and the compiler has checked the form. */
  if (error?.code === 'invalid_macro_argument' && summary.startsWith('has()')) return ok('dyn');
  return err(
    faultAt(source, offset, summary.replaceAll(/google\.protobuf\./g, ''), fixFor(error?.code ?? '', summary)),
  );
}

const JOINING = 'text and a number are joined as texts: write `string(…)` around the number';

function fixFor(code: string, summary: string): string {
  switch (code) {
    case 'no_such_overload':
      if (/string \+ (?:u?int|double)|(?:u?int|double) \+ string/.test(summary)) return JOINING;
      return /string/.test(summary)
        ? 'convert one side: `string(…)`, `int(…)` or `double(…)`'
        : 'compare or calculate with values of one type; convert with `int(…)`, `double(…)` or `string(…)`';
    case 'no_matching_overload':
      return 'check the types and the number of the arguments; convert with `string(…)` or `int(…)`';
    case 'incompatible_ternary_branches':
      return 'give both branches one type, or wrap one in `dyn(…)`';
    case 'invalid_logical_operand':
    case 'invalid_condition_type':
      return 'compare it with something, so that it is true or false';
    case 'optional_expected':
      return 'begin with `.?`, as in `event.?name.orValue("")`';
    default:
      return `check the types; names here are ${listed(['event', 'event_id', 'time'])}`;
  }
}

function syntaxFault(source: string, error: unknown): ExpressionFault {
  if (!(error instanceof ParseError)) {
    return faultAt(source, 0, 'the expression is too complex', 'split it into several rules or variables');
  }
  const offset = error.range?.start ?? 0;
  switch (error.code) {
    case 'limit_exceeded':
      return faultAt(source, offset, 'the expression is too complex', 'split it into several rules or variables');
    case 'reserved_identifier':
      return faultAt(source, offset, error.summary, 'use another name, or `event["name"]` for a field');
    case 'invalid_macro_argument':
      return faultAt(source, offset, error.summary, 'write a plain name first: `event.items.exists(x, x.qty > 1)`');
    case 'unterminated_string':
    case 'unterminated_triple_quoted_string':
      return faultAt(source, offset, 'a quotation mark is not closed', 'close the text with the mark that opened it');
    default: {
      const at = error.node?.pos ?? offset;
      const { message, fix } = explainSyntax(source, tokenStart(source, at), error.summary);
      return faultAt(source, tokenStart(source, at), message, fix);
    }
  }
}

/** Skips white space before the token that does not fit. */
function tokenStart(source: string, offset: number): number {
  const rest = source.slice(offset);
  return offset + (rest.length - rest.trimStart().length);
}
