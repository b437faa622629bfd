import { createExpressionLanguage } from '@carillon/adapter-cel';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { planChanges, readConfigurationFolder, writeConfigurationFolder } from '@carillon/configuration';
import { templateOf } from '@carillon/domain/channels';
import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { EVENT_LIMITS, readEvent, readJson } from '@carillon/domain/events';
import { type Bindings, StepBudget } from '@carillon/domain/rules';
import { DEFAULT_LOCALITY, parseJson, stringifyJson, type JsonObject } from '@carillon/kernel';
import { judgeReading } from './json-refusals.ts';
import { leakIn } from './oracle.ts';
import type { FilesCase, JsonCase, RuleCase, TemplateCase } from './fuzz-case.ts';

/** Work of one case that keeps the thread from everything else: as long the product would answer nobody. */
export const MAX_THREAD_MS = 200;
const HEADER_LIMIT = 320;

/** What the product made of a case. A fault is what it should not have made of it. */
export type Outcome = { readonly outcome: 'taken' | 'refused'; readonly fault: string | null };
export type Check<C> = (input: C) => Outcome | Promise<Outcome>;

const taken = (fault: string | null): Outcome => ({ outcome: 'taken', fault });
const refused = (fault: string | null): Outcome => ({ outcome: 'refused', fault });

const languages = { generated: createExpressionLanguage(), closures: createExpressionLanguage({ generate: false }) };
const renderer = createTemplateRenderer();
const context = { language: languages.generated, templates: renderer, current: EMPTY_CONFIGURATION };
let rendered = 0;

/** Ends the threads that render. */
export const endChecks = (): Promise<void> => renderer.close();

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const first = (...faults: readonly (string | null)[]): string | null => faults.find((fault) => fault !== null) ?? null;

