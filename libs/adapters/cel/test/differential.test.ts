import { celEnv, isCelError, isCelList, isCelMap, isCelUint, parse, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePlan, prepare } from '../src/compiler/preparation.ts';
import { createParser } from '../src/compiler/parser.ts';
import { Meter } from '../src/runtime/meter.ts';
import { keysOf, lookup } from '../src/runtime/comparison.ts';
import { CelError, isList, isMap } from '../src/runtime/values.ts';
import type { Value } from '../src/runtime/values.ts';
import type { Json } from '@carillon/kernel';

/** An expression for us and the same for the other implementation, which wants doubles written out beside doubles. */
type Pair = { readonly ours: string; readonly theirs: string };
const same = (text: string): Pair => ({ ours: text, theirs: text });
const joined = (parts: readonly (Pair | string)[]): Pair => ({
  ours: parts.map((part) => (typeof part === 'string' ? part : part.ours)).join(''),
  theirs: parts.map((part) => (typeof part === 'string' ? part : part.theirs)).join(''),
});

/** Texts stay within the basic plane: the other implementation counts UTF-16 units in `substring`. */
const { bool } = fc.letrec<{ bool: Pair; number: Pair; int: Pair; text: Pair; list: Pair }>((tie) => ({
  number: fc.oneof(
    { maxDepth: 3 },
    fc
      .constantFrom('event.n', 'event.m', 'event.o.n', 'event.gone', 'event.items[0].qty', 'event.items[5].qty')
      .map(same),
    fc
      .tuple(tie('number'), fc.constantFrom(' + ', ' - ', ' * ', ' / '), fc.integer({ min: 0, max: 9 }))
      .map(([left, sign, whole]) => joined(['(', left, sign, { ours: String(whole), theirs: `${whole}.0` }, ')'])),
    fc
      .tuple(tie('number'), fc.constantFrom(' + ', ' - ', ' * '), tie('number'))
      .map(([a, sign, b]) => joined(['(', a, sign, b, ')'])),
    fc.tuple(tie('bool'), tie('number'), tie('number')).map(([a, b, c]) => joined(['(', a, ' ? ', b, ' : ', c, ')'])),
  ),
  int: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: 0, max: 20 }).map((whole) => same(String(whole))),
    fc
      .tuple(tie('int'), fc.constantFrom(' + ', ' - ', ' * ', ' / ', ' % '), tie('int'))
      .map(([a, sign, b]) => joined(['(', a, sign, b, ')'])),
    tie('text').map((text) => joined(['size(', text, ')'])),
    tie('list').map((list) => joined(['size(', list, ')'])),
    tie('number').map((number) => joined(['int(', number, ')'])),
  ),
  text: fc.oneof(
    { maxDepth: 3 },
    fc
      .constantFrom('event.s', 'event.t', 'event.o.s', 'event.gone.s', '"paid"', '"éü"', '""', 'event.items[1].sku')
      .map(same),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => joined(['(', a, ' + ', b, ')'])),
    fc.tuple(tie('text'), fc.integer({ min: 0, max: 4 })).map(([text, at]) => joined([text, `.substring(${at})`])),
    fc
      .tuple(tie('text'), fc.constantFrom('.lowerAscii()', '.upperAscii()', '.trim()', '.replace("a", "bb")'))
      .map(joined),
    tie('int').map((int) => joined(['string(', int, ')'])),
  ),
  list: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom('event.list', 'event.words', 'event.gone', '[1.0, 2.0]').map(same),
    fc.tuple(tie('number')).map(([n]) => joined(['event.list.filter(x, x > ', n, ')'])),
    fc.tuple(tie('number')).map(([n]) => joined(['event.list.map(x, x * ', n, ')'])),
  ),
  bool: fc.oneof(
    { maxDepth: 4 },
    fc
      .constantFrom('event.flag', 'has(event.s)', 'has(event.o.gone)', 'event.gone == null', 'true', '"n" in event')
      .map(same),
    fc
      .tuple(tie('bool'), fc.constantFrom(' && ', ' || '), tie('bool'))
      .map(([a, sign, b]) => joined(['(', a, sign, b, ')'])),
    fc
      .tuple(
        tie('number'),
        fc.constantFrom(' < ', ' <= ', ' > ', ' >= ', ' == ', ' != '),
        fc.oneof(tie('number'), tie('int')),
      )
      .map(([a, sign, b]) => joined([a, sign, 'dyn(', b, ')'])),
    fc.tuple(tie('text'), fc.constantFrom(' < ', ' >= ', ' == ', ' != '), tie('text')).map(joined),
    fc
      .tuple(tie('text'), fc.constantFrom('.contains(', '.startsWith(', '.endsWith('), tie('text'), fc.constant(')'))
      .map(joined),
    tie('bool').map((inner) => joined(['!(', inner, ')'])),
    fc.tuple(tie('number'), tie('list')).map(([a, list]) => joined([a, ' in ', list])),
    fc
      .tuple(fc.constantFrom('all', 'exists', 'exists_one'), tie('number'))
      .map(([macro, n]) => joined([`event.items.${macro}(i, i.qty > `, n, ')'])),
    fc
      .tuple(fc.constantFrom('all', 'exists'), tie('text'))
      .map(([macro, t]) => joined([`event.items.${macro}(i, i.sku == `, t, ' || i.gone)'])),
    fc.tuple(tie('list'), tie('list')).map(([a, b]) => joined(['dyn(', a, ') == dyn(', b, ')'])),
  ),
}));

