import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCsvReader, csvLine, LONGEST_CSV_RECORD, unguardedCell, type CsvRecord } from '@carillon/kernel';

function read(text: string, cuts: readonly number[] = []): readonly CsvRecord[] {
  const reader = createCsvReader();
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b);
  const pieces = [0, ...places].map((place, at) => text.slice(place, places[at]));
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}
const rows = (text: string) => read(text).map(({ line, cells, fault }) => [line, fault === null ? cells : fault]);
const broken = expect.stringContaining('quote') as unknown;

/** Texts in which everything that matters is frequent. */
const hostile = fc.string({
  unit: fc.constantFrom('"', ',', '\r', '\n', '\r\n', 'a', "'", '=', '\ufeff', ' ', 'ü'),
  maxLength: 60,
});
const cell = fc.oneof(hostile, fc.string());

describe('A CSV text', () => {
  it('gives the same records for any chunks, and these records together are the whole text', () => {
    fc.assert(
      fc.property(hostile, fc.array(fc.nat(80), { maxLength: 8 }), (text, cuts) => {
        const whole = read(text);
        expect(read(text, cuts)).toEqual(whole);
        expect(whole.map((one) => one.text).join('')).toBe(text);
      }),
    );
  });

  it('may be split between any two of its records, and read part by part', () => {
    fc.assert(
      fc.property(hostile, fc.nat(20), (text, cut) => {
        const whole = read(text);
        const before = whole.slice(0, cut);
        const behind = whole.slice(cut);
        const textOf = (records: readonly CsvRecord[]) => records.map((one) => one.text).join('');
        // Whether a quote is closed may depend on what follows, and is no row in either case.
        const shown = (records: readonly CsvRecord[]) => records.map((one) => (one.fault === null ? one.cells : null));
        fc.pre(cut === 0 || !textOf(behind).startsWith('\ufeff'));
        // A lone CR at the cut and an LF behind it would be one line end.
        fc.pre(!(textOf(before).endsWith('\r') && textOf(behind).startsWith('\n')));
        expect(shown([...read(textOf(before)), ...read(textOf(behind))])).toEqual(shown(whole));
      }),
    );
  });

  it('that was written from cells gives these cells again', () => {
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), (table) => {
        const back = read(table.map(csvLine).join(''));
        expect(back.map(({ fault, cells }) => fault ?? cells.map(unguardedCell))).toEqual(table);
      }),
    );
  });

  it('gives the line at which each row starts, with quotes, line ends inside them, empty lines and a byte order mark', () => {
    expect(rows('\ufeffa,b\r\n1,"x\r\n""y"", z"\r\n\r\n2,\n3\r4,"",')).toEqual([
      [1, ['a', 'b']],
      [2, ['1', 'x\r\n"y", z']],
      [4, ['']],
      [5, ['2', '']],
      [6, ['3']],
      [7, ['4', '', '']],
    ]);
    expect(rows('\ufeff"a"\n\ufeffb')).toEqual([
      [1, ['a']],
      [2, ['\ufeffb']],
    ]);
  });

  it.each([
    ['a quote inside', 'bad"quote,x'],
    ['something behind a closing quote', '"a"x,1'],
    ['a quote that nothing closes', '"a,1'],
  ])('with %s is reported at its line, and later rows are read', (_what, wrong) => {
    expect(rows(`a\n${wrong}\nb,c\n"d"\n`)).toEqual([
      [1, ['a']],
      [2, broken],
      [3, ['b', 'c']],
      [4, ['d']],
    ]);
  });

  it('with an unclosed quote is reported before the whole text is read', () => {
    const reader = createCsvReader();
    const line = `${'x'.repeat(99)}\n`;
    const seen = [...reader.push('"never\n')];
    let pushed = 0;
    while (seen.length === 0 && pushed < 10_000) {
      seen.push(...reader.push(line));
      pushed += 1;
    }
    expect(seen[0]).toMatchObject({ line: 1, text: '"never\n', fault: broken });
    expect(pushed * line.length).toBeLessThan(LONGEST_CSV_RECORD + 2 * line.length);
  });

  it('with too long a line is refused with the line number', () => {
    expect(() => read(`a\n${'x'.repeat(LONGEST_CSV_RECORD + 1)}`)).toThrow('line 2 is longer than 65536 characters');
    const reader = createCsvReader();
    expect(() => {
      for (let pieces = 0; pieces < 100; pieces += 1) reader.push('x'.repeat(1000));
    }).toThrow('line 1 is longer');
  });
});

describe('A cell that a spreadsheet would execute', () => {
  it.each(['=1+1', '+4930123456', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1+1', "'=1"])(
    '%j is prefixed with a single quote',
    (text) => {
      expect(csvLine([text])).toBe(`"'${text}"\r\n`);
      expect(unguardedCell(`'${text}`)).toBe(text);
    },
  );

  it('is recognized by its first character, so that other cells stay unchanged', () => {
    expect(csvLine(['ada@example.com', "'tis", '', 'a=b', 'say "hi"'])).toBe(
      '"ada@example.com","\'tis","","a=b","say ""hi"""\r\n',
    );
    expect(unguardedCell("'tis")).toBe("'tis");
  });
});
