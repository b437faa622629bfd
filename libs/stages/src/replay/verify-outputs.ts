import type { OutputKind } from '@carillon/domain/runs';
import { stringifyJson, type Json, type JsonObject } from '@carillon/kernel';
import type { EvaluationOutput, Ids } from '@carillon/ports';
import { textOfVariables } from './message-content.ts';

/** An output that comes from an event. */
export type EventOutput = Extract<EvaluationOutput, { readonly kind: OutputKind }>;

/** An output without its content, as a scratch file keeps it. It holds hashes, ids and positions, and no personal data. */
export type OutputEntry = {
  readonly kind: OutputKind;
  readonly id: string;
  /** Keyed hash. Equal for outputs that are meant to be the same one, although an address or another field may differ. */
  readonly key: string;
  /** Keyed hash of all fields. */
  readonly content: string;
  /** Position of the event, as text `topic/partition@offset`. */
  readonly eventPosition: string;
};

/** An output that stands on the log. */
export type FoundOutput = OutputEntry & {
  /** Its own position. */
  readonly position: string;
};

/** An output that an event or a recorded answer gives. */
export type ExpectedOutput = OutputEntry & { readonly output: EventOutput };

/** Returns the intent or the trigger of an output. */
export const factsOf = (output: EventOutput) => (output.kind === 'intent' ? output.intent : output.trigger);
export const workspaceOf = (output: EventOutput): string =>
  output.kind === 'intent' ? output.intent.slot.workspace : output.trigger.workspace;
export const ruleOf = (output: EventOutput): string => factsOf(output).rule;
export const eventIdOf = (output: EventOutput) => factsOf(output).eventId;
export const eventPositionOf = (output: EventOutput): string => factsOf(output).eventPosition;

/** Returns true for outputs that no event alone gives: test sends, and what a job sends. */
export const isNotFromEvent = (output: EventOutput): boolean =>
  factsOf(output).sentBy !== undefined || (output.kind === 'intent' && output.intent.test !== undefined);

/** Returns an output without its content. */
export const entryOf = (output: EventOutput, ids: Pick<Ids, 'keyed'>): OutputEntry => ({
  kind: output.kind,
  id: factsOf(output).id,
  key: ids.keyed('verify', ...partsOfKey(output)),
  content: ids.keyed('verify content', JSON.stringify(fieldsOf(output))),
  eventPosition: eventPositionOf(output),
});

function partsOfKey(output: EventOutput): readonly string[] {
  if (output.kind === 'trigger') return [output.kind, output.trigger.id];
  const { triggerId, slot } = output.intent;
  return [output.kind, triggerId, slot.channel, slot.notificationId, slot.uniqueId];
}

/** Fields that explain others come first, because a finding names the first field that differs. */
const FIRST_FIELDS = ['config_number', 'rule_version', 'to', 'person', 'user_ids', 'variables', 'event', 'template'];

type Field = readonly [name: string, text: string];

/** Returns the fields of an output by their names in the record's schema, each as text. */
function fieldsOf(output: EventOutput): readonly Field[] {
  const whole = factsOf(output) as unknown as Readonly<Record<string, unknown>>;
  const rankOf = (name: string): number =>
    FIRST_FIELDS.includes(name) ? FIRST_FIELDS.indexOf(name) : FIRST_FIELDS.length;
  return Object.entries(whole)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): Field => [snakeCase(name), textOf(value as Json)])
    .toSorted(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const textOf = (value: Json): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? textOfVariables(value as JsonObject)
    : stringifyJson({ value });

/** Returns the name of the first field in which two outputs differ. Null if they are alike. */
export function firstDifference(expected: EventOutput, found: EventOutput): string | null {
  const [left, right] = [new Map(fieldsOf(expected)), new Map(fieldsOf(found))];
  // The id is made of other fields, so a difference in one of them says more.
  const names = [...new Set([...left.keys(), ...right.keys()])].filter((name) => name !== 'id');
  return names.find((name) => left.get(name) !== right.get(name)) ?? (left.get('id') === right.get('id') ? null : 'id');
}

/** How the outputs of an event compare with those on the log. */
export type OutputMatch<Found extends FoundOutput> = {
  /** Each output on the log that has its counterpart, with all its copies. */
  readonly compared: readonly Found[];
  readonly different: readonly { readonly expected: ExpectedOutput; readonly found: Found }[];
  readonly missing: readonly ExpectedOutput[];
  /** Copies with other content than a right copy. They stay to be compared, because another record of an answer may give them. */
  readonly besideRight: readonly { readonly copy: Found; readonly right: Found }[];
};

/**
 * Compares outputs that an event gives with those found on the log. One output may be found several times, because a batch that was
 * interrupted is evaluated again. Outputs of one key with other ids, such as another address, are compared in pairs.
 */
export function matchOutputs<Found extends FoundOutput>(
  expected: readonly ExpectedOutput[],
  found: readonly Found[],
): OutputMatch<Found> {
  const compared: Found[] = [];
  const different: { readonly expected: ExpectedOutput; readonly found: Found }[] = [];
  const missing: ExpectedOutput[] = [];
  const free = new Set(found);
  const take = (fits: (entry: Found) => boolean): readonly Found[] => {
    const taken = found.filter((entry) => free.has(entry) && fits(entry));
    for (const entry of taken) free.delete(entry);
    compared.push(...taken);
    return taken;
  };
  const isSame = (a: OutputEntry, b: OutputEntry): boolean => a.kind === b.kind && a.key === b.key && a.id === b.id;
  const rights: Found[] = [];
  const unequal = expected.filter((output) => {
    const [right] = take((entry) => isSame(entry, output) && entry.content === output.content);
    if (right) rights.push(right);
    return !right;
  });
  for (const output of unequal) {
    const [byId] = take((entry) => isSame(entry, output));
    const other =
      byId ?? found.find((entry) => free.has(entry) && entry.kind === output.kind && entry.key === output.key);
    if (!other) missing.push(output);
    else {
      take((entry) => isSame(entry, other));
      different.push({ expected: output, found: other });
    }
  }
  const besideRight = [...free].flatMap((copy) => {
    const right = rights.find((entry) => isSame(entry, copy));
    return right ? [{ copy, right }] : [];
  });
  return { compared, different, missing, besideRight };
}
