import type { ExpressionFault, ExpressionPlace } from '@carillon/domain/rules';
import { processorTime } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { createExpressionLanguage } from '../src/index.ts';

const language = createExpressionLanguage();

function faultsOf(source: string, place: ExpressionPlace = 'when'): readonly ExpressionFault[] {
  const result = language.compile(source, place);
  return result.ok ? [] : result.error;
}

describe('an expression that is refused when it is saved', () => {
  it.each<[string, number, number, string, string]>([
    ['event.a and event.b', 1, 9, '`and`', '`&&`'],
    ['event.a == 1 or event.b == 2', 1, 14, '`or`', '`||`'],
    ['event.a = 1', 1, 9, 'single `=`', '`==`'],
    ['event.in == 1', 1, 7, '`.in`', 'event["in"]'],
    ['event.a ==', 1, 11, 'ends too early', 'complete'],
    ['(event.a', 1, 9, 'ends too early', 'close'],
    ['event.a == "x', 1, 12, 'not closed', 'close'],
    ['true &&\n  evnt.a == 1', 2, 3, 'unknown name `evnt`', '`event`'],
    ['status == 1', 1, 1, 'unknown name `status`', 'event.status'],
    ['item.a == 1', 1, 1, 'unknown name `item`', '`event_id`'],
    ['event.a.startWith("x")', 1, 1, 'unknown function `startWith`', '`startsWith`'],
    ['lowerAscii(event.a) == "x"', 1, 1, 'unknown function', 'value.lowerAscii'],
    ['event.a.substring()', 1, 1, 'does not take 0 arguments', '1 or 2'],
    ['event.a.matches("(x")', 1, 17, 'not a pattern', 'RE2'],
    ['event.a.matches(event.b)', 1, 17, 'written out', 'quotation'],
    ['event.a.matches("(x{500}y{500}z{500}){8}")', 1, 17, 'repeats too much', 'RE2'],
    ['1 + "a" == 2', 1, 1, 'no such overload', 'write `string(…)` around the number'],
    ['ops@example.com', 1, 4, 'text, not an expression', `'"ops@example.com"'`],
    ['+49 151 1234', 1, 1, 'text, not an expression', `'"+49 151 1234"'`],
    ['order-{{ event.id }}', 1, 19, 'not a template', '"order-" + string(event.id)'],
    ['event.a + 1', 1, 1, '', ''],
    ['size(event.a)', 1, 1, 'when must be true or false; this is int', 'compare'],
    ['a.b.exists(1, true)', 1, 12, '', 'plain name'],
    ['event.a.exists(x, x.all(y, y.all(z, z)))', 1, 28, 'nested more than 2', 'loop'],
    ['', 1, 1, 'empty', 'condition'],
    ['event.`a b` == 1', 1, 7, 'backquoted', 'event["name"]'],
    ['9223372036854775808 > 1', 1, 1, '64 bits', 'double'],
    ['b"é" == b"x"', 1, 1, 'ASCII', 'bytes('],
  ])('names the fault and its position: %s: line %i, column %i', (source, line, column, message, fix) => {
    const [fault] = faultsOf(source);
    if (message === '' && fix === '') return expect(faultsOf(source)).toEqual([]);
    expect(fault).toMatchObject({ line, column });
    expect(fault?.message).toContain(message);
    expect(fault?.fix).toContain(fix);
  });

  it('reports all unknown names and functions at once', () => {
    expect(faultsOf('a == 1 && b.foo() == 2 && bar(1)').map(({ column }) => column)).toEqual([1, 11, 11, 27]);
  });

  it('may use other names in each field of a rule, and must have the type of the field', () => {
    expect(faultsOf('item.email', 'recipient')).toEqual([]);
    expect(faultsOf('variables.x == item.y', 'where')).toEqual([]);
    expect(faultsOf('variables.x', 'recipient')[0]?.message).toContain('unknown name `variables`');
    expect(faultsOf('"text"', 'for_each')[0]?.message).toContain('must be a list');
    expect(faultsOf('event.watchers.filter(w, w.on)', 'for_each')).toEqual([]);
    expect(faultsOf('event.order["id"]', 'path')).toEqual([]);
    for (const source of ['event.a + event.b', 'event', 'event.list[0]', 'event.?a', '"x"']) {
      expect(faultsOf(source, 'path')[0]?.message).toContain('only a path');
    }
  });

  it.each([
    ['100 kB', 'event.a || '.repeat(10_000)],
    ['4000 nots', '!'.repeat(4000) + 'true'],
    ['4000 minus signs', '-'.repeat(4000) + '1 == 1'],
    ['4000 brackets', '('.repeat(4000)],
    ['4000 lists', '['.repeat(4000)],
    ['deep ternaries', 'true ? '.repeat(500) + '1'],
    [
      'many patterns',
      Array(14)
        .fill(`"x".matches("${'(a|b)*c{9}'.repeat(24)}")`)
        .join('||'),
    ],
    ['a long chain', Array(500).fill('event.a').join('||')],
    ['costly loops', `event.a.exists(x, event.b.exists(y, ${Array(60).fill('x == y').join('||')}))`],
  ])('is refused quickly for %s', (_what, source) => {
    faultsOf('event.warm == 1');
    expect(processorTime(() => void language.compile(source, 'when'))).toBeLessThan(200);
  });

  it('is refused by its estimated cost, before there is an event', () => {
    const source = `event.a.exists(x, event.b.exists(y, ${Array(60).fill('x == y').join('||')}))`;
    expect(faultsOf(source)[0]?.message).toContain('steps');
  });
});
