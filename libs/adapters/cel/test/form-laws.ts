import {
  COMPARISONS,
  conditionText,
  isDotted,
  TEXT_TESTS,
  type ExpressionForm,
  type FormChange,
  type FormCondition,
  type FormPart,
  type FormPath,
} from '@carillon/domain/rules';
import fc from 'fast-check';
import { expect } from 'vitest';
import { createParser } from '../src/compiler/parser.ts';
import { prepare } from '../src/compiler/preparation.ts';
import { createExpressionLanguage } from '../src/index.ts';

export const language = createExpressionLanguage();

export function formOf(source: string): ExpressionForm {
  const compiled = language.compile(source, 'recipient');
  if (!compiled.ok) throw new Error(`${source}: ${JSON.stringify(compiled.error)}`);
  return compiled.value.form();
}

/** Removes positions, which depend on the text. */
const said = ({ start: _start, end: _end, ...part }: FormPart): unknown =>
  part.kind === 'group' ? { ...part, conditions: part.conditions.map(said) } : part;
export const conditionsOf = (source: string): unknown[] => formOf(source).conditions.map(said);

export function changed(source: string, change: FormChange): string {
  const result = language.change(source, 'recipient', change);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const name = fc.oneof(
  fc.constantFrom('a', 'b1', '_c', 'in', 'true', 'null', 'a b', 'ä', '', '"', '\\', '//', '&&', ')'),
  fc.string({ maxLength: 4, unit: 'grapheme' }).filter((text) => text.isWellFormed()),
);
const step = fc.oneof(name, fc.nat(9));
const path: fc.Arbitrary<FormPath> = fc
  .tuple(fc.constantFrom('event', 'item'), fc.array(step, { minLength: 1, maxLength: 3 }))
  .map(([root, steps]) => [root, ...steps] as const);
/** `changed` takes names of fields only. */
const rowPath: fc.Arbitrary<FormPath> = fc
  .array(name, { minLength: 1, maxLength: 3 })
  .map((names) => ['event', ...names] as const);
const text = fc.oneof(name, fc.constantFrom('" || true || "', "'", '\n', '\u2028', '😀'));
const value = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Number.isInteger(one)),
  fc.boolean(),
  fc.constant(null),
);
const op = fc.constantFrom(...COMPARISONS);
const condition: fc.Arbitrary<FormCondition> = fc.oneof(
  fc.record({ kind: fc.constant('compare' as const), path, op: fc.constantFrom('==' as const, '!=' as const), value }),
  fc.record({ kind: fc.constant('compare' as const), path, op, value: fc.integer() }),
  fc.record({ kind: fc.constant('changed' as const), path: rowPath, not: fc.boolean() }),
  fc.record({ kind: fc.constant('changed_to' as const), path: rowPath, value, not: fc.boolean() }),
  fc.record({ kind: fc.constant('changed_from_to' as const), path: rowPath, from: value, value, not: fc.boolean() }),
  fc.record({
    kind: fc.constant('one_of' as const),
    path,
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
    not: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('text' as const),
    path,
    test: fc.constantFrom(...TEXT_TESTS.filter((test) => test !== 'matches')),
    value: text,
    not: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('true' as const), path, not: fc.boolean() }),
  fc.record({ kind: fc.constant('has' as const), path, not: fc.boolean() }).filter((one) => {
    const last = one.path.at(-1);
    return typeof last === 'string' && isDotted(last);
  }),
  fc.record({ kind: fc.constant('size' as const), path, op, value: fc.nat(1000) }),
  fc.record({
    kind: fc.constant('some' as const),
    path,
    name: fc.constantFrom('x', 'i'),
    field: fc.array(step, { maxLength: 2 }),
    op: fc.constantFrom('==' as const, '!=' as const),
    value,
  }),
);

