import { negateValue, notValue } from '../runtime/arithmetic.ts';
import { access, has, maybeAccess, or, orValue } from '../runtime/access.ts';
import { makeList, makeMap } from '../runtime/construction.ts';
import { andRest, notTest, orRest } from '../runtime/logic.ts';
import { LOOPS } from '../runtime/loops.ts';
import { BINARY_OPERATIONS, unsetName } from '../runtime/operations.ts';
import { BUILTIN_NAMES, CelError } from '../runtime/values.ts';
import type { Value } from '../runtime/values.ts';
import type { LoopPlan, Plan } from './plan.ts';
import type { Run } from './program.ts';

/** What generated code may call, under names of ours. Nothing else is in its reach but its arguments. */
const SHARED = {
  CelError,
  access,
  maybeAccess,
  has,
  or,
  orValue,
  andRest,
  orRest,
  notTest,
  notValue,
  negateValue,
  makeList,
  makeMap,
};
const SHARED_NAMES = Object.keys(SHARED);

/** Whether this process may make code from text; `--disallow-code-generation-from-strings` forbids it. */
export function mayGenerate(): boolean {
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- asks whether it is allowed
    return typeof new Function('return true') === 'function';
  } catch {
    return false;
  }
}

/**
 * JavaScript from a plan. No text of a tenant becomes code: literals go through JSON.stringify, fields are quoted keys,
 * names of loops are numbered, everything else is a constant handed in. Each part is one JavaScript expression.
 */
export function runGenerated(plan: Plan): Run {
  const generator = new Generator();
  const body = generator.part(plan);
  const text = `"use strict"; return (frame, m) => { ${generator.declarations()}return ${body}; };`;
  // oxlint-disable-next-line typescript/no-implied-eval -- see above: the text is ours alone
  const make = new Function('k', ...SHARED_NAMES, text) as (constants: readonly unknown[], ...shared: unknown[]) => Run;
  return make(generator.constants, ...Object.values(SHARED));
}

