import { stringifyJson, type Json, type JsonObject } from '@carillon/kernel';
import { givenRule, MORNING, processorTime } from '@carillon/testing/given';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { minimumFields, sampleRule } from '../../src/index.ts';

/*
 * Conditions are generated from a hidden event: parts that are true for it, parts that are false, and combinations that
 * are true. So an event exists for which the rule fires, and the sampler must find one.
 */

/** Fields of the hidden event. Undefined: the field is absent. */
type Hidden = ReadonlyMap<string, Json | undefined>;
type Part = { readonly source: string; readonly holds: boolean };

const text = fc.oneof(fc.constantFrom('', 'paid', 'A-1', 'b', '"', '\\', 'né'), fc.string({ maxLength: 6 }));
const number = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ min: -10, max: 10, noNaN: true }), fc.integer());
const scalar: fc.Arbitrary<Json> = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const PATHS = ['a', 'b', 'order.total', 'order.status', 'order["odd name"]', 'tags'] as const;

const hiddenEvent: fc.Arbitrary<Hidden> = fc
  .tuple(
    ...PATHS.map((path) =>
      path === 'tags'
        ? fc.option(fc.array(text, { maxLength: 3 }), { nil: undefined })
        : fc.option(scalar, { nil: undefined, freq: 6 }),
    ),
  )
  .map((values) => new Map(PATHS.map((path, at) => [path, values[at]])));

const literal = (value: Json): string => {
  if (typeof value !== 'number') return stringifyJson(value);
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value === 0 ? 0 : value) : doubleText(value);
};
const doubleText = (value: number): string => (/[.e]/.test(String(value)) ? String(value) : `${value}.0`);

/** A comparison of a field with literals; whether it holds for the hidden event. None is an error there. */
const leaf = (hidden: Hidden): fc.Arbitrary<Part> =>
  fc
    .tuple(fc.constantFrom(...PATHS), scalar, fc.array(scalar, { minLength: 1, maxLength: 3 }), fc.nat(11))
    .map(([path, other, others, form]): Part => {
      const at = `event.${path}`;
      const value = hidden.get(path);
      if (value === undefined || form === 0) {
        const parent = path.startsWith('order')
          ? [...hidden].some(([one, held]) => one.startsWith('order') && held !== undefined)
          : true;
        if (!parent || path.includes('[')) return { source: 'true', holds: true };
        return { source: `has(${at})`, holds: value !== undefined };
      }
      if (Array.isArray(value)) {
        const sought = typeof other === 'string' ? other : String(value[0] ?? 'x');
        return { source: `${literal(sought)} in ${at}`, holds: value.includes(sought) };
      }
      if (form === 1) return { source: `${at} == ${literal(value)}`, holds: true };
      if (form === 2) return { source: `${at} != ${literal(other)}`, holds: value !== other };
      if (form === 3) return { source: `${at} in [${others.map(literal).join(', ')}]`, holds: others.includes(value) };
      if (form === 4) return { source: `${at} in [${[...others, value].map(literal).join(', ')}]`, holds: true };
      if (form === 5 && typeof value === 'boolean') return { source: at, holds: value };
      if (typeof value === 'string') {
        if (form === 6) return { source: `${at}.startsWith(${literal(value.slice(0, 2))})`, holds: true };
        const piece = typeof other === 'string' ? other : 'x';
        const name = (['startsWith', 'endsWith', 'contains'] as const)[form % 3] ?? 'contains';
        return {
          source: `${at}.${name}(${literal(piece)})`,
          holds: value[name === 'contains' ? 'includes' : name](piece),
        };
      }
      if (typeof value === 'number') {
        const than = typeof other === 'number' ? other : value;
        const sign = (['<', '<=', '>', '>='] as const)[form % 4] ?? '<';
        const holds = { '<': value < than, '<=': value <= than, '>': value > than, '>=': value >= than }[sign];
        return form % 2 === 0
          ? { source: `${at} ${sign} ${literal(than)}`, holds }
          : { source: `${literal(than)} ${{ '<': '>', '<=': '>=', '>': '<', '>=': '<=' }[sign]} ${at}`, holds };
      }
      return { source: `${at} == ${literal(value)}`, holds: true };
    });

const condition = (hidden: Hidden): fc.Arbitrary<Part> =>
  fc.letrec<{ part: Part }>((tie) => ({
    part: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf(hidden),
      fc.tuple(tie('part'), tie('part')).map(([left, right]) => ({
        source: `(${left.source}) && (${right.source})`,
        holds: left.holds && right.holds,
      })),
      fc.tuple(tie('part'), tie('part')).map(([left, right]) => ({
        source: `(${left.source}) || (${right.source})`,
        holds: left.holds || right.holds,
      })),
      tie('part').map(({ source, holds }) => ({ source: `!(${source})`, holds: !holds })),
    ),
  })).part;

const satisfiable: fc.Arbitrary<string> = hiddenEvent
  .chain(condition)
  .map(({ source, holds }) => (holds ? source : `!(${source})`))
  .filter((source) => source.length < 4000);

const sampleFor = (when: string, fired: JsonObject | null = null) => {
  const rule = givenRule({ to: { email: '"ada@example.com"' } }, { when });
  return sampleRule(rule, minimumFields(rule, undefined, []), fired && { body: fired, change: null }, MORNING);
};

test('a satisfiable condition of comparisons with literals gets a sample that fires', () => {
  let depth = 0;
  fc.assert(
    fc.property(satisfiable, (when) => {
      depth = Math.max(depth, when.split('event.').length);
      expect(sampleFor(when).fires, when).toBe(true);
    }),
    { numRuns: 2000 },
  );
  expect(depth).toBeGreaterThan(5);
});

test('an unsatisfiable or unsupported condition ends soon and claims no firing', () => {
  for (const when of [
    'event.a == 1 && event.a == 2',
    Array.from({ length: 20 }, (_, at) => `(event.a == ${at} || event.b == ${at})`).join(' && '),
    `event.x.startsWith("a") && (${Array.from({ length: 60 }, (_, at) => `event.x == "b${at}"`).join(' || ')})`,
    'false',
  ]) {
    expect(processorTime(() => expect(sampleFor(when).fires, when).toBe(false))).toBeLessThan(2_000);
  }
});