const number = fc.oneof(fc.integer({ min: -5, max: 20 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
const text = fc.oneof(fc.constantFrom('paid', ' a ', 'éü', ''), fc.string({ maxLength: 6, unit: 'grapheme-ascii' }));
/** `int()` there also takes what BigInt takes: blanks, "" and "0x1". CEL does not. */
const unlikeBigInt = text.filter((word) => word.trim() !== '' && !/^\s*(?:[+-]?\d+|0[box][\da-f]+)\s*$/i.test(word));
const event = fc.record(
  {
    n: fc.oneof({ weight: 5, arbitrary: number }, { weight: 1, arbitrary: unlikeBigInt }),
    m: number,
    s: text,
    t: text,
    flag: fc.boolean(),
    list: fc.array(number, { maxLength: 4 }),
    words: fc.array(text, { maxLength: 3 }),
    o: fc.record({ n: number, s: text }, { requiredKeys: [] }),
    items: fc.array(fc.record({ qty: number, sku: text }, { requiredKeys: ['sku'] }), { maxLength: 3 }),
  },
  { requiredKeys: ['m', 'items'] },
);

function scalar(value: unknown): string {
  if (typeof value === 'string') return `string ${value}`;
  return typeof value === 'bigint' ? `bigint ${value}` : `${typeof value} ${JSON.stringify(value)}`;
}

/** Plain text of a value, alike for both; errors are alike whatever they say. */
function ourText(value: Value): string {
  if (value instanceof CelError) return 'error';
  if (isList(value)) return `[${value.map(ourText).join()}]`;
  if (isMap(value))
    return `{${keysOf(value)
      .map((key) => `${scalar(key)}:${ourText(lookup(value, key) ?? null)}`)
      .join()}}`;
  return scalar(value);
}

function theirText(value: unknown): string {
  if (isCelError(value)) return 'error';
  if (isCelList(value)) return `[${[...value].map(theirText).join()}]`;
  if (isCelMap(value)) return `{${[...value].map(([key, held]) => `${scalar(key)}:${theirText(held)}`).join()}}`;
  return isCelUint(value) ? `uint ${value.value}` : scalar(value);
}

const parser = createParser(new Map([['event', 'map<string, dyn>']]));

/** Maps there are Maps. */
function asTheirs(value: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => asTheirs(item as Json));
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, item]) => [name, asTheirs(item)]));
}

const environment = celEnv({ funcs: strings });

/** In the other implementation errors are values; an exception is a failure of the oracle and no result. */
function askThem(source: string, body: Json): string | null {
  try {
    return theirText(plan(environment, parse(source))({ event: asTheirs(body) as never }));
  } catch {
    return null;
  }
}

describe('Carillon’s CEL and another CEL implementation', () => {
  it('give the same value for the same expression and event, or both an error', () => {
    let compared = 0;
    fc.assert(
      fc.property(bool, event, ({ ours, theirs }, body) => {
        const prepared = prepare(parser, ours);
        fc.pre(prepared.ok);
        const expected = askThem(theirs, body);
        fc.pre(expected !== null);
        compared++;
        for (const generate of [true, false]) {
          const found = compilePlan(prepared.value.plan, generate)({ event: body }, new Meter());
          expect(ourText(found), `${ours} on ${JSON.stringify(body)}`).toBe(expected);
        }
      }),
      { numRuns: 3000, maxSkipsPerRun: 50 },
    );
    expect(compared).toBeGreaterThan(2000);
  });
});
