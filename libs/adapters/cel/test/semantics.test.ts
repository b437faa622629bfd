import { describe, expect, it } from 'vitest';
import { errorOf, value } from './evaluation.ts';

describe('numbers in expressions', () => {
  it.each([
    ['event.n + 1', 6],
    ['1 + event.n', 6],
    ['event.n / 2', 2.5],
    ['5 / 2', 2],
    ['event.n % 2 == 1', true],
    ['-event.n', -5],
    ['event.n == 5', true],
    ['event.n > 4 && event.n <= 5', true],
    ['size(event.list) * event.n', 15],
    ['event.n in [1, 5]', true],
    ['event.list[event.two]', 30],
  ])('%s gives %j: a number of an event is a double, and an int beside it becomes a double', (source, expected) => {
    expect(value(source, '{"n": 5, "two": 2, "list": [10, 20, 30]}')).toBe(expected);
  });

  it('keep integers beyond 2^53 exact', () => {
    const event = '{"big": 9007199254740993, "top": 9223372036854775807}';
    expect(value('event.big + 1', event)).toBe(9007199254740994n);
    expect(value('event.big == 9007199254740992.0', event)).toBe(false);
    expect(value('event.big > 9007199254740992.0', event)).toBe(true);
    expect(value('event.big - 9007199254740990', event)).toBe(3);
    expect(errorOf('event.top + 1', event)).toContain('overflow');
    expect(errorOf('event.big * 1.5', event)).toContain('too large to be converted');
  });

  it('cause an error for division by zero, and for results that JSON cannot represent', () => {
    expect(errorOf('1 / 0')).toContain('division by zero');
    expect(errorOf('event.n % 0', '{"n": 1}')).toContain('division by zero');
    expect(errorOf('event.n / 0', '{"n": 1}')).toContain('not a finite number');
  });
});

describe('missing fields and errors in expressions', () => {
  it.each([
    ['event.gone == 1 || true', true],
    ['true || event.gone == 1', true],
    ['event.gone == 1 && false', false],
    ['false && event.gone == 1', false],
    ['has(event.a.b)', true],
    ['has(event.a.c)', false],
    ['has(event.list[0].x)', true],
    ['event.a.b == null', true],
    ['event.?a.?c.orValue("none")', 'none'],
    ['event.?gone.?c.orValue("none")', 'none'],
    ['event[?"gone"].hasValue()', false],
    ['event.list[?7].orValue(0)', 0],
    ['event.?gone.or(event.?list).hasValue()', true],
    ['optional.of(3).value()', 3],
    ['optional.none()', null],
    ['true ? 1 : event.gone', 1],
    ['event.list.exists(i, i.y == 1 || i.x == 2)', true],
    ['event.list.all(i, i.y == 1 && i.x == 9)', false],
  ])('%s gives %j', (source, expected) => {
    expect(value(source, '{"a": {"b": null}, "list": [{"x": 1}, {"x": 2}]}')).toEqual(expected);
  });

  it.each([
    ['event.gone', 'no such field: gone'],
    ['event.gone.deeper', 'no such field: gone'],
    ['event.gone == 1 || false', 'no such field: gone'],
    ['event.gone == 1 && true', 'no such field: gone'],
    ['has(event.gone.deeper)', 'no such field: gone'],
    ['event.list.exists(i, i == 9 || i.y == 1)', 'no such field: y'],
    ['event.list.length', 'a list has no field length'],
    ['event.text + 1', 'no such overload: + with string, int; text and a number are joined as texts: write string('],
    ['1.5 + event.text', 'write string(…) around the number'],
    ['event.text && true', 'no such overload'],
    ['item', 'item is not set here'],
  ])('%s ends in "%s"', (source, expected) => {
    expect(errorOf(source, '{"text": "x", "list": [{"x": 1}]}')).toContain(expected);
  });
});

describe('macros such as all, exists and map', () => {
  it.each([
    ['event.items.all(i, i.qty > 0)', true],
    ['event.items.exists(i, i.qty > 2)', true],
    ['event.items.exists_one(i, i.qty == 3)', true],
    ['event.items.filter(i, i.qty > 1).map(i, i.sku)', ['b']],
    ['event.items.map(i, i.qty > 1, i.qty * 2)', [6]],
    ['event.items.exists(i, event.wanted.exists(w, w == i.sku))', true],
    ['cel.bind(n, event.items.size(), n * n)', 4],
    ['{"x": 1}.all(k, k == "x")', true],
    [
      '[1, 2].map(x, [3, 4].map(y, x * y))',
      [
        [3, 4],
        [6, 8],
      ],
    ],
  ])('%s gives %j', (source, expected) => {
    expect(value(source, '{"items": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 3}], "wanted": ["b"]}')).toEqual(
      expected,
    );
  });
});