/** A name with an escape in it. */
const ESCAPED_NAME = /"[^"\\]*\\.(?:[^"\\]|\\.)*"\s*:/s;

/**
 * Whether JSON.parse reads it so. Names with escapes are left out: V8 takes one whose text begins like a name that an
 * object of the same shape had before for that name.
 */
const readsAs = (body: string, text: string): boolean =>
  ESCAPED_NAME.test(body) || stringifyJson(parseJson(body)) === text;

/** What is accepted is what every other reader of JSON would read, and reads again as the same. */
export const checkJson: Check<JsonCase> = ({ body }) => {
  const event = readEvent(bytes(body));
  const any = readJson(bytes(body), EVENT_LIMITS);
  if (!any.ok && event.ok) return taken('an event was accepted that is no JSON');
  const misread = first(
    judgeReading(bytes(body), EVENT_LIMITS, event.ok ? null : event.error.code),
    judgeReading(bytes(body), EVENT_LIMITS, any.ok ? null : any.error.code, true),
  );
  if (misread !== null) return { outcome: any.ok ? 'taken' : 'refused', fault: misread };
  for (const read of [event, any]) {
    if (read.ok) continue;
    const { code, detail, line, column } = read.error;
    if (code === undefined || detail === '') return refused('a refusal without a code or a word');
    if ((line ?? 1) < 1 || (column ?? 1) < 1) return refused(`a refusal at line ${line}, column ${column}`);
  }
  if (!any.ok) return refused(null);
  const text = stringifyJson(any.value);
  if (!readsAs(Buffer.from(bytes(body)).toString('utf8'), text)) {
    return taken('it was read otherwise than JSON.parse reads it');
  }
  const again = readJson(new TextEncoder().encode(text), EVENT_LIMITS);
  const same = again.ok && stringifyJson(again.value) === text;
  return taken(same ? null : 'what was read cannot be written and read again');
};

function eventOf(text: string): JsonObject {
  const read = readEvent(new TextEncoder().encode(text));
  return read.ok ? read.value.body : {};
}

const places = (faults: readonly { readonly line: number; readonly column: number; readonly message: string }[]) =>
  faults.length === 0 || faults.some((one) => !(one.line >= 1) || !(one.column >= 1) || one.message === '')
    ? `refused without a place or a word: ${JSON.stringify(faults)}`
    : null;

/** Refused with a place, or evaluated without a throw; the two ways to evaluate agree. */
export const checkRule: Check<RuleCase> = ({ source, place, event }) => {
  const compiled = languages.generated.compile(source, place);
  const other = languages.closures.compile(source, place);
  if (!compiled.ok) return refused(other.ok ? 'closures take what generated code refuses' : places(compiled.error));
  if (!other.ok) return taken('generated code takes what closures refuse');
  const body = eventOf(event);
  const bindings: Bindings = {
    event: body,
    event_id: 'evt_1',
    time: 1_769_846_400_000,
    item: body['items'] ?? null,
    variables: body,
  };
  const values = [compiled.value, other.value].map((expression) => {
    const result = expression.evaluate(bindings, new StepBudget());
    return result.ok ? stringifyJson(result.value) : `error: ${result.error}`;
  });
  for (const part of compiled.value.explain(bindings)) if (part.result.ok) stringifyJson(part.result.value);
  compiled.value.requirement();
  return taken(values[0] === values[1] ? null : `generated code gives ${values[0]}, closures give ${values[1]}`);
};

const MARK = '<i fuzz>';

/** Refused with a place, or rendered within the limits; no value starts a header or markup of its own. */
export const checkTemplate: Check<TemplateCase> = async ({ template: email, context: text }) => {
  const template = templateOf({ email }, 'email');
  if (!template) return refused(null);
  const faults = renderer.check(template);
  renderer.names(template);
  renderer.fields(template);
  if (faults.length > 0) return refused(places(faults));
  const data = { ...eventOf(text), name: MARK };
  const made = await renderer.render(`fuzz/${(rendered += 1)}`, template, data, DEFAULT_LOCALITY);
  if (!made.ok) return taken(made.message === '' ? 'a render failed without a word' : stackIn(made.message));
  const { subject = '', from, html } = made.parts;
  const markup = html?.includes(MARK) ? 'a value became markup' : null;
  return taken(first(controlIn('subject', subject), controlIn('from', from ?? ''), markup));
};

function controlIn(what: string, text: string): string | null {
  if (/[\x00-\x1f\x7f]/.test(text)) return `the ${what} has control characters`;
  return text.length > HEADER_LIMIT ? `the ${what} has ${text.length} characters` : null;
}

const stackIn = (text: string): string | null => leakIn(text, {});

/** Refused with places, or applied; what is exported then reads back as it was. */
export const checkFiles: Check<FilesCase> = ({ files }) => {
  const reading = readConfigurationFolder(new Map(Object.entries(files)), context);
  if (reading.faults.length > 0) {
    return refused(first(places(reading.faults), ...reading.faults.map(({ message }) => stackIn(message))));
  }
  let ids = 0;
  const newId = (kind: 'notification' | 'rule'): string =>
    `${kind === 'rule' ? 'rul' : 'ntf'}_${String((ids += 1)).padStart(26, '0')}`;
  const plan = planChanges(EMPTY_CONFIGURATION, reading.resources, {
    prune: false,
    newId,
    language: context.language,
    templates: context.templates,
  });
  if (plan.faults.length > 0) return refused(places(plan.faults.map(reading.faultAt)));
  const record = { changes: plan.record };
  const { configuration, voided } = foldConfiguration(EMPTY_CONFIGURATION, record, 0);
  if (voided.length > 0) return taken('the record of a plan is void');
  const exported = readConfigurationFolder(writeConfigurationFolder(configuration), context);
  if (exported.faults.length > 0) return taken(`the export has faults: ${JSON.stringify(exported.faults[0])}`);
  const again = planChanges(configuration, exported.resources, {
    prune: true,
    newId,
    language: context.language,
    templates: context.templates,
  });
  const [changed] = again.record;
  return taken(changed ? `applying the export changes ${JSON.stringify(changed).slice(0, 500)}` : null);
};

/** Runs a check; a throw and a thread that was held too long are faults. Slow once may be chance: it is done again. */
export async function runCheck<C>(check: Check<C>, input: C): Promise<Outcome> {
  let held = 0;
  let outcome: Outcome = taken(null);
  for (let time = 1; time <= 3; time += 1) {
    try {
      const before = process.threadCpuUsage();
      const checked = check(input);
      const used = process.threadCpuUsage(before);
      held = (used.user + used.system) / 1000;
      outcome = await checked;
    } catch (error) {
      return taken(`it threw ${error instanceof Error ? error.stack : String(error)}`);
    }
    if (outcome.fault !== null || held < MAX_THREAD_MS) return outcome;
  }
  return { ...outcome, fault: `it held the thread for ${Math.round(held)} ms, three times in a row` };
}
