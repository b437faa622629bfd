import { spawnSync } from 'node:child_process';
import { StepBudget } from '@carillon/domain/rules';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { processorTime } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { createExpressionLanguage } from '../src/index.ts';
import { mayGenerate } from '../src/compiler/generation.ts';
import { BUILTIN_NAMES } from '../src/runtime/values.ts';
import type { Json } from '@carillon/kernel';
import { bindingsOf, compiled, errorOf, evaluate, eventOf, value } from './evaluation.ts';

const NAMES = [...new Set([...BUILTIN_NAMES, '__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'then'])];

describe('hostile names in an expression', () => {
  const event = '{"anObject": {}, "aList": [1], "aText": "x", "aNumber": 1}';
  const roots = [
    'event',
    'event.anObject',
    'event.aList',
    'event.aText',
    'event.aNumber',
    'time',
    '{"a": 1}',
    'duration("1s")',
  ];

  it('access nothing that is not in the event', () => {
    for (const name of NAMES) {
      for (const root of roots) {
        const source = `dyn(${root})[${JSON.stringify(name)}]`;
        expect(evaluate(source, event).ok, source).toBe(false);
        if (!/^[A-Za-z_]\w*$/.test(name) || /^(in|true|false|null)$/.test(name)) continue;
        const field = `dyn(${root}).${name}`;
        expect(evaluate(field, event).ok, field).toBe(false);
      }
    }
  });

  it('are ordinary fields if the event has them, and plain objects have no hidden ones', () => {
    const hostile = eventOf('{"constructor": 1, "toString": {"call": 2}}');
    expect(value('event.constructor', hostile)).toBe(1);
    expect(value('event.toString.call', hostile)).toBe(2);
    expect(value('event.object.constructor == null || true', { object: {} })).toBe(true);
    expect(errorOf('event.object.constructor', { object: {} })).toContain('no such field');
    expect(value('{"__proto__": event.a}', '{"a": 1}')).toEqual(JSON.parse('{"__proto__": 1}'));
  });

  it('never become generated code', () => {
    const language = createExpressionLanguage({ generate: true });
    const escape = '");globalThis.reached=1;("';
    for (const text of [
      escape,
      '`${globalThis.reached=1}`',
      "'+(globalThis.reached=1)+'",
      '\u2028globalThis.reached=1',
    ]) {
      for (const source of [
        `event[${JSON.stringify(text)}]`,
        `${JSON.stringify(text)} + "x"`,
        `event.a == ${JSON.stringify(text)}`,
      ]) {
        const result = language.compile(source, 'recipient');
        if (result.ok) result.value.evaluate(bindingsOf('{"a": 1}'), new StepBudget());
      }
    }
    expect(Reflect.get(globalThis, 'reached')).toBeUndefined();
  });
});

describe('an evaluation of a hostile expression', () => {
  const NUMBERS = Array.from({ length: 5000 }, (_, at) => at);
  const rest = {
    copy: 'a'.repeat(200_000),
    digits: '1'.repeat(200_000),
    object: Object.fromEntries(NUMBERS.map((at) => [`field${at}`, at])),
  };
  const many = JSON.stringify({ list: NUMBERS, same: NUMBERS, text: 'a'.repeat(200_000), ...rest });

  it.each([
    ['nested loops', 'event.list.all(x, event.list.all(y, x + y >= 0))'],
    ['nested loops behind an absorbing or', 'event.list.all(x, event.list.all(y, x + y >= 0)) || true'],
    ['comparing lists in a loop', 'event.list.all(x, event.list == event.same)'],
    ['searching a list in a loop', 'event.list.all(x, !(-1 in event.list))'],
    ['growing text', 'cel.bind(a, event.text + event.text, cel.bind(b, a + a, b + b)).size()'],
    ['replacing by long text', 'event.text.replace("a", event.text).size()'],
    ['splitting in a loop', 'event.list.map(x, event.text.split("").size())'],
    [
      'lists of shared lists',
      `${Array.from({ length: 20 }, (_, at) => `cel.bind(v${at + 1}, [v${at}, v${at}], `)
        .join('')
        .replace('[v0, v0]', '[1, 1]')}v20${')'.repeat(20)}`,
    ],
    ['comparing long texts in a loop', 'event.list.all(x, event.text == event.copy)'],
    ['looking at the start of long text', 'event.list.all(x, event.text.startsWith(event.copy))'],
    ['reading numbers from long text', 'event.list.all(x, string(double(event.digits + "x")) == "")'],
    ['counting fields in a loop', 'event.list.all(x, event.object.size() > 1)'],
    ['patterns on long text', 'event.text.matches("(a{1,20}){1,20}b(c{1,20}){1,20}$")'],
    ['a hostile pattern for backtracking', 'event.list.all(x, event.text.matches("(a+)+$"))'],
    ['searching text in a loop', `event.list.all(x, !event.text.contains("${'a'.repeat(300)}b"))`],
  ])('%s: ends early, as too_complex', (_what, source) => {
    const expression = compiled(source);
    const bindings = bindingsOf(many);
    const spent = processorTime(() => {
      const answer = expression.evaluate(bindings, new StepBudget());
      expect(answer.ok ? 'a value' : answer.error).toContain('too_complex');
    });
    expect(spent).toBeLessThan(1500);
  });

  it('is not aborted by deep data', () => {
    const nest = (): Json => {
      let deep: Json = 1;
      for (let at = 0; at < 100_000; at++) deep = [deep];
      return deep;
    };
    const bindings = bindingsOf({ a: nest(), b: nest() });
    expect(compiled('event.a == event.b').evaluate(bindings, new StepBudget()).ok).toBe(false);
  });

  it('leaves the full budget to the next event', () => {
    const expression = compiled('event.list.all(x, event.list.all(y, x + y >= 0))');
    expect(expression.evaluate(bindingsOf(many), new StepBudget()).ok).toBe(false);
    expect(expression.evaluate(bindingsOf('{"list": [1, 2]}'), new StepBudget())).toEqual({ ok: true, value: true });
  });
});

describe('any text, used as an expression,', () => {
  const words = [
    'event',
    '.a',
    '[0]',
    '["a"]',
    '==',
    '&&',
    '||',
    '!',
    '-',
    '(',
    ')',
    '"x"',
    '1',
    '1.5',
    'null',
    '?',
    ':',
    '.exists(',
    'x',
    ',',
    'in',
    '[',
    ']',
    '{',
    '}',
    'has(',
    '.?b',
    '+',
    'size(',
  ];
  const source = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(fc.constantFrom(...words), { maxLength: 20 }).map((all) => all.join(' ')),
  );
  const json = fc
    .dictionary(fc.constantFrom('a', 'b', 'x', '__proto__'), fc.jsonValue({ maxDepth: 2 }))
    .map((each) => JSON.stringify(each));

  it('is refused with position and fix, or evaluates the same every time, in generated code and closures', () => {
    const language = createExpressionLanguage();
    fc.assert(
      fc.property(source, json, (text, event) => {
        const result = language.compile(text, 'recipient');
        if (!result.ok) {
          for (const fault of result.error) {
            expect(fault.line).toBeGreaterThanOrEqual(1);
            expect(fault.column).toBeGreaterThanOrEqual(1);
            expect(fault.message.length * fault.fix.length).toBeGreaterThan(0);
          }
          return;
        }
        const first = evaluate(text, event);
        expect(result.value.evaluate(bindingsOf(event), new StepBudget())).toEqual(first);
        expect(result.value.explain(bindingsOf(event))[0]?.result).toEqual(first);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('if code generation is forbidden', () => {
  it('closures evaluate expressions', () => {
    expect(mayGenerate()).toBe(true);
    const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));
    const script = `import { createExpressionLanguage } from ${JSON.stringify(index)};
      const made = createExpressionLanguage().compile('event.n + 1 == 3.0 && time.getFullYear() == 1970', 'when');
      console.log(JSON.stringify(made.value.evaluate({ event: { n: 2 }, event_id: 'e', time: 0 }, { left: 1000, exhausted: false })));`;
    const flags = ['--disallow-code-generation-from-strings', '--input-type=module-typescript', '-e', script];
    const run = spawnSync(process.execPath, flags, { encoding: 'utf8' });
    expect(run.stdout.trim()).toBe('{"ok":true,"value":true}');
  });
});
