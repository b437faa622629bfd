import { isJsonObject, parseJson, stringifyJson, type Json } from '@carillon/kernel';
import { UsageError } from '../failure.ts';

/** A line of a file of events, as the management API takes it. */
export type EventLine = {
  readonly line: number;
  readonly event: {
    readonly at?: string;
    readonly event?: string;
    readonly event_id?: string;
    readonly op?: string;
    readonly previous?: string;
  };
};

const TEXTS = ['at', 'event_id', 'op'] as const;
/** Values that are sent as JSON text. */
const BODIES = ['event', 'previous'] as const;
const FORM = '{"at": "+20m", "event": {…}}, with event_id in place of event for one on the log';

/** Reads events, one a line. Empty lines are left out. Throws UsageError with the line. */
export function readEventLines(text: string, file: string): readonly EventLine[] {
  const lines = text.split('\n').flatMap((written, at): EventLine[] => {
    if (written.trim() === '') return [];
    return [{ line: at + 1, event: readLine(written, `${file}, line ${at + 1}`) }];
  });
  if (lines.length === 0) throw new UsageError(`${file} has no events. Write one a line: ${FORM}`);
  return lines;
}

function readLine(written: string, place: string): EventLine['event'] {
  const value = parsed(written, place);
  if (!isJsonObject(value)) throw new UsageError(`${place}: write ${FORM}`);
  const known: readonly string[] = [...TEXTS, ...BODIES];
  const stray = Object.keys(value).find((name) => !known.includes(name));
  if (stray !== undefined) throw new UsageError(`${place}: there is no ${stray}. Write ${FORM}`);
  const texts = TEXTS.flatMap((name): [string, string][] => {
    const item = value[name];
    if (item === undefined) return [];
    if (typeof item !== 'string') throw new UsageError(`${place}: ${name} has to be text`);
    return [[name, item]];
  });
  const bodies = BODIES.flatMap((name): [string, string][] => {
    const item = value[name];
    return item === undefined ? [] : [[name, stringifyJson(item)]];
  });
  return Object.fromEntries([...texts, ...bodies]);
}

function parsed(written: string, place: string): Json {
  try {
    return parseJson(written);
  } catch {
    throw new UsageError(`${place} is not JSON. Write ${FORM}, each on a line of its own`);
  }
}