describe('text functions in expressions', () => {
  it.each([
    ['"naïve".size()', 5],
    ['"😀x".size()', 2],
    ['"😀x".charAt(1)', 'x'],
    ['"😀xy".substring(1, 2)', 'x'],
    ['"😀xy".indexOf("y")', 2],
    ['"ÄB".lowerAscii()', 'Äb'],
    ['"äb".upperAscii()', 'äB'],
    ['"\\u00a0 x \\t".trim()', 'x'],
    ['"a,b,c".split(",", 2)', ['a', 'b,c']],
    ['"aaa".replace("a", "$&", 2)', '$&$&a'],
    ['["a", "b"].join("-")', 'a-b'],
    ['"order 12".matches("[0-9]+")', true],
    ['"order".matches("^[0-9]+$")', false],
    ['event.id + "/" + string(event.n)', 'x/1234567'],
    ['"a" < "b" && "b" > "a"', true],
    ['"lit\\u2028end"', 'lit\u2028end'],
  ])('%s gives %j', (source, expected) => {
    expect(value(source, '{"id": "x", "n": 1234567}')).toEqual(expected);
  });
});

describe('time functions and conversions in expressions', () => {
  it.each([
    ['time', '2026-01-02T23:04:05.678Z'],
    ['time - duration("5s")', '2026-01-02T23:04:00.678Z'],
    ['time > timestamp("2026-01-01T00:00:00Z")', true],
    ['time - timestamp("2026-01-02T23:02:35.678Z")', '90s'],
    ['time.getFullYear()', 2026],
    ['time.getHours("Europe/Berlin")', 0],
    ['time.getDate("Europe/Berlin")', 3],
    ['time.getHours("-02:30")', 20],
    ['time.getDayOfWeek()', 5],
    ['duration("1h30m").getMinutes()', 90],
    ['timestamp(event.at).getFullYear()', 2023],
    ['timestamp(event.seconds)', '2023-11-14T22:13:20Z'],
    ['int("42") + int(event.x)', 43],
    ['double("1.5")', 1.5],
    ['bool("true")', true],
    ['type(event.x) == double', true],
    ['type(time) == google.protobuf.Timestamp', true],
    ['dyn(1) == 1.0', true],
    ['bytes("abc")', 'YWJj'],
    ['{"a": 1u, 2: [true]}', { a: 1, 2: [true] }],
    ['event_id', 'e-1'],
  ])('%s gives %j', (source, expected) => {
    expect(value(source, '{"at": "2023-02-03T04:05:06Z", "seconds": 1700000000, "x": 1.9}')).toEqual(expected);
  });

  it('cause an error for nonsense', () => {
    expect(errorOf('timestamp("2023-02-30T00:00:00Z")')).toContain('RFC 3339');
    expect(errorOf('time.getHours("Mars/Base")')).toContain('no such time zone');
    expect(errorOf('int("x")')).toContain('not a value of int');
  });
});

describe('CEL syntax that the parser library does not know', () => {
  const event = '{"n": 1, "a": 1, "at": "2026-01-01T00:00:00Z", "items": [{"x": 1}]}';
  it.each([
    ['duration("1h") + timestamp(event.at)', '2026-01-01T01:00:00Z'],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['event.n > .5 && 1.0+.25 == 1.25', true],
    ['event.n == 1 ? .5e1 : 1.5', 5],
    ['"a .5 ?b" + r"[?"', 'a .5 ?b[?'],
    ['int(duration("90.9s"))', 90],
    ['int(duration("-90.9s"))', -90],
    ['event.?a == optional.of(1)', true],
    ['event.?a == event.?gone', false],
    ['event.?gone == optional.none()', true],
    ['optional.of(1) != optional.of(2)', true],
    ['[?event.?a, 1]', [1, 1]],
    ['[?event.?gone, 1, ?optional.of(3)]', [1, 3]],
    ['[[?event.?gone], ?event.?a]', [[], 1]],
    ['1 in [?event.?a] && size([?event.?gone]) == 0', true],
    ['[?event.?a][0] == 1 && event.items[?0].hasValue()', true],
    ['{?"a": event.?a, ?"z": event.?gone, "b": 2}', { a: 1, b: 2 }],
  ])('%s gives %j', (source, expected) => {
    expect(value(source, event)).toEqual(expected);
  });

  it.each([
    ['[?1]', 'no such overload: ?'],
    ['{?"a": 1}', 'no such overload: ?'],
  ])('%s is an error: only an optional field may be left out', (source, error) => {
    expect(errorOf(source, event)).toContain(error);
  });

  it.each(['size(?event.?a)', 'event.a ? ?event.?a : 1', '[1, ?]', 'event.5', 'event.n .5', '[event.a, 2].map(x, ?x)'])(
    '%s is refused',
    (source) => {
      expect(() => value(source, event)).toThrow(/unexpected|parse|ends too early|Unexpected/);
    },
  );

  it('keeps lines and columns of faults', () => {
    expect(() => value('[?event.?a, .5,\n  event.(]', event)).toThrow(/"line":2,"column":9/);
  });
});
