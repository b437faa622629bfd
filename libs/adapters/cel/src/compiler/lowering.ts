import type { ExpressionFault } from '@carillon/domain/rules';
import type { Result } from '@carillon/kernel';
import { err, ok } from '@carillon/kernel';
import type { ASTNode } from '@marcbachmann/cel-js';
import { MAX_INT, MIN_INT, TypeValue, Uint } from '../runtime/values.ts';
import type { Value } from '../runtime/values.ts';
import { TYPE_NAMES } from '../runtime/functions.ts';
import type { Range } from './brackets.ts';
import { balance, matchBrackets } from './brackets.ts';
import { lowerFunction, lowerMethod } from './calls.ts';
import { COST_LIMIT, staticCost } from './cost.ts';
import { faultAt, listed, nearest } from './faults.ts';
import type { Lowers, Scope } from './lowered-part.ts';
import type { Names, Parsed } from './parser.ts';
import { partOf, type BinaryName, type Plan } from './plan.ts';

const MAX_DEPTH = 80;

type Operation = Extract<ASTNode, { op: BinaryName | '&&' | '||' }>;

/** Converts the library's tree into our plan, which only has allowed operations, and collects all faults. */
export class Lowering implements Lowers {
  readonly faults: ExpressionFault[] = [];
  readonly #source: string;
  readonly #names: Names;
  readonly #partners: ReadonlyMap<number, number>;
  readonly #optionalAt: ReadonlySet<number>;
  readonly #untyped: ASTNode;
  readonly #taken = new Set<number>();
  #slots = 0;

  constructor(source: string, names: Names, { optionalAt, untyped }: Omit<Parsed, 'ast' | 'check'>) {
    this.#optionalAt = optionalAt;
    this.#untyped = untyped;
    this.#source = source;
    this.#names = names;
    this.#partners = matchBrackets(source);
  }

  newSlot(): number {
    return this.#slots++;
  }

