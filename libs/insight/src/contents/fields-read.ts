import { channelsOf } from '@carillon/domain/channels';
import { ruleTitle, streamTable, type Configuration } from '@carillon/domain/configuration';
import { pathText, type FieldStep, type JsonType, jsonTypeOf } from '@carillon/domain/events';
import type { CompiledRule } from '@carillon/domain/rules';
import { findTemplates } from '@carillon/domain/templates';
import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';
import type { TemplateRenderer } from '@carillon/ports';
import type { RuleBook } from '@carillon/stages';
import { minimumFields, streamFields, type TemplateNeeds } from '../sample/minimum-fields.ts';
import type { ReadField } from './marked-json.ts';

/** A field of an event that its stream, a rule or a template reads. */
export type FieldRead = ReadField & {
  readonly path: string;
  /** False: the event has no such field. */
  readonly isThere: boolean;
};

export type FieldsRead = {
  readonly fields: readonly FieldRead[];
  /** Readers of the whole event, for which every field may matter. */
  readonly whole: readonly string[];
};

export type FieldsReadPorts = {
  readonly book: RuleBook;
  readonly templates: Pick<TemplateRenderer, 'fields' | 'names'>;
};

/**
 * Returns the fields of an event that are read under a configuration: by its stream, by the rules of the stream, and by
 * their templates.
 */
export function fieldsRead(
  body: JsonObject,
  stream: string,
  configuration: Configuration,
  { book, templates }: FieldsReadPorts,
): FieldsRead {
  const found = new Map<string, { readonly steps: readonly FieldStep[]; readonly readBy: Set<string> }>();
  const add = (steps: readonly FieldStep[], readBy: string): void => {
    const path = pathText(steps);
    const known = found.get(path) ?? { steps, readBy: new Set() };
    known.readBy.add(readBy);
    found.set(path, known);
  };
  const whole: string[] = [];
  const own = streamTable(configuration).streams.get(stream);
  for (const { steps, by } of streamFields(own)) add(steps, `stream ${by}`);
  // Names from a partner's answer have priority over unknown names.
  const names = new Map<string, readonly JsonType[]>(
    Object.entries(body).map(([name, value]) => [pathText([name]), [jsonTypeOf(value)]]),
  );
  for (const entry of book.rulesOf(configuration, stream)) {
    if (!entry.ok) continue;
    const title = ruleTitle(entry.placed);
    const needs = templateNeeds(entry.rule, configuration, templates);
    const read = minimumFields(entry.rule, undefined, needs, names);
    for (const { steps, usedBy } of read.fields) for (const by of usedBy) add(steps, `${title} ${by}`);
    whole.push(...read.whole.map((by) => `${title} ${by}`));
  }
  const fields = [...found].map(([path, { steps, readBy }]) => ({
    path,
    steps,
    readBy: [...readBy],
    isThere: holds(body, steps),
  }));
  return { fields, whole };
}

function templateNeeds(
  { placed: { notification, workspace } }: CompiledRule,
  configuration: Configuration,
  templates: FieldsReadPorts['templates'],
): readonly TemplateNeeds[] {
  return channelsOf(notification.body).flatMap(([channel, said]) => {
    const { variants = [] } = findTemplates(configuration, workspace, said.template, channel) ?? {};
    return variants.map(({ template }) => ({ fields: templates.fields(template), all: templates.names(template).all }));
  });
}

/** Whether there is a value at a path; of a list, in one of its elements. */
function holds(value: Json, [step, ...rest]: readonly FieldStep[]): boolean {
  if (step === undefined) return true;
  if (typeof step === 'string') {
    return isJsonObject(value) && Object.hasOwn(value, step) && holds(value[step] ?? null, rest);
  }
  if (!Array.isArray(value)) return false;
  const items = value as readonly Json[];
  return step === null
    ? items.some((item) => holds(item, rest))
    : step < items.length && holds(items[step] ?? null, rest);
}
