import { CHANNEL_NAMES, CHANNELS } from '@carillon/domain/channels';
import { stepsOf } from '@carillon/domain/events';
import { isJsonObject, stringifyJson, type Json, type JsonObject } from '@carillon/kernel';
import type { EventRow } from '@carillon/ports';
import { readSourceRecord } from '@carillon/stages';
import { summarizeChange, type ChangeSummary } from './changed-fields.ts';
import { valueAt } from './event-shape.ts';
import { recordsOf, type NewestEventsPorts } from './newest-events.ts';

/** Values of an event that are looked at, and how deep. */
const MAX_VALUES = 200;
const MAX_DEPTH = 5;
/** Characters of one value in a label. */
const MAX_VALUE_LENGTH = 40;
/** First fields in the label of an event that has neither a key nor an address. */
const FIRST_FIELDS = 3;

type Leaf = { readonly name: string; readonly value: Exclude<Json, object> };

/** The values of an event that are no lists and objects, in the order in which they were written. */
function leavesOf(body: JsonObject): readonly Leaf[] {
  const leaves: Leaf[] = [];
  let left = MAX_VALUES;
  function visit(name: string, value: Json, depth: number): void {
    left -= 1;
    if (left < 0 || depth > MAX_DEPTH || value === null) return;
    if (isJsonObject(value)) {
      for (const [key, inner] of Object.entries(value)) visit(key, inner, depth + 1);
    } else if (Array.isArray(value)) for (const inner of value as readonly Json[]) visit(name, inner, depth + 1);
    else leaves.push({ name, value: value as Leaf['value'] });
  }
  visit('', body, 0);
  return leaves;
}

/** `order_id`, `id`, `orderId`, `number`: the names under which events carry what they are about. */
const isNumberOfSomething = (name: string): boolean => /(?:^|_)(?:id|no|number|ref|reference)$|[a-z]Id$/.test(name);
const isAddress = ({ value }: Leaf): boolean =>
  typeof value === 'string' && CHANNEL_NAMES.some((channel) => addressOf(channel, value) !== null);
const addressOf = (channel: (typeof CHANNEL_NAMES)[number], value: string): string | null => {
  const { looksLike, canonical } = CHANNELS[channel].address;
  return looksLike(value) ? canonical(value) : null;
};

/** A value in one line, without characters that are not seen or turn the text around them. */
function shown(value: Json): string {
  const text = typeof value === 'string' ? value : stringifyJson(value);
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return line.length > MAX_VALUE_LENGTH ? `${line.slice(0, MAX_VALUE_LENGTH)}…` : line;
}

/**
 * Returns the label of an event in a list: the value of its stream's key, else its first id, with the first address. If it has
 * neither, the label is its first fields. `key` is the path of the stream's key.
 */
export function eventLabel(body: JsonObject, key: string | null): string {
  const steps = key === null ? null : stepsOf(key);
  const keyed = steps ? valueAt(body, steps) : undefined;
  const leaves = leavesOf(body);
  const id = keyed ?? leaves.find(({ name }) => isNumberOfSomething(name))?.value;
  const address = leaves.find(isAddress)?.value;
  const told = [id, address].flatMap((value) => (value === undefined || value === null ? [] : [shown(value)]));
  if (told.length > 0) return [...new Set(told)].join(' · ');
  return leaves
    .slice(0, FIRST_FIELDS)
    .map(({ name, value }) => `${shown(name)}: ${shown(value)}`)
    .join(' · ');
}

/** Summary of an event's content for lists. `change` is null for an event that is no change. */
export type EventFacts = { readonly label: string; readonly change: ChangeSummary | null };

/** Reads labels and changes of these events from the log, by partition and offset. An event that has left the log has none. */
export async function factsOfEvents(
  rows: readonly EventRow[],
  keyOf: (stream: string) => string | null,
  { log }: Pick<NewestEventsPorts, 'log'>,
): Promise<ReadonlyMap<string, EventFacts>> {
  const records = await recordsOf(rows, log);
  const facts = new Map<string, EventFacts>();
  for (const { partition, offset, stream } of rows) {
    const record = records.get(`${partition}@${offset}`);
    const read = record && readSourceRecord(record, log.logId);
    if (!read?.ok || read.value.kind !== 'event') continue;
    const { body, change } = read.value.event;
    facts.set(`${partition}@${offset}`, {
      label: eventLabel(body, keyOf(stream)),
      change: change && summarizeChange(change),
    });
  }
  return facts;
}