/** The same condition as somebody else may have typed it. */
const spelled = fc
  .tuple(condition.map(conditionText), fc.constantFrom('plain', 'brackets', 'comment', 'quotes'))
  .map(([source, how]) => {
    if (how === 'brackets') return `( (${source}) )`;
    if (how === 'comment') return `${source} // which\n`;
    const isQuotedPlainly = how === 'quotes' && /^[^'\\]*$/.test(source);
    return isQuotedPlainly ? source.replaceAll('"', "'") : source;
  });
const chain = (members: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('&&', '||'), fc.array(members, { minLength: 1, maxLength: 3 }))
    .map(([sign, parts]) => parts.join(` ${sign} `));
/** Every text of which each part has a line of its own. */
const expressible = chain(
  fc.oneof(
    spelled,
    chain(spelled).map((group) => `(${group})`),
  ),
);

/** The whole form as text, as if each of its lines had been typed anew. */
function written({ match, conditions }: ExpressionForm): string {
  const sign = (of: 'all' | 'any'): string => (of === 'all' ? ' && ' : ' || ');
  const partText = (part: FormPart): string =>
    part.kind === 'group' ? `(${part.conditions.map(partText).join(sign(part.match))})` : conditionText(part);
  return conditions.map(partText).join(sign(match));
}

const parser = createParser(new Map(['event', 'item', 'event_id', 'time'].map((root) => [root, 'dyn'])));
/** Returns the compiler's tree of an expression without positions. */
function treeOf(source: string): unknown {
  const prepared = prepare(parser, source);
  if (!prepared.ok) throw new Error(`${source}: ${JSON.stringify(prepared.error)}`);
  return withoutPlaces(prepared.value.plan);
}
function withoutPlaces(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutPlaces);
  if (typeof node !== 'object' || node === null || Object.getPrototypeOf(node) !== Object.prototype) return node;
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, part]) =>
      key === 'start' || key === 'end' ? [] : [[key, withoutPlaces(part)]],
    ),
  );
}

const member = fc.oneof(
  condition.map(conditionText),
  fc.constantFrom('event.a ? event.b : event.c', 'event.a || event.b', 'event.a && event.b', '!(event.a == 1.0)'),
);
const mixed = fc
  .tuple(fc.constantFrom(' && ', ' || // or\n'), fc.array(member, { minLength: 1, maxLength: 4 }))
  .map(([sign, members]) => members.map((one) => `(${one})`).join(sign));
const group = fc.tuple(
  fc.constantFrom('all' as const, 'any' as const),
  fc.array(condition, { minLength: 1, maxLength: 4 }),
);

/** Laws between forms and texts. `check` tries the given number of examples. */
export const FORM_LAWS: readonly { readonly law: string; readonly check: (numRuns: number) => void }[] = [
  {
    law: 'what is written is read again as it was, for any form',
    check: (numRuns) =>
      fc.assert(
        fc.property(group, ([match, conditions]) => {
          const source = conditions.map(conditionText).join(match === 'all' ? ' && ' : '\n|| ');
          expect(conditionsOf(source)).toEqual(conditions);
          if (conditions.length > 1) expect(formOf(source).match).toBe(match);
        }),
        { numRuns },
      ),
  },
  {
    law: 'what is read and written again is the same expression, for any text that a form can say',
    check: (numRuns) =>
      fc.assert(
        fc.property(expressible, (source) => {
          const again = written(formOf(source));
          expect(treeOf(again), again).toEqual(treeOf(source));
        }),
        { numRuns },
      ),
  },
  {
    law: 'a change changes the part that it names, and keeps every other, whatever they are',
    check: (numRuns) =>
      fc.assert(
        fc.property(mixed, condition, fc.nat(3), (source, put, number) => {
          const before = formOf(source);
          const at = number % before.conditions.length;
          const after = formOf(changed(source, { kind: 'replace', at: [at], condition: put }));
          const expected = before.conditions.map((part, index) => (index === at ? put : said(part)));
          expect(after.conditions.map(said)).toEqual(expected);
          const added = formOf(changed(source, { kind: 'add', at: [], condition: put }));
          if (before.conditions.length > 1) {
            expect(added.conditions.map(said)).toEqual([...before.conditions.map(said), put]);
            const without = formOf(changed(source, { kind: 'remove', at: [at] }));
            const rest = before.conditions.filter((_part, index) => index !== at);
            if (rest.length > 1) expect(without.conditions.map(said)).toEqual(rest.map(said));
          }
        }),
        { numRuns },
      ),
  },
];