  range(node: Range): Range {
    return balance(node, this.#partners);
  }

  /** Notes a fault and stands in for the part, so that the rest is still looked at. */
  refuse(node: { readonly start: number; readonly end: number }, message: string, fix: string): Plan {
    this.faults.push(faultAt(this.#source, node.start, message, fix));
    return { op: 'literal', value: null, start: node.start, end: node.end };
  }

  lower(node: ASTNode, outer: Scope, deeper = 1): Plan {
    const scope = { ...outer, depth: outer.depth + deeper };
    if (scope.depth > MAX_DEPTH) {
      return this.refuse(node, 'the expression is nested too deeply', 'split it into several variables or rules');
    }
    const range = this.range(node);
    switch (node.op) {
      case 'value':
        return this.#literal(node, literalOf(node.args), range);
      case 'id':
        return this.#name(node, node.args, scope, range);
      case '.':
        return this.#field(node, scope, range);
      case '.?':
        return { op: 'optional_field', of: partOf(this.lower(node.args[0], scope)), key: node.args[1], ...range };
      case '[]':
      case '[?]': {
        const op = node.op === '[]' ? 'index' : 'optional_index';
        return { op, of: partOf(this.lower(node.args[0], scope)), at: this.lower(node.args[1], scope), ...range };
      }
      case 'call':
        return lowerFunction(this, { node, name: node.args[0], args: node.args[1] }, scope);
      case 'rcall':
        return lowerMethod(this, { node, name: node.args[0], args: node.args[2] }, node.args[1], scope);
      case 'list':
        return {
          op: 'list',
          items: node.args.map((item) => this.lower(item, scope)),
          optional: this.#optionalOf(node, node.args, (at) => void (node.args[at] = this.#untyped)),
          ...range,
        };
      case 'map':
        return {
          op: 'map',
          items: node.args.flatMap((pair) => pair.map((part) => this.lower(part, scope))),
          optional: this.#optionalOf(
            node,
            node.args.map(([key]) => key),
            (at) => void (node.args[at] = [this.#untyped, this.#untyped]),
          ),
          ...range,
        };
      case '!_':
        return { op: 'not', of: this.lower(node.args, scope), ...range };
      case '-_':
        return this.#negate(node, node.args, scope, range);
      case '?:': {
        const [test, chosen, otherwise] = node.args;
        return {
          op: 'choose',
          test: this.lower(test, scope),
          chosen: this.lower(chosen, scope),
          otherwise: this.lower(otherwise, scope),
          ...range,
        };
      }
      case '&&':
      case '||':
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
      case 'in':
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
        return this.#operation(node, scope, range);
      default:
        return this.refuse(range, 'this form is not supported', 'leave it out');
    }
  }

  /** Which elements, or entries by their keys, have a `?` before them; null: none. */
  #optionalOf(node: Range, items: readonly Range[], untype: (index: number) => void): ReadonlySet<number> | null {
    const marked = new Set<number>();
    for (const at of this.#optionalAt) {
      const index = items.findIndex(({ start }) => start > at);
      const from = index > 0 ? (items[index - 1]?.start ?? 0) : node.start;
      if (index < 0 || at < from || this.#taken.has(at)) continue;
      marked.add(index);
      this.#taken.add(at);
    }
    // The checker would take them for elements that are optionals.
    for (const index of marked) untype(index);
    return marked.size === 0 ? null : marked;
  }

  /** A `?` where no optional element can stand. */
  refuseStray(): void {
    for (const at of this.#optionalAt) {
      if (!this.#taken.has(at)) this.refuse({ start: at, end: at + 1 }, 'unexpected `?`', 'leave it out');
    }
  }

  /** Chains such as `a || b || c` lean to the left and are no nesting. */
  #operation(node: Operation, scope: Scope, range: Range): Plan {
    const left = this.lower(node.args[0], scope, 0);
    const right = this.lower(node.args[1], scope);
    if (node.op === '&&') return { op: 'and', left, right, ...range };
    if (node.op === '||') return { op: 'or', left, right, ...range };
    if (node.op === 'in') return { op: 'binary', name: 'in', left, right: partOf(right), ...range };
    if (BINARY.has(node.op)) return { op: 'binary', name: node.op, left, right, ...range };
    return this.refuse(node, 'this operator is not supported', 'leave it out');
  }

  #literal(node: ASTNode, value: Value | undefined, range: Range): Plan {
    if (value === undefined) return this.refuse(node, 'no such literal', 'write text, a number, true, false or null');
    if (typeof value === 'bigint' && value > MAX_INT) return this.#tooBig(node);
    /** The parser cuts other characters to one byte each instead of writing them as UTF-8. */
    if (value instanceof Uint8Array && /[^\0-\x7f]/.test(this.#source.slice(node.start, node.end))) {
      return this.refuse(node, 'a bytes literal holds ASCII characters only', 'write `bytes("…")`');
    }
    return { op: 'literal', value, ...range };
  }

  #tooBig(node: ASTNode): Plan {
    return this.refuse(node, 'the integer is beyond 64 bits', 'write it as a double, with `.0`, or as text');
  }

  #negate(node: ASTNode, of: ASTNode, scope: Scope, range: Range): Plan {
    if (of.op === 'value' && typeof of.args === 'bigint') {
      return -of.args < MIN_INT ? this.#tooBig(node) : { op: 'literal', value: -of.args, ...range };
    }
    return { op: 'negate', of: this.lower(of, scope), ...range };
  }

  #name(node: ASTNode, name: string, scope: Scope, range: Range): Plan {
    const slot = scope.slots.get(name);
    if (slot !== undefined) return { op: 'local', slot, ...range };
    if (this.#names.has(name)) return { op: 'root', name, whole: true, ...range };
    if (TYPE_NAMES.has(name)) return { op: 'literal', value: new TypeValue(name), ...range };
    const known = [...scope.slots.keys(), ...this.#names.keys()];
    const near = nearest(name, known);
    const fix =
      near.length > 0
        ? `did you mean ${listed(near)}? `
        : this.#names.has('event')
          ? `a field of the event is \`event.${name}\`; `
          : '';
    return this.refuse(node, `unknown name \`${name}\``, `${fix}names here are ${listed(known)}`);
  }

  #field(node: ASTNode & { op: '.' }, scope: Scope, range: Range): Plan {
    const [of, key] = node.args;
    const inner = of.op === '.' && of.args[0].op === 'id' ? `${of.args[0].args}.${of.args[1]}` : '';
    if (inner === 'google.protobuf' && (key === 'Timestamp' || key === 'Duration')) {
      return { op: 'literal', value: new TypeValue(`google.protobuf.${key}`), ...range };
    }
    return { op: 'field', of: partOf(this.lower(of, scope)), key, ...range };
  }
}

const BINARY: ReadonlySet<string> = new Set<BinaryName>([
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  '+',
  '-',
  '*',
  '/',
  '%',
]);

/** The library's own class for `1u` is known by its shape; it does not export it. */
function literalOf(value: unknown): Value | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || typeof value === 'bigint')
    return value;
  if (typeof value === 'number') return value;
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'object') return undefined;
  const whole: unknown = value.valueOf();
  return typeof whole === 'bigint' ? new Uint(whole) : undefined;
}

/** The plan of a parsed expression, or everything that is wrong with it. */
export function lowerExpression(
  source: string,
  names: Names,
  parsed: Omit<Parsed, 'check'>,
): Result<Plan, readonly ExpressionFault[]> {
  const lowering = new Lowering(source, names, parsed);
  const plan = lowering.lower(parsed.ast, { slots: new Map(), loops: 0, depth: 0 });
  lowering.refuseStray();
  if (lowering.faults.length > 0) return err(lowering.faults);
  const cost = staticCost(plan);
  if (cost <= COST_LIMIT) return ok(plan);
  const fix = 'loop over a shorter list, or look at less in each turn';
  return err([faultAt(source, 0, `the expression may take ${cost} steps; at most ${COST_LIMIT} are allowed`, fix)]);
}
