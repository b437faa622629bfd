import {
  CarillonError,
  createCsvReader,
  runToCompletion,
  unguardedCell,
  type CsvRecord,
  type Coroutine,
} from '@carillon/kernel';
import { insteadOf } from '../names.ts';

export type TableRow<Name extends string> = {
  readonly line: number;
  /** Returns the cell of a column. Empty if the file has no such column or the cell is empty. */
  readonly cell: (name: Name) => string;
};
export type RowFault = { readonly line: number; readonly message: string };

export type Table<Name extends string> = {
  readonly rows: readonly TableRow<Name>[];
  readonly faults: readonly RowFault[];
  /** Names of ignored columns, as the file writes them. */
  readonly ignored: readonly string[];
};

export type TableShape<Name extends string> = {
  readonly columns: readonly Name[];
  /** Columns without which the file is refused. */
  readonly needed: readonly Name[];
  /** Lines are counted from here: where the row behind the header stands in the file that this is a part of. */
  readonly firstLine: number;
  readonly mostRows: number;
};

/** More than anybody’s export has; each one more is work for every row. */
const MAX_COLUMNS = 100;

/** Characters that are parsed between two yields: about a millisecond. */
const PIECE_LENGTH = 16 * 1024;

const nameOf = (title: string): string => unguardedCell(title).trim().toLowerCase();
const isBlank = ({ cells, fault }: CsvRecord): boolean => fault === null && cells.every((cell) => cell.trim() === '');

/**
 * Reads the rows of a CSV text whose first row names its columns, in any order and case. Unreadable rows become faults.
 * Throws `invalid_request` if the columns are not recognized, or if there are more rows than one request may have.
 */
export const readTable = <Name extends string>(text: string, shape: TableShape<Name>): Table<Name> =>
  runToCompletion(readTableCoroutine(text, shape));

/** Does the work of `readTable`, and yields after each piece of text and each row. */
export function* readTableCoroutine<Name extends string>(
  text: string,
  shape: TableShape<Name>,
): Coroutine<Table<Name>> {
  const reader = createCsvReader();
  const all: CsvRecord[] = [];
  for (let from = 0; from < text.length; from += PIECE_LENGTH) {
    all.push(...reader.push(text.slice(from, from + PIECE_LENGTH)));
    yield;
  }
  const [header, ...records] = [...all, ...reader.end()].filter((record) => !isBlank(record));
  if (!header)
    throw new CarillonError('invalid_request', 'the file is empty: write the names of the columns into the first line');
  const titles = titlesOf(header, shape);
  if (records.length > shape.mostRows) {
    throw new CarillonError('invalid_request', `${records.length} rows are too many for one request`, {
      limit: `${shape.mostRows} rows`,
    });
  }
  // No name but the empty one is there twice.
  const places = new Map(titles.map((title, at) => [title, at]));
  const moved = shape.firstLine - (header.line + linesOf(header));
  const rows: TableRow<Name>[] = [];
  const faults: RowFault[] = [];
  for (const { line: own, cells, fault } of records) {
    yield;
    const line = own + moved;
    if (fault !== null) faults.push({ line, message: fault });
    else if (cells.length > titles.length) {
      const message = `has ${cells.length} cells, and the first line names ${titles.length} columns: put a cell with a comma in quotes`;
      faults.push({ line, message });
    } else {
      const cell = (name: Name): string => unguardedCell(cells[places.get(name) ?? -1] ?? '').trim();
      rows.push({ line, cell });
    }
  }
  const known: readonly string[] = shape.columns;
  return { rows, faults, ignored: titles.filter((title) => title !== '' && !known.includes(title)) };
}

const linesOf = ({ text }: CsvRecord): number => text.match(/\r\n|\r|\n/g)?.length ?? 0;

function titlesOf<Name extends string>(header: CsvRecord, { columns, needed }: TableShape<Name>): readonly string[] {
  const refuse = (why: string): CarillonError => new CarillonError('invalid_request', `line ${header.line}: ${why}`);
  if (header.fault !== null) throw refuse(header.fault);
  if (header.cells.length > MAX_COLUMNS) {
    throw refuse(`the first line has ${header.cells.length} columns; the limit is ${MAX_COLUMNS}`);
  }
  const titles = header.cells.map(nameOf);
  const named = titles.filter((title) => title !== '');
  if (new Set(named).size < named.length) throw refuse('two columns have the same name');
  for (const name of needed) {
    if (titles.includes(name)) continue;
    if (titles.length === 1 && /[;\t|]/.test(header.text)) throw refuse('expected commas between the columns');
    const meant = insteadOf(name, named);
    throw refuse(
      `the first line names the columns, and none is called ${name}${meant.startsWith('did') ? ` (${meant})` : ''}; columns are ${columns.join(', ')}`,
    );
  }
  return titles;
}
