import type { Json, JsonObject } from '@carillon/kernel';
import type { ChangeSource } from '../change.ts';
import { timestampText } from './time-text.ts';

/** Fields of `source` that may differ when a restarted connector sends the same change again. */
const NOT_IDENTIFYING: ReadonlySet<string> = new Set(['version', 'sequence', 'snapshot', 'query']);

/** Returns the fields of `source` that are the same each time the same change is sent. */
export const identifyingSource = (source: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(source).filter(([name]) => !NOT_IDENTIFYING.has(name)));

/**
 * Returns where a change comes from. `integration` is the connector's own name if Carillon does not read the topic itself. Text: what
 * `source` lacks.
 */
export function readChangeSource(source: JsonObject, integration: string | null): ChangeSource | string {
  const owner = textOf(source['schema']) ?? textOf(source['db']);
  const table = textOf(source['table']) ?? textOf(source['collection']);
  if (owner === null || table === null) return 'the names of schema and table';
  const name = integration ?? textOf(source['name']);
  if (name === null) return 'its name';
  const at = commitTime(source);
  if (at === undefined) return 'a time';
  return { integration: name, table: `${owner}.${table}`, tx: transactionOf(source), position: positionOf(source), at };
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null);

const wholeOf = (value: Json | undefined): bigint | null =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value)) ? BigInt(value) : null;

/** Connectors before 2.6 have milliseconds only. */
function commitTime(source: JsonObject): string | undefined {
  const milliseconds = wholeOf(source['ts_ms']);
  const microseconds = wholeOf(source['ts_us']) ?? (milliseconds === null ? null : milliseconds * 1000n);
  const text = microseconds === null ? undefined : timestampText(microseconds, '1000000');
  if (text === undefined) return undefined;
  const [seconds = '', fraction = ''] = text.split('.');
  return `${seconds}.${fraction.padEnd(6, '0')}Z`;
}

/** The number of the transaction; MySQL has it behind the server's name. 0 if the connector names none. */
function transactionOf(source: JsonObject): number {
  const gtid = textOf(source['gtid'])?.split(':').at(-1);
  const number = [source['txId'], gtid, source['txnNumber']]
    .map(Number)
    .find((tx) => Number.isSafeInteger(tx) && tx > 0);
  return number ?? 0;
}

/** `0/1948580` of PostgreSQL, `binlog.000003:1545:0` of MySQL, `1696502096000:1` of MongoDB. */
function positionOf(source: JsonObject): string {
  const lsn = wholeOf(source['lsn']);
  if (lsn !== null) return lsnText(lsn);
  const { file, pos, row, ts_ms: time, ord } = source;
  const parts = typeof file === 'string' ? [file, pos, row] : [time, ord];
  return parts.flatMap((part) => textOf(part) ?? wholeOf(part)?.toString() ?? []).join(':');
}

const lsnText = (lsn: bigint): string => `${hex(lsn >> 32n)}/${hex(lsn & 0xff_ff_ff_ffn)}`;
const hex = (value: bigint): string => value.toString(16).toUpperCase();
