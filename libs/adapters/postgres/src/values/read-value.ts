import { exactFloat, exactJson, exactMoment, exactNumber } from '@carillon/domain/changes';
import type { Json } from '@carillon/kernel';
import { readList } from './read-list.ts';

/** Reads the text of a value that is not null. */
export type ReadValue = (text: string) => Json;

const readText: ReadValue = (text) => text;

/** Built-in types by object id. All others are looked up in the database. */
const READERS: ReadonlyMap<number, ReadValue> = new Map<number, ReadValue>([
  [16, (text) => text === 't'],
  [17, readBytes],
  [20, exactNumber],
  [21, exactNumber],
  [23, exactNumber],
  [26, exactNumber],
  [1700, exactNumber],
  [700, exactFloat],
  [701, exactFloat],
  [114, exactJson],
  [3802, exactJson],
  [1114, exactMoment],
  [1184, exactMoment],
  // text, varchar, char, name, uuid, date, time, interval
  ...[25, 1043, 1042, 19, 2950, 1082, 1083, 1186].map((oid): [number, ReadValue] => [oid, readText]),
]);

/** `\x48656c6c6f` as base64. */
function readBytes(text: string): string {
  return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('base64') : text;
}

/** A row of `pg_type`, for types that are not built in and for arrays. */
export type TypeRow = {
  readonly oid: number;
  /** Type of a domain's values; 0 for all others. */
  readonly base: number;
  /** Type of an array's elements; 0 for all others. */
  readonly element: number;
  readonly delimiter: string;
};

/** How the values of each type are read. Types are looked up once. */
export class ValueReaders {
  readonly #readers = new Map(READERS);
  readonly #load: (oids: readonly number[]) => Promise<readonly TypeRow[]>;

  constructor(load: (oids: readonly number[]) => Promise<readonly TypeRow[]>) {
    this.#load = load;
  }

  /** Looks up the types that are not known yet, with those that they consist of. */
  async prepare(oids: readonly number[]): Promise<void> {
    const unknown = [...new Set(oids)].filter((oid) => !this.#readers.has(oid));
    if (unknown.length === 0) return;
    const rows = await this.#load(unknown);
    await this.prepare(rows.flatMap(({ base, element }) => [base, element]).filter((oid) => oid !== 0));
    for (const { oid, base, element, delimiter } of rows) {
      if (base !== 0) this.#readers.set(oid, this.reader(base));
      else if (element !== 0) this.#readers.set(oid, listReader(delimiter, this.reader(element)));
    }
    // Enums, ranges, types of extensions, and types that were dropped since.
    for (const oid of unknown) if (!this.#readers.has(oid)) this.#readers.set(oid, readText);
  }

  /** Returns the reader of a prepared type. */
  reader(oid: number): ReadValue {
    return this.#readers.get(oid) ?? readText;
  }
}

const listReader =
  (delimiter: string, element: ReadValue): ReadValue =>
  (text) =>
    readList(text, delimiter, element) ?? text;
