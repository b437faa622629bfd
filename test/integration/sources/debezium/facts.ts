import type { Change, ReadChange } from '@carillon/domain/changes';
import type { Json, JsonObject } from '@carillon/kernel';
import { COLUMNS } from './columns.ts';
import type { Format, ReadEnvelope } from './two-readers.ts';

/** A change as both readers have to give it. */
export type Fact = {
  readonly op: string;
  readonly event: Readonly<Record<string, Json>>;
  readonly previous: Readonly<Record<string, Json>> | null | undefined;
  readonly unknown: readonly string[];
};

/** Columns that have the same values in a format. */
export const NAMES_BY_FORMAT: Readonly<Record<Format, ReadonlySet<string>>> = {
  json: new Set(['id', ...COLUMNS.filter(({ odd }) => !odd).map(({ name }) => name)]),
  avro: new Set(['id', ...COLUMNS.filter(({ odd }) => !odd).map(({ name }) => name)]),
  plain: new Set(['id', ...COLUMNS.filter(({ plain }) => plain).map(({ name }) => name)]),
};

/** Returns the facts of one table, in order: of each change only the columns that have the same values in this format. */
export class Facts {
  readonly #names: ReadonlySet<string>;
  readonly #isFull: boolean;

  constructor(format: Format, isFull: boolean) {
    this.#names = NAMES_BY_FORMAT[format];
    this.#isFull = isFull;
  }

  ofDatabase(changes: readonly ReadChange[]): readonly Fact[] {
    return changes.map(({ change }) => this.#of(change));
  }

  ofEnvelopes(envelopes: readonly ReadEnvelope[]): readonly Fact[] {
    const facts: Fact[] = [];
    let rekeyed: Change | null = null;
    for (const { read, record } of envelopes) {
      if (read.kind === 'fault') throw new Error(`${JSON.stringify(read.fault)} of ${record.topic}/${record.offset}`);
      if (read.kind === 'skipped') continue;
      const { change } = read.read;
      if (record.headers['__debezium.newkey'] !== undefined) rekeyed = change;
      else if (rekeyed === null) facts.push(this.#of(change));
      else {
        facts.push(this.#of(this.#rekeyed(rekeyed, change)));
        rekeyed = null;
      }
    }
    return facts;
  }

  /** Debezium writes a new key as a delete and a create. The built-in reader gives one update. */
  #rekeyed(deleted: Change, created: Change): Change {
    const { previous: _, ...change } = created;
    if (!this.#isFull) return { ...change, op: 'update' };
    const known = created.unknown.filter((name) => Object.hasOwn(deleted.event, name));
    const event = { ...created.event, ...Object.fromEntries(known.map((name) => [name, deleted.event[name] ?? null])) };
    const unknown = [...new Set([...created.unknown, ...deleted.unknown])].filter((name) => !known.includes(name));
    return { ...change, op: 'update', event, previous: deleted.event, unknown };
  }

  #of({ op, event, previous, unknown }: Change): Fact {
    // Without FULL the database sends the key of a deleted row only. The connector makes up the other columns.
    if (op === 'delete' && !this.#isFull) {
      return { op, event: { id: event['id'] ?? null }, previous: undefined, unknown: [] };
    }
    return {
      op,
      event: this.#columnsOf(event),
      previous: previous && this.#columnsOf(previous),
      unknown: unknown.filter((name) => this.#names.has(name)).toSorted(),
    };
  }

  #columnsOf(row: JsonObject): Readonly<Record<string, Json>> {
    const columns = Object.entries(row).filter(([name]) => this.#names.has(name));
    return Object.fromEntries(columns.map(([name, value]) => [name, name === 'exact' ? withoutZeros(value) : value]));
  }
}

/** The connector drops zeros at the end of a `numeric` without a scale, which show in a value of more than 15 digits. */
const withoutZeros = (value: Json): Json =>
  typeof value === 'string' && value.includes('.') ? value.replace(/\.?0+$/, '') : value;
