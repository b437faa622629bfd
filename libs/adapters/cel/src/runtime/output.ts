import type { Json, JsonObject } from '@carillon/kernel';
import { mapKeyOf } from './comparison.ts';
import type { Meter } from './meter.ts';
import { TOO_COMPLEX } from './meter.ts';
import { LIST_ELEMENT, OBJECT_KEY, TIME_TO_TEXT } from './prices.ts';
import { writeSpan, writeTimestamp } from './time.ts';
import type { Value } from './values.ts';
import { CelError, CelMap, CelValue, isList, Optional, Span, Timestamp, TypeValue, Uint } from './values.ts';

const integer = (value: bigint): Json => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

/** A field of the result may have any name; without a prototype it is only a field. */
const emptyObject = (): Record<string, Json> => Object.create(null) as Record<string, Json>;

const isJson = (value: Value): value is JsonObject => !(value instanceof CelValue) && !(value instanceof Uint8Array);

/**
 * JSON of a value: integers as numbers while those are exact, times and durations as text, bytes as base64, an empty
 * optional as null. A CelError where there is none, as for the double NaN.
 */
export function toJson(meter: Meter, value: Value): Json | CelError {
  if (!meter.spend(1)) return TOO_COMPLEX;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : new CelError(`the result is ${value}, not a finite number`);
  }
  if (typeof value === 'bigint') return integer(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return listToJson(meter, value);
  return isJson(value) ? value : specialToJson(meter, value);
}

/** Objects of the event are JSON already, and their lists inside too: only the outermost lists may be ours. */
function listToJson(meter: Meter, list: readonly Value[]): Json | CelError {
  const items: Json[] = [];
  for (const item of list) {
    const json = meter.spend(LIST_ELEMENT) ? toJson(meter, item) : TOO_COMPLEX;
    if (json instanceof CelError) return json;
    items.push(json);
  }
  return items;
}

function specialToJson(meter: Meter, value: CelValue | Uint8Array): Json | CelError {
  if (value instanceof CelError) return value;
  if (value instanceof Uint8Array)
    return meter.text(value.length) ? Buffer.from(value).toString('base64') : TOO_COMPLEX;
  if (value instanceof Uint) return integer(value.whole);
  if (value instanceof Timestamp) return meter.spend(TIME_TO_TEXT) ? writeTimestamp(value) : TOO_COMPLEX;
  if (value instanceof Span) return meter.spend(TIME_TO_TEXT) ? writeSpan(value) : TOO_COMPLEX;
  if (value instanceof Optional) return value.held === undefined ? null : toJson(meter, value.held);
  if (value instanceof TypeValue) return value.typeName;
  return value instanceof CelMap ? mapToJson(meter, value) : new CelError('the result cannot be written as JSON');
}

function mapToJson(meter: Meter, map: CelMap): Json | CelError {
  const object = emptyObject();
  for (const { key, value } of map.pairs.values()) {
    const json = meter.spend(OBJECT_KEY) ? toJson(meter, value) : TOO_COMPLEX;
    if (json instanceof CelError) return json;
    object[String(mapKeyOf(key))] = json;
  }
  return object;
}
