import { createReadStream, existsSync, renameSync, rmSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { ImportedBody } from '@carillon/contracts';
import { createCsvReader, messageOf, type CsvRecord } from '@carillon/kernel';
import { CommandError, UsageError } from '../failure.ts';
import { clean } from '../output.ts';

/** Rows per request: half a million rows are five hundred requests, each done within moments. */
const BATCH_ROWS = 1000;
/** Characters per request, not counting the longest record. */
const BATCH_CHARACTERS = 200_000;

/** A part of a file that is a CSV file in itself. */
type Part = { readonly csv: string; readonly firstLine: number; readonly lastLine: number };

async function* piecesOf(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const bytes: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const piece of bytes) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${file} is not UTF-8: save it as CSV UTF-8`);
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`);
  }
}

async function* recordsOf(file: string): AsyncGenerator<CsvRecord> {
  const reader = createCsvReader();
  for await (const piece of piecesOf(file)) yield* reader.push(piece);
  yield* reader.end();
}

const isBlank = ({ text }: CsvRecord): boolean => text.trim() === '';

/** The file in parts, each under the first row, which names the columns. Keeps one part at a time. */
export async function* partsOf(file: string): AsyncGenerator<Part> {
  let header: string | null = null;
  let texts: string[] = [];
  let letters = 0;
  let firstLine = 0;
  let lastLine = 0;
  const part = (): Part => ({ csv: `${header ?? ''}${texts.join('')}`, firstLine, lastLine });
  for await (const record of recordsOf(file)) {
    if (header === null) {
      if (!isBlank(record)) header = /[\r\n]$/.test(record.text) ? record.text : `${record.text}\n`;
      continue;
    }
    if (texts.length === 0) firstLine = record.line;
    texts.push(record.text);
    letters += record.text.length;
    lastLine = record.line;
    if (texts.length < BATCH_ROWS && letters < BATCH_CHARACTERS) continue;
    yield part();
    texts = [];
    letters = 0;
  }
  // A file with only a header is sent too, so that a wrong header is reported.
  if (texts.length > 0 || firstLine === 0) yield part();
}

export type ImportTotals = Omit<ImportedBody, 'faults' | 'ignored_columns'> & {
  faults: ImportedBody['faults'];
  ignored_columns: readonly string[];
};

/** Maximum refused rows in the JSON output. All refused rows are counted and printed as they come. */
const MAX_FAULTS = 1000;

export type Told = {
  /** A row that was refused. */
  fault(line: number, message: string): void;
  /** Reports the number of rows handled so far. */
  progress(rows: number): void;
};

/**
 * Imports the rows of a file part by part. If the import breaks off, the error says what was imported. Running it again
 * is safe, because imported rows stay as they are.
 */
export async function importFile(
  file: string,
  send: (csv: string, firstLine: number) => Promise<ImportedBody>,
  told: Told,
): Promise<ImportTotals> {
  const totals: ImportTotals = { rows: 0, taken: 0, added: 0, refused: 0, faults: [], ignored_columns: [] };
  for await (const { csv, firstLine, lastLine } of stoppingWith(file, totals)) {
    const answer = await send(csv, firstLine === 0 ? 2 : firstLine).catch((error: unknown) => {
      throw brokenOff(file, totals, error, ` Rows from line ${firstLine} to ${lastLine} may have been imported.`);
    });
    totals.rows += answer.rows;
    totals.taken += answer.taken;
    totals.added += answer.added;
    totals.refused += answer.refused;
    totals.ignored_columns = answer.ignored_columns;
    totals.faults = [...totals.faults, ...answer.faults].slice(0, MAX_FAULTS);
    for (const { line, message } of answer.faults) told.fault(line, message);
    told.progress(totals.rows);
  }
  if (totals.refused > 0) process.exitCode = 1;
  return totals;
}

