import { StepBudget } from '@carillon/domain/rules';
import { describe, expect, it } from 'vitest';
import { runByClosures } from '../src/compiler/closures.ts';
import { runGenerated } from '../src/compiler/generation.ts';
import { createParser } from '../src/compiler/parser.ts';
import { prepare } from '../src/compiler/preparation.ts';
import { Meter } from '../src/runtime/meter.ts';
import { bindingsOf, evaluate } from './evaluation.ts';

/** One value of each kind, and those at the borders of what generated code takes a short cut for. */
const OPERANDS = [
  'event.text',
  'event.empty',
  'event.n',
  'event.zero',
  'event.big',
  'event.flag',
  'event.none',
  'event.gone',
  'event.list',
  'event.texts',
  'event.object',
  'event.?text',
  'event.?gone',
  '3',
  '3u',
  '-0.0',
  '1e300',
  '9007199254740993',
  '"pai"',
  'b"x"',
  'duration("1s")',
  '{"text": 1}',
];
const OTHERS = ['event.text', 'event.n', 'event.zero', 'event.big', 'event.none', 'event.gone', '3', '"pai"'];
const NAMES = new Map([['event', 'map<string, dyn>']]);
const EVENT = `{"text": "paid", "empty": "", "n": 2.5, "zero": 0, "big": 9007199254740993, "flag": true, "none": null,
  "list": [1, 2, 3], "texts": ["a", "paid", ""], "object": {"text": "x", "none": null}}`;

describe('generated code that skips work gives the same result as closures', () => {
  it.each([
    'startsWith(A, B)',
    'endsWith(A, B)',
    'contains(A, B)',
    'A + B',
    'A - B',
    'A * B',
    'A / B',
    'A % B',
    'A + 1 > 3',
    'A * 1.5 <= 3',
    'A - 0 == 2.5',
    'A / -2 != B',
    'A * B >= 0.0',
    'A + 9007199254740993 > 1',
    'size(A) >= 3',
    'size(A) == 4.0',
    'size(A) != 0',
    'A.size() < 1u',
    'size(A) + 1 > 2',
    'has(A.text)',
    'has(A.none)',
    'has(A.constructor)',
    'has(A.length)',
    'A in ["paid", ""]',
    'A in ["paid", "b", "c", "d", "e", "f", "g", "h", "i", "paid"]',
    'A in ["paid", B]',
    'A in []',
    'A.exists(x, x == B)',
    'A.all(x, x != "paid")',
    'A.exists(x, x)',
    'A.all(x, x > 1.0)',
    'A.exists(x, event.list.all(y, y > x))',
    'A.all(x, has(event.object.text) && x in ["a", "paid", ""])',
  ])('%s', (shape) => {
    for (const a of OPERANDS) {
      for (const b of shape.includes('B') ? OTHERS : ['']) {
        const text = /^(\w+With|contains)\(/.test(shape) ? `A.${shape.slice(0, shape.indexOf('('))}(B)` : shape;
        const written = `[${text.replaceAll('A', a).replaceAll('B', b)}]`;
        const unknown = `[${text.replaceAll('A', `dyn(${a})`).replaceAll('B', `dyn(${b})`)}]`;
        const source = prepare(createParser(NAMES), written).ok ? written : unknown;
        // Throws if the results differ.
        expect(() => evaluate(source, EVENT), source).not.toThrow();
      }
    }
  });

  it.each([
    'event.text.startsWith("pa")',
    'event.text.endsWith(event.empty)',
    'event.text.contains("ai")',
    'event.n.contains("ai")',
    'event.list.exists(x, x > 2.0)',
    'event.texts.all(x, x.endsWith("d"))',
    'event.object.exists(x, x.contains("e"))',
    'event.list.all(x, event.texts.exists(y, y.startsWith("pa")))',
  ])('%s costs the same number of steps', (source) => {
    const prepared = prepare(createParser(NAMES), source);
    if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
    const steps = [runGenerated, runByClosures].map((make) => {
      const budget = new StepBudget();
      const meter = new Meter();
      meter.open(budget);
      make(prepared.value.plan)({ event: bindingsOf(EVENT).event }, meter);
      return budget.left - meter.left;
    });
    expect(steps[0]).toBe(steps[1]);
    expect(steps[0]).toBeGreaterThan(0);
  });
});
