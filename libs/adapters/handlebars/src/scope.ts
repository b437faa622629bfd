import type { FieldStep } from '@carillon/domain/events';
import {
  calledName,
  isCall,
  isScoped,
  type Block,
  type Call,
  type Expression,
  type Mustache,
  type PathExpression,
  type Program,
} from './syntax.ts';

/** An enclosing `each` or `with`: `{{x}}` is a field of its item, and its block parameters are visible. */
export type Scope = {
  readonly helper: 'each' | 'with';
  readonly params: readonly string[];
  /** How the item is called in lists of missing names: `items[]`, `customer`. */
  readonly label: string;
  /** Path of the item in the context. Null if unknown. */
  readonly steps: readonly FieldStep[] | null;
};

/** Meaning of a path in its scope. `level` counts scopes from the outermost; `rest` is looked up in it. */
export type Target =
  | { readonly kind: 'root'; readonly rest: readonly string[] }
  | { readonly kind: 'item' | 'key'; readonly level: number; readonly rest: readonly string[] }
  | { readonly kind: 'loop'; readonly level: number; readonly name: LoopName }
  /** `../` above the outermost, or an `@name` that does not exist there: always absent. */
  | { readonly kind: 'nothing' };

/** Variables that `each` sets. */
export const LOOP_NAMES = ['index', 'key', 'first', 'last'] as const;
export type LoopName = (typeof LOOP_NAMES)[number];

/**
 * Resolves a path. Both `names` and the rendering plan use it, so listed names and names read at run time cannot
 * differ. (Handlebars' own `../` depends on the data: it skips a scope whose item equals the enclosing one.)
 */
export function resolve(path: PathExpression, scopes: readonly Scope[]): Target {
  const [first, ...rest] = path.parts;
  if (path.data) {
    if (first === 'root' && path.depth === 0) return { kind: 'root', rest };
    return resolveLoop(path, first, scopes);
  }
  if (path.depth === 0 && first !== undefined && !isScoped(path)) {
    for (let level = scopes.length - 1; level >= 0; level -= 1) {
      const at = (scopes[level] as Scope).params.indexOf(first);
      if (at === 0) return { kind: 'item', level, rest };
      if (at === 1) return { kind: 'key', level, rest };
    }
  }
  if (path.depth > scopes.length) return { kind: 'nothing' };
  const level = scopes.length - 1 - path.depth;
  return level < 0 ? { kind: 'root', rest: path.parts } : { kind: 'item', level, rest: path.parts };
}

function resolveLoop(path: PathExpression, first: string | undefined, scopes: readonly Scope[]): Target {
  const loops = scopes.flatMap((scope, level) => (scope.helper === 'each' ? [level] : []));
  const level = loops[loops.length - 1 - path.depth];
  const name = LOOP_NAMES.find((known) => known === first);
  return name === undefined || level === undefined || path.parts.length > 1
    ? { kind: 'nothing' }
    : { kind: 'loop', level, name };
}

/** The name of a target in words: `customer.name`, `items[].price`. */
export function labelOf(path: PathExpression, target: Target, scopes: readonly Scope[]): string {
  if (target.kind === 'root') return target.rest.join('.') || 'this';
  if (target.kind === 'item') return [(scopes[target.level] as Scope).label, ...target.rest].join('.');
  return path.original;
}

/** Returns the path of a target in the context. Null if it is unknown or not part of the context. */
export function placeIn(target: Target, scopes: readonly Scope[]): readonly FieldStep[] | null {
  if (target.kind === 'root') return target.rest.map(stepOf);
  const around = target.kind === 'item' ? (scopes[target.level]?.steps ?? null) : null;
  return target.kind === 'item' && around ? [...around, ...target.rest.map(stepOf)] : null;
}

/** `{{items.0.name}}` looks into a list. */
const stepOf = (part: string): FieldStep => (/^\d{1,4}$/.test(part) ? Number(part) : part);

export type Reference = {
  readonly path: PathExpression;
  readonly target: Target;
  readonly scopes: readonly Scope[];
  /** The helper whose first argument it is. */
  readonly helper: string | undefined;
};

export type Visitor = {
  /** A path among the arguments of a helper. */
  reference?(reference: Reference): void;
  /** A path alone in its tag. */
  variable?(statement: Mustache, path: PathExpression, target: Target, scopes: readonly Scope[]): void;
  /** A block, before what is in it; `depth` is 1 for the outermost, and `{{else if}}` does not count. */
  block?(block: Block, depth: number, scopes: readonly Scope[]): void;
};

/** Walks every statement and path of a program with the scopes around it. */
export function walk(program: Program, visitor: Visitor, scopes: readonly Scope[] = [], depth = 0): void {
  for (const statement of program.body) {
    if (statement.type === 'MustacheStatement') {
      const path = statement.path;
      if (isCall(statement)) walkCall(statement, visitor, scopes);
      else if (path.type === 'PathExpression') {
        visitor.variable?.(statement, path, resolve(path, scopes), scopes);
      }
    } else if (statement.type === 'BlockStatement') {
      const inner = depth + (program.chained === true ? 0 : 1);
      visitor.block?.(statement, inner, scopes);
      const scope = scopeOf(statement, scopes);
      walkCall(statement, visitor, scopes);
      if (statement.program) walk(statement.program, visitor, scope ? [...scopes, scope] : scopes, inner);
      if (statement.inverse) walk(statement.inverse, visitor, scopes, inner);
    }
  }
}

export function scopeOf(block: Block, scopes: readonly Scope[]): Scope | undefined {
  const helper = calledName(block);
  if (helper !== 'each' && helper !== 'with') return undefined;
  const subject = block.params[0];
  const params = block.program?.blockParams ?? [];
  if (subject?.type !== 'PathExpression') return { helper, params, label: helper, steps: null };
  const target = resolve(subject, scopes);
  const label = labelOf(subject, target, scopes);
  const steps = placeIn(target, scopes);
  if (helper === 'with') return { helper, params, label, steps };
  return { helper, params, label: `${label}[]`, steps: steps && [...steps, null] };
}

function walkCall(call: Call, visitor: Visitor, scopes: readonly Scope[]): void {
  const name = calledName(call);
  call.params.forEach((param, i) => walkExpression(param, i === 0 ? name : undefined, visitor, scopes));
  for (const pair of call.hash?.pairs ?? []) walkExpression(pair.value, undefined, visitor, scopes);
}

function walkExpression(
  node: Expression,
  helper: string | undefined,
  visitor: Visitor,
  scopes: readonly Scope[],
): void {
  if (node.type === 'SubExpression') walkCall(node, visitor, scopes);
  else if (node.type === 'PathExpression') {
    visitor.reference?.({ path: node, target: resolve(node, scopes), scopes, helper });
  }
}
