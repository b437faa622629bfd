import { CarillonError } from './errors.ts';

/** A row of a CSV text (RFC 4180), or why it is none. */
export type CsvRecord = {
  /** Where it begins in the text, from 1. */
  readonly line: number;
  /** Text of the record, including its line end. All records together are the whole text. */
  readonly text: string;
  /** Empty where there is a fault. */
  readonly cells: readonly string[];
  /** Mistake in the record as text. Null if there is none. */
  readonly fault: string | null;
};

export type CsvReader = {
  /** The records that are whole with this piece of the text. Throws `invalid_request` for a line that is too long. */
  push(piece: string): readonly CsvRecord[];
  /** Returns the remaining records at the end of the input. Throws as `push` does. */
  end(): readonly CsvRecord[];
};

/** Maximum characters of one record. A longer record has lost a quote. */
export const LONGEST_CSV_RECORD = 64 * 1024;

const BYTE_ORDER_MARK = '\ufeff';
const NEVER_CLOSED = 'a quote opens a cell and nothing closes it';
const INSIDE = 'a quote inside an unquoted cell: put the cell in quotes and double the quotes in it';
const BEHIND =
  'a closing quote is not followed by a comma or the end of the line: double quotes that belong to the cell';
const TOO_LONG = `it is longer than ${LONGEST_CSV_RECORD} characters`;

/**
 * Reads CSV records from text in chunks, independent of where it is cut. Holds one record and one chunk at a time.
 * Lines end in CRLF, LF or CR, and a byte order mark is not part of the first cell. A faulty record consists of its
 * first line only, so that a superfluous quote hides no further rows.
 */
export function createCsvReader(): CsvReader {
  let rest = '';
  let line = 1;
  let began = false;

  function take(atEnd: boolean): readonly CsvRecord[] {
    const records: CsvRecord[] = [];
    let from = 0;
    while (from < rest.length) {
      const hasMark = !began && rest.startsWith(BYTE_ORDER_MARK);
      const found = readRecord(rest, from, hasMark ? from + 1 : from, atEnd);
      if (found === null) break;
      if (found === 'too long') {
        const detail = `line ${line} is longer than ${LONGEST_CSV_RECORD} characters: is this a CSV file?`;
        throw new CarillonError('invalid_request', detail);
      }
      const text = rest.slice(from, found.end);
      records.push({ line, text, cells: found.cells, fault: found.fault });
      line += text.match(LINE_ENDS)?.length ?? 0;
      from = found.end;
      began = true;
    }
    rest = rest.slice(from);
    return records;
  }

  return {
    push(piece) {
      rest += piece;
      return take(false);
    },
    end: () => take(true),
  };
}

const LINE_ENDS = /\r\n|\r|\n/g;
const LINE_END = /[\r\n]/g;
const PLAIN = /[^",\r\n]*/y;

type Found = Pick<CsvRecord, 'cells' | 'fault'> & { readonly end: number };

/**
 * Returns the record whose text begins at `from` and whose first cell begins at `start`. Null if the text so far does
 * not contain it completely. Text that follows never changes a returned record.
 */
function readRecord(text: string, from: number, start: number, atEnd: boolean): Found | 'too long' | null {
  const most = from + LONGEST_CSV_RECORD;
  const mayGrow = !atEnd && text.length <= most;
  const faulty = (fault: string): Found | 'too long' | null => firstLine(text, from, fault, atEnd);
  const cells: string[] = [];
  let at = start;
  for (;;) {
    if (text[at] === '"') {
      const cell = quotedCell(text, at, most);
      if (cell === null) return mayGrow ? null : faulty(NEVER_CLOSED);
      if (cell.end === text.length && !atEnd) return null;
      cells.push(cell.value);
      at = cell.end;
      if (at < text.length && !/[,\r\n]/.test(text.charAt(at))) return faulty(BEHIND);
    } else {
      PLAIN.lastIndex = at;
      PLAIN.exec(text);
      const { lastIndex: end } = PLAIN;
      if (end === text.length && mayGrow) return null;
      cells.push(text.slice(at, end));
      at = end;
      if (text[at] === '"') return faulty(INSIDE);
    }
    if (at > most) return faulty(TOO_LONG);
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    const end = behindLineEnd(text, at, atEnd);
    return end === null ? null : { end, cells, fault: null };
  }
}

/** The cell whose quote opens at `at`; null where none closes it in time. */
function quotedCell(text: string, at: number, most: number): { readonly value: string; readonly end: number } | null {
  let value = '';
  for (let begin = at + 1; ;) {
    const quote = text.indexOf('"', begin);
    if (quote === -1 || quote > most) return null;
    value += text.slice(begin, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    begin = quote + 2;
  }
}

function firstLine(text: string, from: number, fault: string, atEnd: boolean): Found | 'too long' | null {
  LINE_END.lastIndex = from;
  const found = LINE_END.exec(text)?.index;
  const at = found ?? text.length;
  if (at > from + LONGEST_CSV_RECORD) return 'too long';
  if (found === undefined && !atEnd) return null;
  const end = behindLineEnd(text, at, atEnd);
  return end === null ? null : { end, cells: [], fault };
}

/** Null: a CR is the last that is there, and may be half of a CRLF. */
function behindLineEnd(text: string, at: number, atEnd: boolean): number | null {
  if (text[at] !== '\r') return Math.min(at + 1, text.length);
  if (at + 1 === text.length && !atEnd) return null;
  return text[at + 1] === '\n' ? at + 2 : at + 1;
}

/**
 * Beginning of a cell that spreadsheets take for a formula, after any number of guarding quotes (OWASP, CSV injection).
 * In some locales full-width signs count too.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** A row as text: every cell in quotes, and a single quote before what a spreadsheet would carry out. */
export const csvLine = (cells: readonly string[]): string =>
  `${cells.map((cell) => `"${guarded(cell).replaceAll('"', '""')}"`).join(',')}\r\n`;

const guarded = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** A cell as it was before `csvLine` guarded it. */
export const unguardedCell = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
