import { negateValue, notValue } from '../runtime/arithmetic.ts';
import { access, has, hasUnread, maybeAccess, or, orValue } from '../runtime/access.ts';
import { changed, changedFromTo, changedTo } from '../runtime/changes.ts';
import { makeList, makeMap } from '../runtime/construction.ts';
import { andRest, notTest, orRest } from '../runtime/logic.ts';
import { itemsOf, LOOPS } from '../runtime/loops.ts';
import { TOO_COMPLEX } from '../runtime/meter.ts';
import { CALL, TEXT_READ } from '../runtime/prices.ts';
import { BINARY_OPERATIONS, unsetName, wholeName } from '../runtime/operations.ts';
import { contains } from '../runtime/text.ts';
import { BUILTIN_NAMES, CelError, noOverload } from '../runtime/values.ts';
import type { Value } from '../runtime/values.ts';
import type { BinaryName, ChangedPlan, LoopPlan, Plan } from './plan.ts';
import type { Run } from './program.ts';

/** Functions available to generated code, which can only reach these and its arguments. */
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
  hasUnread,
  contains,
  itemsOf,
  noOverload,
  TOO_COMPLEX,
  changed,
  changedTo,
  changedFromTo,
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
/** With JavaScript's own sign between two doubles. `%` is not: it asks for zero first. */
const CALCULATED: ReadonlySet<BinaryName> = new Set(['+', '-', '*', '/']);
/** Methods of CEL that JavaScript's texts have too, but for what they cost. */
const TEXT_QUESTIONS: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith']);
/** Rows of a change, of which some values may be unknown. */
const ROWS: ReadonlySet<string> = new Set(['event', 'previous']);
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
        return this.#root(plan.name, plan.whole);
      case 'local':
        return `v${plan.slot}`;
      case 'field':
        return this.#field(plan.of, plan.key);
      case 'optional_field':
        return `maybeAccess(${this.part(plan.of)}, ${quoted(plan.key)})`;
      case 'has':
        return this.#has(plan.of, plan.key);
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
        return this.#call(plan);
      case 'matches':
        return `${this.#constant(plan.pattern)}.matches(m, ${this.part(plan.of)})`;
      case 'fallback':
        return `${plan.kind === 'or' ? 'or' : 'orValue'}(${this.part(plan.of)}, ${this.#lazily('', plan.other)})`;
      case 'list':
      case 'map': {
        const items = plan.items.map((item) => this.part(item)).join(', ');
        const optional = plan.optional === null ? 'null' : this.#constant(plan.optional);
        return `${plan.op === 'list' ? 'makeList' : 'makeMap'}([${items}], ${optional})`;
      }
      case 'bind': {
        const value = this.#temporary();
        const body = this.#lazily(`v${plan.slot}`, plan.body);
        return `((${value} = ${this.part(plan.value)}) instanceof CelError ? ${value} : ${body}(${value}))`;
      }
      case 'changed':
        return this.#changed(plan);
      case 'loop':
        return this.#loop(plan);
    }
  }

  /** Texts of an update at a name that no built-in object has are compared right here. */
  #changed(plan: ChangedPlan): string {
    const { path, from, to } = plan;
    const name = to === null ? 'changed' : from === null ? 'changedTo' : 'changedFromTo';
    const values = [from, to].filter((value) => value !== null);
    const parts = ['m', 'frame', this.#constant(path), ...values.map((value) => this.part(value))];
    const general = `${name}(${parts.join(', ')})`;
    const [key = ''] = path;
    const texts = values.every((value) => value.op === 'literal' && typeof value.value === 'string');
    if (path.length !== 1 || !texts || BUILTIN_NAMES.has(key) || !SAFE_KEY.test(key)) return general;
    const [now, before] = [this.#temporary(), this.#temporary()];
    const read = (row: string, value: string): string =>
      `typeof (${value} = frame["${row}"]?.[${quoted(key)}]) === "string"`;
    const isText = `frame["op"] === "update" && ${read('event', now)} && ${read('previous', before)}`;
    const wanted = [to && `${now} === ${this.part(to)}`, from && `${before} === ${this.part(from)}`];
    const compared = [...wanted.filter((test) => test !== null), `${now} !== ${before}`].join(' && ');
    return `(${isText} ? ${compared} : ${general})`;
  }

  #literal(value: Value): string {
    if (typeof value === 'string') return quoted(value);
    if (typeof value === 'boolean' || value === null) return String(value);
    if (typeof value === 'bigint') return `(${value.toString()}n)`;
    const plain = typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0);
    return plain ? `(${JSON.stringify(value)})` : this.#constant(value);
  }

  #root(name: string, whole: boolean): string {
    const value = this.#temporary();
    const read = `((${value} = frame[${quoted(name)}]) === undefined ? ${this.#constant(unsetName(name))} : ${value})`;
    return whole && ROWS.has(name) ? `(frame[${quoted(wholeName(name))}] ?? ${read})` : read;
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

  /** A member exists if reading it gives a value; in JSON objects an undefined value means absence. */
  #has(of: Plan, key: string): string {
    if (BUILTIN_NAMES.has(key) || !SAFE_KEY.test(key)) return `has(${this.part(of)}, ${quoted(key)})`;
    const [object, value] = [this.#temporary(), this.#temporary()];
    const isObject = `(${object} = ${this.part(of)}) !== null && typeof ${object} === "object"`;
    const found = `(${value} = ${object}[${quoted(key)}]) !== undefined`;
    // An unknown value is an error in the place of the value.
    const isThere = `${value} instanceof CelError ? ${value} : true`;
    return `(${isObject} ? ${found} ? ${isThere} : hasUnread(${object}, ${quoted(key)}) : has(${object}, ${quoted(key)}))`;
  }

  /** Methods that ask a text about another are called on it right here; what they cost is what `declare` takes. */
  #call({ name, run, args }: Plan & { op: 'call' }): string {
    const [on, sought] = args;
    const general = (parts: readonly string[]): string => `${this.#constant(run)}(${['m', ...parts].join(', ')})`;
    if (!TEXT_QUESTIONS.has(name) || args.length !== 2 || !on || !sought) {
      return general(args.map((arg) => this.part(arg)));
    }
    const [text, part] = [this.#temporary(), this.#temporary()];
    const isText = `typeof (${text} = ${this.part(on)}) === "string"`;
    const [isPart, of] =
      sought.op === 'literal' && typeof sought.value === 'string'
        ? ['', quoted(sought.value)]
        : [` && typeof ${part} === "string"`, part];
    // Both operands are evaluated before either is checked, as in a call.
    const both =
      isPart === '' ? isText : `(${isText}, ${part} = ${this.part(sought)}, typeof ${text} === "string")${isPart}`;
    const ask = name === 'contains' ? `contains(m, ${text}, ${of})` : `${text}.${name}(${of})`;
    return `(${both} ? m.spend(${CALL} + (${text}.length + ${of}.length) * ${TEXT_READ}) ? ${ask} : TOO_COMPLEX : ${general([text, of])})`;
  }

  /** Beside a literal the type to expect is known: text and numbers are then compared without a call. */
  #binary(plan: Plan & { op: 'binary' }): string {
    const { name, left, right } = plan;
    const literal = right.op === 'literal' ? right.value : undefined;
    const sign = NUMBER_SIGNS[name];
    if (name === 'in' && right.op === 'list' && right.optional === null) return this.#oneOf(plan, right.items);
    if (CALCULATED.has(name)) {
      const { isNumber, plain, otherwise } = this.#calculation(plan);
      return `(${isNumber} ? ${plain} : ${otherwise})`;
    }
    if (sign === undefined || literal === undefined) return this.#general(name, this.part(left), this.part(right));
    const equality = sign === '===' || sign === '!==';
    if (typeof literal === 'string' && equality) {
      const [value, text] = [this.#temporary(), quoted(literal)];
      const isText = `typeof (${value} = ${this.part(left)}) === "string"`;
      return `(${isText} ? ${value} ${sign} ${text} : ${this.#general(name, value, text)})`;
    }
    const number = plainNumber(literal);
    if (number === undefined) return this.#general(name, this.part(left), this.#literal(literal));
    const { isNumber, plain, otherwise } = this.#asNumber(left);
    const general = this.#general(name, otherwise, this.#literal(literal));
    return `(${isNumber} ? ${plain} ${sign} (${JSON.stringify(number)}) : ${general})`;
  }

  #general(name: BinaryName, left: string, right: string): string {
    return `${this.#constant(BINARY_OPERATIONS[name])}(m, ${left}, ${right})`;
  }

  /** A part that most probably is a double, or the length of a list: the test for it, the plain number, and else. */
  #asNumber(plan: Plan): { readonly isNumber: string; readonly plain: string; readonly otherwise: string } {
    if (plan.op === 'binary' && CALCULATED.has(plan.name)) return this.#calculation(plan);
    const value = this.#temporary();
    const [list] = plan.op === 'call' && plan.name === 'size' ? plan.args : [];
    if (plan.op === 'call' && list) {
      const isNumber = `Array.isArray(${value} = ${this.part(list)})`;
      return { isNumber, plain: `${value}.length`, otherwise: `${this.#constant(plan.run)}(m, ${value})` };
    }
    return { isNumber: `typeof (${value} = ${this.part(plan)}) === "number"`, plain: value, otherwise: value };
  }

  /** Numbers of events are doubles, and so is what comes of a double beside a short int. */
  #calculation({ name, left, right }: Plan & { op: 'binary' }) {
    const [a, b] = [this.#temporary(), this.#temporary()];
    const literal = right.op === 'literal' ? right.value : undefined;
    const number = literal === undefined ? undefined : plainNumber(literal);
    if (literal === undefined || number === undefined) {
      const isNumber = `(${a} = ${this.part(left)}, ${b} = ${this.part(right)}, typeof ${a} === "number" && typeof ${b} === "number")`;
      return { isNumber, plain: `${a} ${name} ${b}`, otherwise: this.#general(name, a, b) };
    }
    const isNumber = `typeof (${a} = ${this.part(left)}) === "number"`;
    const otherwise = this.#general(name, a, this.#literal(literal));
    return { isNumber, plain: `${a} ${name} (${JSON.stringify(number)})`, otherwise };
  }

  /** A text among texts that are written out. Others are compared as they always are. */
  #oneOf({ name, left, right }: Plan & { op: 'binary' }, items: readonly Plan[]): string {
    const texts = items.map((item) =>
      item.op === 'literal' && typeof item.value === 'string' ? item.value : undefined,
    );
    const known = texts.every((text) => text !== undefined);
    if (!known || texts.length === 0) return this.#general(name, this.part(left), this.part(right));
    const value = this.#temporary();
    const found =
      texts.length > 8
        ? `${this.#constant(new Set(texts))}.has(${value})`
        : texts.map((text) => `${value} === ${quoted(text)}`).join(' || ');
    const set = `${value} = ${this.part(left)}`;
    return `(typeof (${set}) === "string" ? ${found} : ${this.#general(name, value, this.#constant(texts))})`;
  }

  #loop({ kind, over, slot, test, make, cost }: LoopPlan): string {
    if (kind === 'all' || kind === 'exists') return this.#quantifier(kind, { over, slot, test, cost });
    const bodies = [test, make].map((body) => (body === null ? 'null' : this.#lazily(`v${slot}`, body)));
    return `${this.#constant(LOOPS[kind])}(m, ${this.part(over)}, ${cost}, ${bodies.join(', ')})`;
  }

  /** Generates the same steps as in `LOOPS`, with the body inlined instead of a call. */
  #quantifier(
    kind: 'all' | 'exists',
    { over, slot, test, cost }: Pick<LoopPlan, 'over' | 'slot' | 'test' | 'cost'>,
  ): string {
    const [deciding, other] = kind === 'exists' ? ['true', 'false'] : ['false', 'true'];
    const list = this.part(over);
    const outer = this.#declared;
    this.#declared = [];
    const body = this.part(test);
    const text = `((over) => {
      const items = Array.isArray(over) ? over : itemsOf(m, "${kind}", over);
      if (items instanceof CelError) return items;
      let holds, failed = null; ${this.declarations()}
      for (let at = 0; at < items.length; at++) {
        const v${slot} = items[at];
        if (!m.spend(${cost})) return TOO_COMPLEX;
        if ((holds = ${body}) === ${deciding}) return ${deciding};
        if (holds !== ${other}) failed ??= noOverload("${kind}", holds);
      }
      return failed ?? ${other};
    })(${list})`;
    this.#declared = outer;
    return text;
  }
}

/** A number as it is written in JavaScript, for a literal that a double holds exactly. */
function plainNumber(literal: Value): number | undefined {
  const number = typeof literal === 'bigint' ? Number(literal) : literal;
  if (typeof number !== 'number' || Object.is(number, -0)) return undefined;
  return Number.isSafeInteger(Math.trunc(number)) ? number : undefined;
}
