import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson, type Json } from './json.ts';

/** V8 13.6 caches names by their position and then mistakes the start of an escape for a cached name. */
const misleading = (name: string): void => {
  JSON.parse(JSON.stringify({ before: 1, [name]: 2 }));
};

describe('JSON written by Carillon', () => {
  it.each([
    ['\\', '\0'],
    ['\\', '"'],
    ['\\', '\n'],
    ['a\\', 'a\n'],
    ['\\u', '\u0001\u0002'],
    ['\\\\', '\\n'],
  ])('reads the name %j before the name %j', (seen, name) => {
    misleading(seen);
    expect(Object.keys(parseJson(JSON.stringify({ before: 1, [name]: 2 })) as object)).toEqual(['before', name]);
  });

  it('may be indented', () => {
    misleading('\\');
    expect(parseJson('{ "before" : 1 ,\n\t"\\u0000" : 9007199254740993 }')).toEqual({
      before: 1,
      '\0': 9007199254740993n,
    });
  });

  it('is parsed in one pass, however many strings resemble a stand-in', () => {
    const strings = Array.from({ length: 800 }, (_, at) => '@'.repeat(at));
    const text = JSON.stringify({ '\n': strings, '@': 1 });
    // Processor time of this thread, at its best of three: how busy the machine is does not count.
    const spent = Array.from({ length: 3 }, () => {
      const before = process.threadCpuUsage();
      const read = parseJson(text);
      const { user, system } = process.threadCpuUsage(before);
      expect(read).toEqual({ '\n': strings, '@': 1 });
      return (user + system) / 1000;
    });
    expect(Math.min(...spent)).toBeLessThan(500);
  });

  it('is refused if it is invalid', () => {
    for (const text of ['{"\\n":1', '{"\\n":1,}', '{"\\x":1}', '{"a":"\\', '["\\n":1]', '{"\\n" 1}'])
      expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('round-trips any field names', () => {
    const name = fc.oneof(
      fc.string({ unit: fc.constantFrom('\\', '"', '\n', '\0', 'a', 'u', '0', 'n', '@', ':', '{', ','), maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constant('__proto__'),
    );
    const { value: anything } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(name, fc.integer(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }), fc.constant(null), fc.boolean()),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(anything, name, (value, seen) => {
        misleading(seen);
        expect(stringifyJson(parseJson(stringifyJson(value)))).toBe(stringifyJson(value));
      }),
      { numRuns: 500 },
    );
  });
});
