import type { ASTNode } from '@marcbachmann/cel-js';
import type { Signature } from '../runtime/functions.ts';
import { arities, findFunction, FUNCTION_NAMES, METHOD_NAMES } from '../runtime/functions.ts';
import type { LoopKind } from '../runtime/loops.ts';
import { LOOPS } from '../runtime/loops.ts';
import { isZone } from '../runtime/time.ts';
import { turnCost } from './cost.ts';
import { listed, nearest } from './faults.ts';
import type { Lowers, Scope } from './lowered-part.ts';
import { compilePattern } from './pattern.ts';
import { partOf, type Plan } from './plan.ts';
import { isFieldPath } from './references.ts';

const MAX_LOOPS = 2;

const isLoop = (name: string): name is LoopKind => Object.hasOwn(LOOPS, name);

/** A call as it is written, without what stands before the point. */
type Call = { readonly node: ASTNode; readonly name: string; readonly args: readonly ASTNode[] };

/** `name(args)` */
export function lowerFunction(to: Lowers, call: Call, scope: Scope): Plan {
  const { node, name, args } = call;
  const [first, second] = args;
  if (name === 'has' && args.length === 1 && first) return lowerHas(to, node, first, scope);
  if (Object.hasOwn(CHANGED_ARGUMENTS, name)) return lowerChanged(to, call, scope);
  if (name === 'matches' && args.length === 2 && first && second) return lowerMatches(to, node, first, second, scope);
  if (name === 'localTime' && second?.op === 'value' && typeof second.args === 'string' && !isZone(second.args)) {
    const wrong = `${JSON.stringify(second.args.slice(0, 60))} is no time zone`;
    return to.refuse(second, wrong, 'write one such as `"Europe/Berlin"`');
  }
  return lowerCall(to, call, { name, method: false, args: args.length }, scope);
}

/** `on.name(args)` */
export function lowerMethod(to: Lowers, { node, name, args }: Call, on: ASTNode, scope: Scope): Plan {
  const [first, second, third] = args;
  if (on.op === 'id' && (on.args === 'optional' || on.args === 'cel') && !scope.slots.has(on.args)) {
    const full = `${on.args}.${name}`;
    if (full === 'cel.bind' && first && second && third) return lowerBind(to, node, [first, second, third], scope);
    return lowerCall(to, { node, name: full, args }, { name: full, method: false, args: args.length }, scope);
  }
  if (isLoop(name) && first && second && (args.length === 2 || (name === 'map' && args.length === 3))) {
    return lowerLoop(to, { node, kind: name }, on, [first, second, third], scope);
  }
  if (name === 'matches' && args.length === 1 && first) return lowerMatches(to, node, on, first, scope);
  if ((name === 'orValue' || name === 'or') && args.length === 1 && first) {
    const [of, other] = [to.lower(on, scope), to.lower(first, scope)];
    return { op: 'fallback', kind: name, of, other, ...to.range(node) };
  }
  const all = [on, ...args];
  return lowerCall(to, { node, name, args: all }, { name, method: true, args: all.length }, scope);
}

function lowerCall(to: Lowers, { node, name, args }: Call, signature: Signature, scope: Scope): Plan {
  const run = findFunction(signature);
  const lowered = args.map((arg) => to.lower(arg, scope));
  if (run) return { op: 'call', name, run, args: lowered, ...to.range(node) };
  const receiver = signature.method ? 1 : 0;
  const counts = arities(name, signature.method).map((count) => count - receiver);
  if (counts.length > 0) {
    const wrong = `\`${name}\` does not take ${args.length - receiver} arguments`;
    return to.refuse(node, wrong, `give it ${counts.join(' or ')}`);
  }
  return to.refuse(node, `unknown function \`${name}\``, fixForUnknown(name, signature.method));
}

function fixForUnknown(name: string, method: boolean): string {
  const [here, there] = method ? [METHOD_NAMES, FUNCTION_NAMES] : [FUNCTION_NAMES, METHOD_NAMES];
  if (there.includes(name)) return method ? `write \`${name}(value)\`` : `write \`value.${name}(…)\``;
  const near = nearest(name, here);
  return near.length > 0 ? `did you mean ${listed(near)}?` : `functions are ${listed(here)}`;
}

function lowerHas(to: Lowers, node: ASTNode, of: ASTNode, scope: Scope): Plan {
  if (of.op !== '.' && of.op !== '.?') {
    return to.refuse(node, '`has` tests a field', 'write `has(event.name)`; for an index `"name" in event`');
  }
  return { op: 'has', of: partOf(to.lower(of.args[0], scope)), key: of.args[1], ...to.range(node) };
}

