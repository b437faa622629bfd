import { NO_PREVIOUS, unknownText, type UnknownReason, type UnknownValues } from '@carillon/domain/changes';
import type { Bindings } from '@carillon/domain/rules';
import type { JsonObject } from '@carillon/kernel';
import type { Frame } from '../compiler/program.ts';
import { equal, lookup } from './comparison.ts';
import type { Meter } from './meter.ts';
import { CelError, isObject, type Value } from './values.ts';

/** The value of a field that the database did not send. */
class FieldUnknown extends CelError {}
/** The row before, if the database did not send it. */
class BeforeUnknown extends CelError {}

/** Returns why a value is unknown. Undefined for any other error. */
export function unknownReasonOf(error: CelError): UnknownReason | undefined {
  if (error instanceof FieldUnknown) return 'field_unknown';
  return error instanceof BeforeUnknown ? 'before_unknown' : undefined;
}

type Rows = Pick<Frame, 'event' | 'previous' | 'whole_event' | 'whole_previous'>;

/** Rows with their unknown values, once per change. */
const rowsByChange = new WeakMap<UnknownValues, Rows>();

/**
 * Returns the frame of a change of which something is unknown. Its rows hold errors in the place of unknown values, so that
 * reading one is an error. `whole_event` and `whole_previous` stand for a row that is used as a whole.
 */
export function frameWithUnknown(bindings: Bindings, unknown: UnknownValues): Frame {
  let rows = rowsByChange.get(unknown);
  if (!rows) {
    const event = rowWithUnknown(bindings.event as JsonObject, unknown);
    const previous = bindings.previous
      ? rowWithUnknown(bindings.previous, unknown)
      : both(new BeforeUnknown(unknownText('before_unknown', '', unknown)));
    rows = {
      event: event.row,
      previous: previous.row,
      whole_event: event.whole,
      whole_previous: previous.whole,
    };
    rowsByChange.set(unknown, rows);
  }
  const { unknown: _, ...known } = bindings;
  return { ...known, ...rows };
}

type Row = { readonly row: Value; readonly whole: Value };
const both = (value: Value): Row => ({ row: value, whole: value });

function rowWithUnknown(row: JsonObject, unknown: UnknownValues): Row {
  const names = unknown.fields.filter((name) => !Object.hasOwn(row, name));
  if (names.length === 0) return both(row);
  const errors = names.map((name) => new FieldUnknown(unknownText('field_unknown', name, unknown)));
  const marked = Object.create(null) as Record<string, unknown>;
  Object.assign(marked, row);
  for (const [at, name] of names.entries()) marked[name] = errors[at];
  // The only object of JSON with values of ours: what reads a field of it gets an error, and nothing reads it whole.
  return { row: marked as JsonObject, whole: errors[0] ?? null };
}

const NO_CHANGE = new CelError('changed works only for database changes and on streams with a key');

/** `changed(event.f)`: whether the values of a path in `event` and `previous` differ, or one of them is missing. */
export function changed(meter: Meter, frame: Frame, path: readonly string[]): Value {
  if (!hasBefore(frame)) return withoutBefore(frame);
  const before = valueAt(frame['previous'], path);
  if (before instanceof CelError) return before;
  return differs(meter, before, valueAt(frame['event'], path));
}

/** `changedTo(event.f, to)` */
export function changedTo(meter: Meter, frame: Frame, path: readonly string[], to: Value): Value {
  if (!hasBefore(frame)) return withoutBefore(frame);
  const before = valueAt(frame['previous'], path);
  if (before instanceof CelError) return before;
  const now = valueAt(frame['event'], path);
  const reached = now === undefined ? false : equal(meter, now, to);
  return reached === true ? differs(meter, before, now) : reached;
}

/** `changedFromTo(event.f, from, to)` */
export function changedFromTo(meter: Meter, frame: Frame, path: readonly string[], from: Value, to: Value): Value {
  const reached = changedTo(meter, frame, path, to);
  const before = reached === true ? valueAt(frame['previous'], path) : undefined;
  return before === undefined ? (reached === true ? false : reached) : equal(meter, before, from);
}

/** Only an update has a row before that may differ. The first event of an entity has no event before. */
const hasBefore = ({ op, previous }: Frame): boolean =>
  op === undefined ? previous !== undefined && previous !== NO_PREVIOUS : op === 'update';

/** Creates and snapshots have no row before; of a delete both rows are the deleted one. */
const withoutBefore = ({ op, previous }: Frame): Value =>
  op === undefined && previous === undefined ? NO_CHANGE : false;

function differs(meter: Meter, before: Value | undefined, now: Value | undefined): Value {
  if (now instanceof CelError) return now;
  if (before === undefined || now === undefined) return before !== now;
  const same = equal(meter, before, now);
  return same instanceof CelError ? same : !same;
}

/** Undefined: the path leads nowhere. */
function valueAt(row: Value | undefined, path: readonly string[]): Value | undefined {
  let value = row;
  for (const name of path) {
    if (value instanceof CelError || value === undefined) return value;
    value = isObject(value) ? lookup(value, name) : undefined;
  }
  return value;
}