/** Yields the parts of a file. A mistake in the file itself is reported with what was imported before it. */
async function* stoppingWith(file: string, totals: ImportTotals): AsyncGenerator<Part> {
  const parts = partsOf(file);
  for (;;) {
    const next = await parts.next().catch((error: unknown) => {
      throw brokenOff(file, totals, error, '');
    });
    if (next.done) return;
    yield next.value;
  }
}

function brokenOff(file: string, { rows, taken, added, refused }: ImportTotals, error: unknown, open: string): Error {
  // If the import stopped before any row was imported, the error is shown without totals.
  const isRefusal = error instanceof CommandError && error.problem?.status === 400;
  if (rows === 0 && (isRefusal || !(error instanceof CommandError))) return error as Error;
  const before = `Before it, ${taken} of ${rows} rows were imported (${added} new) and ${refused} refused.`;
  const again = 'Run it again: imported rows stay as they are.';
  const words = `${clean(file)} broke off: ${messageOf(error)}. ${before}${isRefusal ? '' : open} ${again}`;
  return new CommandError(words, error instanceof CommandError ? error.problem : undefined);
}

const MANY = new Intl.NumberFormat('en');
const rowsOf = (rows: number): string => `${MANY.format(rows)} ${rows === 1 ? 'row' : 'rows'}`;
const SAID_EVERY = 100_000;

/**
 * Reports refused rows as `FILE:LINE: reason`, and the progress, on standard error. Prints nothing with JSON output.
 */
export function tellOnTerminal(file: string, asJson = false): Told & { done(): void } {
  let shown = false;
  let said = 0;
  const clear = (): void => {
    if (asJson) return;
    if (shown) process.stderr.write('\r\u001B[K');
    shown = false;
  };
  return {
    fault(line, message) {
      if (asJson) return;
      clear();
      process.stderr.write(`${clean(file)}:${line}: ${clean(message)}\n`);
    },
    progress(rows) {
      if (asJson) return;
      if (process.stderr.isTTY) {
        process.stderr.write(`\r\u001B[K${rowsOf(rows)}`);
        shown = true;
      } else if (rows - said >= SAID_EVERY) {
        said = rows;
        process.stderr.write(`${rowsOf(rows)}\n`);
      }
    },
    done: clear,
  };
}

/**
 * Returns the result of an import as text. Refused rows end the command with exit code 1, so that a script notices
 * them.
 */
export function importWords({ rows, taken, added, refused, ignored_columns: ignored }: ImportTotals): string {
  const left = ignored.length === 0 ? '' : `; ignored columns: ${ignored.map(clean).join(', ')}`;
  const bad = refused === 0 ? '' : `, ${MANY.format(refused)} refused`;
  return `${rowsOf(rows)}: ${MANY.format(taken)} imported (${MANY.format(added)} new)${bad}${left}`;
}

/**
 * Writes a response to a file that only its owner can read, or to standard output (`-`). The file gets its name once it
 * is complete.
 */
export async function exportFile(
  file: string,
  download: () => Promise<AsyncIterable<Uint8Array>>,
  asJson = false,
): Promise<{ readonly file: string }> {
  if (file === '-') {
    if (asJson) throw new UsageError('--json uses standard output, so the list needs a file: name one');
    await pipeline(await download(), process.stdout, { end: false }).catch(brokeOff);
    return { file };
  }
  if (existsSync(file)) throw new UsageError(`${file} exists already: name another file, or move it away`);
  const pieces = await download();
  const unfinished = `${file}.part`;
  rmSync(unfinished, { force: true });
  try {
    // The unfinished file exists before the first chunk comes, so that it is removed wherever the download breaks off.
    const handle = await openFile(unfinished, 'wx', 0o600);
    await pipeline(pieces, handle.createWriteStream()).catch(brokeOff);
    renameSync(unfinished, file);
    return { file };
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function brokeOff(error: unknown): never {
  throw new CommandError(`the list is incomplete: ${messageOf(error)}. Run the command again`);
}