/** JSON is JavaScript but for two line ends, which are written as escapes. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

const NUMBER_SIGNS: Readonly<Record<string, string>> = {
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '==': '===',
  '!=': '!==',
};
const SAFE_KEY = /^[A-Za-z_]\w*$/;

class Generator {
  readonly constants: unknown[] = [];
  #temporaries = 0;
  #declared: string[] = [];

  /** Variables of the innermost function. */
  declarations(): string {
    const text = this.#declared.length === 0 ? '' : `let ${this.#declared.join(', ')}; `;
    this.#declared = [];
    return text;
  }

  #temporary(): string {
    const name = `t${this.#temporaries++}`;
    this.#declared.push(name);
    return name;
  }

  #constant(value: unknown): string {
    this.constants.push(value);
    return `k[${this.constants.length - 1}]`;
  }

  /** A function of its own, so that its variables are its own. */
  #lazily(parameter: string, plan: Plan): string {
    const outer = this.#declared;
    this.#declared = [];
    const body = this.part(plan);
    const text = `((${parameter}) => { ${this.declarations()}return ${body}; })`;
    this.#declared = outer;
    return text;
  }

  part(plan: Plan): string {
    switch (plan.op) {
      case 'literal':
        return this.#literal(plan.value);
      case 'root':
        return this.#root(plan.name);
      case 'local':
        return `v${plan.slot}`;
      case 'field':
        return this.#field(plan.of, plan.key);
      case 'optional_field':
        return `maybeAccess(${this.part(plan.of)}, ${quoted(plan.key)})`;
      case 'has':
        return `has(${this.part(plan.of)}, ${quoted(plan.key)})`;
      case 'index':
      case 'optional_index':
        return `${plan.op === 'index' ? 'access' : 'maybeAccess'}(${this.part(plan.of)}, ${this.part(plan.at)})`;
      case 'and':
      case 'or':
        return this.#logic(plan.op === 'or' ? 'true' : 'false', plan.left, plan.right);
      case 'choose': {
        const test = this.#temporary();
        const [chosen, otherwise] = [this.part(plan.chosen), this.part(plan.otherwise)];
        return `((${test} = ${this.part(plan.test)}) === true ? ${chosen} : ${test} === false ? ${otherwise} : notTest(${test}))`;
      }
      case 'binary':
        return this.#binary(plan);
      case 'not':
        return `notValue(${this.part(plan.of)})`;
      case 'negate':
        return `negateValue(${this.part(plan.of)})`;
      case 'call':
        return `${this.#constant(plan.run)}(${['m', ...plan.args.map((arg) => this.part(arg))].join(', ')})`;
      case 'matches':
        return `${this.#constant(plan.pattern)}.matches(m, ${this.part(plan.of)})`;
      case 'fallback':
        return `${plan.kind === 'or' ? 'or' : 'orValue'}(${this.part(plan.of)}, ${this.#lazily('', plan.other)})`;
      case 'list':
      case 'map':
        return `${plan.op === 'list' ? 'makeList' : 'makeMap'}([${plan.items.map((item) => this.part(item)).join(', ')}])`;
      case 'bind': {
        const value = this.#temporary();
        const body = this.#lazily(`v${plan.slot}`, plan.body);
        return `((${value} = ${this.part(plan.value)}) instanceof CelError ? ${value} : ${body}(${value}))`;
      }
      case 'loop':
        return this.#loop(plan);
    }
  }

  #literal(value: Value): string {
    if (typeof value === 'string') return quoted(value);
    if (typeof value === 'boolean' || value === null) return String(value);
    if (typeof value === 'bigint') return `(${value.toString()}n)`;
    const plain = typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0);
    return plain ? `(${JSON.stringify(value)})` : this.#constant(value);
  }

  #root(name: string): string {
    const value = this.#temporary();
    return `((${value} = frame[${quoted(name)}]) === undefined ? ${this.#constant(unsetName(name))} : ${value})`;
  }

  /** A name that no built-in object has is read plainly; only where nothing is found the careful way follows. */
  #field(of: Plan, key: string): string {
    if (BUILTIN_NAMES.has(key) || !SAFE_KEY.test(key)) return `access(${this.part(of)}, ${quoted(key)})`;
    const [object, value] = [this.#temporary(), this.#temporary()];
    const read = `(${object} = ${this.part(of)}) !== null && typeof ${object} === "object" ? ${object}[${quoted(key)}] : undefined`;
    return `((${value} = ${read}) !== undefined ? ${value} : access(${object}, ${quoted(key)}))`;
  }

  #logic(deciding: 'true' | 'false', left: Plan, right: Plan): string {
    const [first, second] = [this.#temporary(), this.#temporary()];
    const [other, rest] = deciding === 'true' ? ['false', 'orRest'] : ['true', 'andRest'];
    const quick = `(${second} = ${this.part(right)}) === ${deciding} ? ${deciding}`;
    const slow = `${first} === ${other} && ${second} === ${other} ? ${other} : ${rest}(${first}, ${second})`;
    return `((${first} = ${this.part(left)}) === ${deciding} ? ${deciding} : ${quick} : ${slow})`;
  }

  /** Beside a literal the type to expect is known: text and numbers are then compared without a call. */
  #binary({ name, left, right }: Plan & { op: 'binary' }): string {
    const general = (a: string, b: string): string => `${this.#constant(BINARY_OPERATIONS[name])}(m, ${a}, ${b})`;
    const literal = right.op === 'literal' ? right.value : undefined;
    const sign = NUMBER_SIGNS[name];
    if (sign === undefined || literal === undefined) return general(this.part(left), this.part(right));
    const value = this.#temporary();
    const set = `${value} = ${this.part(left)}`;
    const equality = sign === '===' || sign === '!==';
    if (typeof literal === 'string' && equality) {
      const text = quoted(literal);
      return `(typeof (${set}) === "string" ? ${value} ${sign} ${text} : ${general(value, text)})`;
    }
    const number = typeof literal === 'bigint' ? Number(literal) : literal;
    const short = typeof number === 'number' && Number.isSafeInteger(Math.trunc(number));
    if (!short) return general(`(${set})`, this.#literal(literal));
    const test = `${value} ${sign} ${JSON.stringify(number)}`;
    return `(typeof (${set}) === "number" ? ${test} : ${general(value, this.#literal(literal))})`;
  }

  #loop({ kind, over, slot, test, make, cost }: LoopPlan): string {
    const bodies = [test, make].map((body) => (body === null ? 'null' : this.#lazily(`v${slot}`, body)));
    return `${this.#constant(LOOPS[kind])}(m, ${this.part(over)}, ${cost}, ${bodies.join(', ')})`;
  }
}