/** What follows the path in a call of each. */
const CHANGED_ARGUMENTS: Readonly<Record<string, string>> = {
  changed: '',
  changedTo: ', "paid"',
  changedFromTo: ', "open", "paid"',
};

/** Not a call: the path is read in `event` and in `previous`, and may lead nowhere. */
function lowerChanged(to: Lowers, { node, name, args }: Call, scope: Scope): Plan {
  const [first, ...others] = args.map((arg) => to.lower(arg, scope));
  const counts = { changed: 0, changedTo: 1, changedFromTo: 2 } as const;
  const expected = counts[name as keyof typeof counts];
  const form = `write \`${name}(event.status${CHANGED_ARGUMENTS[name]})\``;
  if (!first || others.length !== expected) {
    return to.refuse(node, `\`${name}\` takes ${expected + 1} ${expected === 0 ? 'argument' : 'arguments'}`, form);
  }
  if (!isFieldPath(first)) return to.refuse(first, `\`${name}\` compares a field of the event`, form);
  return {
    op: 'changed',
    of: first,
    before: inPrevious(first),
    path: keysOf(first),
    from: expected === 2 ? (others[0] ?? null) : null,
    to: others.at(-1) ?? null,
    ...to.range(node),
  };
}

/** The same path of `previous`. */
function inPrevious(path: Plan): Plan {
  if (path.op === 'root') return { ...path, name: 'previous' };
  return 'of' in path && path.op !== 'changed' ? { ...path, of: inPrevious(path.of) } : path;
}

function keysOf(path: Plan): readonly string[] {
  if (path.op === 'field') return [...keysOf(path.of), path.key];
  const key = path.op === 'index' && path.at.op === 'literal' ? path.at.value : undefined;
  return path.op === 'index' && typeof key === 'string' ? [...keysOf(path.of), key] : [];
}

function lowerMatches(to: Lowers, node: ASTNode, of: ASTNode, pattern: ASTNode, scope: Scope): Plan {
  const text = to.lower(of, scope);
  if (pattern.op !== 'value' || typeof pattern.args !== 'string') {
    return to.refuse(pattern, '`matches` takes a pattern written out', 'write the pattern between quotation marks');
  }
  const compiled = compilePattern(pattern.args);
  if (compiled.ok) return { op: 'matches', of: text, pattern: compiled.value, ...to.range(node) };
  return to.refuse(
    pattern,
    `not a pattern: ${compiled.error}`,
    'write it in RE2 syntax (no look-around, no back-references)',
  );
}

/** Loops and bindings make a name; the parser has refused everything else in its place, and so do we. */
function inner(to: Lowers, name: ASTNode, scope: Scope): { slot: number; scope: Scope } {
  const slot = to.newSlot();
  if (name.op !== 'id') to.refuse(name, 'a plain name is needed here', 'write `event.items.exists(x, x.qty > 1)`');
  const slots = name.op === 'id' ? new Map([...scope.slots, [name.args, slot] as const]) : scope.slots;
  return { slot, scope: { ...scope, slots } };
}

function lowerBind(
  to: Lowers,
  node: ASTNode,
  [name, value, body]: readonly [ASTNode, ASTNode, ASTNode],
  scope: Scope,
): Plan {
  const { slot, scope: inside } = inner(to, name, scope);
  return { op: 'bind', slot, value: to.lower(value, scope), body: to.lower(body, inside), ...to.range(node) };
}

function lowerLoop(
  to: Lowers,
  { node, kind }: { readonly node: ASTNode; readonly kind: LoopKind },
  over: ASTNode,
  [name, test, make]: readonly [ASTNode, ASTNode, ASTNode | undefined],
  scope: Scope,
): Plan {
  if (scope.loops >= MAX_LOOPS) {
    return to.refuse(
      node,
      `\`${kind}\` is nested more than ${MAX_LOOPS} deep`,
      'loop over fewer lists inside each other',
    );
  }
  const { slot, scope: inside } = inner(to, name, { ...scope, loops: scope.loops + 1 });
  const tested = to.lower(test, inside);
  const made = make ? to.lower(make, inside) : null;
  const cost = turnCost(tested) + (made ? turnCost(made) : 0);
  return { op: 'loop', kind, over: to.lower(over, scope), slot, test: tested, make: made, cost, ...to.range(node) };
}
