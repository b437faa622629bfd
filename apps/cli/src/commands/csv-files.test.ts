import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportedBody } from '@carillon/contracts';
import { createCsvReader } from '@carillon/kernel';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommandError, UsageError } from '../failure.ts';
import { exportFile, importFile, importWords, partsOf } from './csv-files.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-csv-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const { exitCode } = process;
afterAll(() => {
  process.exitCode = exitCode;
});

const fileOf = (text: string | Buffer): string => {
  const file = join(folder, 'list.csv');
  writeFileSync(file, text);
  return file;
};
const recordsOf = (text: string) => {
  const reader = createCsvReader();
  return [...reader.push(text), ...reader.end()];
};
async function partsIn(text: string) {
  const parts = [];
  for await (const part of partsOf(fileOf(text))) parts.push(part);
  return parts;
}

/** Responds like the server: refuses rows that contain `bad`. */
const taking = (csv: string): ImportedBody => {
  const [, ...rows] = recordsOf(csv);
  const faults = rows.flatMap(({ text, line }) => (text.includes('bad') ? [{ line, message: 'no address' }] : []));
  const refused = faults.length;
  return { rows: rows.length, taken: rows.length - refused, added: 0, refused, faults, ignored_columns: ['note'] };
};
const deaf = { fault: () => undefined, progress: () => undefined };
const problem = (status: number) => ({
  type: 'urn:x',
  title: 'x',
  status,
  code: status === 400 ? 'invalid_request' : 'overloaded',
  detail: 'x',
  request_id: 'req_1',
});

describe('An import of a large file', () => {
  it('sends parts that are complete CSV files, with every row once and its line number', async () => {
    const cell = fc.constantFrom('a', '"x\r\ny"', '"say ""hi"""', 'br"oken', '');
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { maxLength: 5 }), fc.integer({ min: 0, max: 2500 }), async (odd, many) => {
        const rows = [...Array.from({ length: many }, (_, at) => `${at}`), ...odd];
        const text = `\ufeffaddress\r\n${rows.map((row) => `${row}\r\n`).join('')}`;
        const parts = await partsIn(text);
        const [, ...whole] = recordsOf(text);
        const seen = parts.flatMap(({ csv, firstLine }) => {
          const [header, ...records] = recordsOf(csv);
          expect(header?.cells).toEqual(['address']);
          return records.map(({ line, cells, fault }) => [line - 2 + firstLine, fault ?? cells]);
        });
        expect(seen).toEqual(whole.map(({ line, cells, fault }) => [line, fault ?? cells]));
        expect(Math.max(...parts.map(({ csv }) => recordsOf(csv).length))).toBeLessThanOrEqual(1001);
      }),
      { numRuns: 40 },
    );
  });

  it('keeps each part within the size of a request, however long the rows are', async () => {
    const row = `"${'ü'.repeat(60_000)}"\n`;
    const parts = await partsIn(`address\n${row.repeat(20)}`);
    for (const { csv } of parts) expect(Buffer.byteLength(csv)).toBeLessThan(1024 * 1024);
    expect(parts.flatMap(({ csv }) => recordsOf(csv).slice(1))).toHaveLength(20);
  });

  it('returns totals and reports each refused row immediately', async () => {
    const faults: string[] = [];
    const seen: number[] = [];
    const rows = Array.from({ length: 2500 }, (_, at) => (at % 1000 === 7 ? 'bad' : `a${at}`)).join('\n');
    const told = {
      fault: (line: number, message: string) => void faults.push(`${line} ${message}`),
      progress: (count: number) => void seen.push(count),
    };
    const totals = await importFile(fileOf(`address\n${rows}`), async (csv) => taking(csv), told);
    expect(totals).toMatchObject({ rows: 2500, taken: 2497, refused: 3 });
    expect(seen).toEqual([1000, 2000, 2500]);
    expect(faults).toHaveLength(3);
    expect(importWords(totals)).toBe('2,500 rows: 2,497 imported (0 new), 3 refused; ignored columns: note');
    expect(importWords({ ...totals, rows: 1, taken: 1, refused: 0, ignored_columns: [] })).toBe(
      '1 row: 1 imported (0 new)',
    );
    expect(process.exitCode).toBe(1);
  });

  it('reports imported and possibly imported rows after a failure, and that it can be repeated', async () => {
    let calls = 0;
    const send = async (csv: string): Promise<ImportedBody> => {
      calls += 1;
      if (calls === 2) throw new CommandError('The server is overloaded', problem(503));
      return taking(csv);
    };
    const file = fileOf(`address\n${'a\n'.repeat(2500)}`);
    const failed = importFile(file, send, deaf);
    await expect(failed).rejects.toThrow(
      `${file} broke off: The server is overloaded. Before it, 1000 of 1000 rows were imported (0 new) and 0 refused. ` +
        'Rows from line 1002 to 2001 may have been imported. Run it again: imported rows stay as they are.',
    );
    await expect(failed).rejects.toMatchObject({ problem: { code: 'overloaded' } });
  });

  it('reports only the reason if the server refuses the whole file', async () => {
    const refusing = () => Promise.reject(new CommandError('line 1: none is called address', problem(400)));
    await expect(importFile(fileOf('adress\na\n'), refusing, deaf)).rejects.toThrow(/^line 1: none is called address$/);
    await expect(importFile(fileOf(''), async (csv) => taking(csv), deaf)).resolves.toMatchObject({ rows: 0 });
  });

  it('is wrong usage for a missing file or one that is not UTF-8, and reports the rows imported so far', async () => {
    const send = async (csv: string) => taking(csv);
    await expect(importFile(join(folder, 'none.csv'), send, deaf)).rejects.toThrow(UsageError);
    const latin = Buffer.from('address\nm\xfcller@example.com\n', 'latin1');
    await expect(importFile(fileOf(latin), send, deaf)).rejects.toThrow('is not UTF-8: save it as CSV UTF-8');
    const late = Buffer.concat([Buffer.from(`address\n${'abcdefg\n'.repeat(20_000)}`), latin]);
    await expect(importFile(fileOf(late), send, deaf)).rejects.toThrow(
      /is not UTF-8.*Before it, \d+000 of \d+000 rows were imported/,
    );
  });
});

describe('An export to a file', () => {
  const pieces = async function* (...texts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield Buffer.from(text);
  };

  it('creates the file when it is complete, readable only by its owner, and overwrites nothing', async () => {
    const file = join(folder, 'out.csv');
    await exportFile(file, async () => pieces('a\r\n', 'b\r\n'));
    expect(readFileSync(file, 'utf8')).toBe('a\r\nb\r\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await expect(exportFile(file, async () => pieces('c'))).rejects.toThrow('exists already');
    expect(readFileSync(file, 'utf8')).toBe('a\r\nb\r\n');
  });

  it('creates no file after a failure', async () => {
    const file = join(folder, 'out.csv');
    const breaking = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a\r\n');
      throw new Error('terminated');
    };
    await expect(exportFile(file, async () => breaking())).rejects.toThrow('the list is incomplete: terminated');
    expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false]);
  });
});
