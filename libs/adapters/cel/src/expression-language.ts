import type { JsonType } from '@carillon/domain/events';
import {
  type Bindings,
  type Evaluated,
  type Expression,
  type ExpressionFault,
  type ExpressionPlace,
  StepBudget,
} from '@carillon/domain/rules';
import { err, ok, type Json, type Result } from '@carillon/kernel';
import type { ExpressionLanguage } from '@carillon/ports';
import { largeSteps, turnCost } from './compiler/cost.ts';
import type { Part } from './compiler/explanation.ts';
import { partsToExplain } from './compiler/explanation.ts';
import { faultAt } from './compiler/faults.ts';
import { formOf } from './compiler/form.ts';
import { changeForm } from './compiler/form-change.ts';
import { mayGenerate } from './compiler/generation.ts';
import type { Names, Parser } from './compiler/parser.ts';
import { createParser } from './compiler/parser.ts';
import type { Plan } from './compiler/plan.ts';
import { compilePlan, prepare } from './compiler/preparation.ts';
import type { Frame, Run } from './compiler/program.ts';
import { fieldReferences, isFieldPath, mentions } from './compiler/references.ts';
import { requirementOf } from './compiler/requirements.ts';
import { frameWithUnknown, unknownReasonOf } from './runtime/changes.ts';
import { Meter, TOO_COMPLEX } from './runtime/meter.ts';
import { toJson } from './runtime/output.ts';
import { instantToTimestamp } from './runtime/time.ts';
import { CelError } from './runtime/values.ts';

const EVENT = [
  ['event', 'map<string, dyn>'],
  ['event_id', 'string'],
  ['time', 'google.protobuf.Timestamp'],
  ['previous', 'map<string, dyn>'],
  ['op', 'string'],
  ['source', 'map<string, dyn>'],
] as const;
const ITEM = ['item', 'dyn'] as const;
const VARIABLES = ['variables', 'map<string, dyn>'] as const;

const DEADLINE = ['deadline', 'google.protobuf.Timestamp'] as const;
const TOTALS = ['totals', 'map<string, dyn>'] as const;
const FIRED = [...EVENT, DEADLINE, TOTALS] as const;

const NAMES: Readonly<Record<ExpressionPlace, Names>> = {
  when: new Map<string, string>([...EVENT, TOTALS]),
  unless: new Map<string, string>([...EVENT, TOTALS]),
  at: new Map(EVENT),
  for_each: new Map<string, string>(FIRED),
  recipient: new Map<string, string>([...FIRED, ITEM]),
  where: new Map<string, string>([...FIRED, ITEM, VARIABLES]),
  path: new Map([EVENT[0]]),
  user_ids: new Map<string, string>(FIRED),
  answer: new Map<string, string>([...FIRED, VARIABLES]),
  digest_key: new Map<string, string>([...FIRED, ITEM, VARIABLES]),
  total_condition: new Map(EVENT),
  total_sum: new Map(EVENT),
  total_distinct: new Map(EVENT),
};

/** Required result types per context, with the fix for other types. `name`: what the message calls the expression. */
const WANTED: Partial<
  Record<
    ExpressionPlace,
    { readonly type: RegExp; readonly what: string; readonly fix: string; readonly name?: string }
  >
> = {
  when: { type: /^(bool|dyn)$/, what: 'true or false', fix: 'compare it with something, as in `event.total > 100`' },
  unless: {
    type: /^(bool|dyn)$/,
    what: 'true or false',
    fix: 'compare it with something, as in `event.type == "paid"`',
  },
  at: {
    type: /^(google\.protobuf\.Timestamp|string|null|dyn)\b/,
    what: 'a time',
    fix: 'name a time of the event, as in `timestamp(event.starts_at) - duration("24h")`',
  },
  where: {
    type: /^(bool|dyn)$/,
    what: 'true or false',
    fix: 'compare it with something, as in `variables.wants == true`',
  },
  user_ids: {
    type: /^(string|int|uint|double|list|dyn)\b/,
    what: 'a text, a number or a list of these',
    fix: 'name ids of the event, as in `event.user_id` or `event.watchers`',
  },
  // A timestamp and a duration come out as text.
  digest_key: {
    type: /^(?!(?:bool|null|list|map)\b)/,
    what: 'a text or a number',
    fix: 'name what the messages of one digest have in common, as in `event.project`',
  },
  total_condition: {
    type: /^(bool|dyn)$/,
    name: 'the condition of a total',
    what: 'true or false',
    fix: 'compare it with something, as in `event.result == "failed"`',
  },
  total_sum: {
    type: /^(int|uint|double|dyn)$/,
    name: 'sum',
    what: 'a number',
    fix: 'name a number of the event, as in `event.amount`',
  },
  total_distinct: {
    type: /^(?!(?:list|map)\b)/,
    name: 'distinct',
    what: 'a text, a number, true or false',
    fix: 'name a value of the event, as in `event.country`',
  },
  for_each: { type: /^(list|dyn)\b/, what: 'a list', fix: 'name a list of the event, as in `event.items`' },
};

export type LanguageOptions = {
  /** Left out, code is generated where the process allows it. */
  readonly generate?: boolean;
};

/** CEL as docs/expressions.md describes it: checked when saved, run as generated code, or as closures where that is forbidden. */
export function createExpressionLanguage(options: LanguageOptions = {}): ExpressionLanguage {
  const generate = options.generate ?? mayGenerate();
  const parsers = new Map<ExpressionPlace, Parser>();
  const parserOf = (place: ExpressionPlace): Parser => {
    const parser = parsers.get(place) ?? createParser(NAMES[place]);
    parsers.set(place, parser);
    return parser;
  };
  const planText = (source: string, place: ExpressionPlace): Result<Plan, readonly ExpressionFault[]> => {
    const prepared = prepare(parserOf(place), source);
    return prepared.ok ? ok(prepared.value.plan) : prepared;
  };
  return {
    change: (source, place, change) => {
      try {
        return changeForm(source, change, (text) => planText(text, place));
      } catch {
        return err([tooComplex(source)]);
      }
    },
    compile: (source, place) => {
      try {
        const prepared = prepare(parserOf(place), source);
        if (!prepared.ok) return prepared;
        const { plan, type } = prepared.value;
        const misplaced = checkPlace(source, place, plan, type);
        return misplaced ? err([misplaced]) : ok(makeExpression(source, place, plan, generate));
      } catch {
        return err([tooComplex(source)]);
      }
    },
  };
}

const tooComplex = (source: string): ExpressionFault =>
  faultAt(source, 0, 'the expression is too complex', 'split it into several rules or variables');

function checkPlace(source: string, place: ExpressionPlace, plan: Plan, type: string): ExpressionFault | null {
  if (place === 'path' && !isFieldPath(plan)) {
    return faultAt(
      source,
      plan.start,
      'only a path of the event is allowed here',
      'write `event.name` or `event.order.id`',
    );
  }
  const wanted = WANTED[place];
  if (!wanted || wanted.type.test(type)) return null;
  return faultAt(
    source,
    plan.start,
    `${wanted.name ?? place} must be ${wanted.what}; this is ${shown(type)}`,
    wanted.fix,
  );
}

const shown = (type: string): string => type.replaceAll('google.protobuf.', '').toLowerCase();

/** What a field is that is the whole expression. */
const WHOLE: Partial<Record<ExpressionPlace, JsonType>> = {
  when: 'boolean',
  unless: 'boolean',
  where: 'boolean',
  for_each: 'array',
  total_condition: 'boolean',
  total_sum: 'number',
};

function makeExpression(source: string, place: ExpressionPlace, plan: Plan, generate: boolean): Expression {
  const run = compilePlan(plan, generate);
  const steps = turnCost(plan);
  const meter = new Meter();
  const usesTime = mentions(plan, 'time');
  const usesDeadline = mentions(plan, 'deadline');
  const frameOf = (bindings: Bindings): Frame => {
    const frame = bindings.unknown === undefined ? bindings : frameWithUnknown(bindings, bindings.unknown);
    if (!usesTime && !usesDeadline) return frame;
    const { time, deadline } = bindings;
    return {
      ...frame,
      time: instantToTimestamp(time),
      ...(deadline !== undefined && { deadline: instantToTimestamp(deadline) }),
    };
  };
  let parts: readonly Part[] | null = null;
  const explained = (): readonly Part[] => (parts ??= partsToExplain(source, plan));
  return {
    source,
    fields: fieldReferences(plan, WHOLE[place] ?? null),
    usesItem: mentions(plan, 'item'),
    largeSteps: largeSteps(plan),
    evaluate: (bindings, budget) => evaluateRun(run, steps, frameOf(bindings), meter, budget),
    parts: () => explained().map(({ start, end, depth }) => ({ start, end, depth })),
    form: () => formOf(source, plan),
    explain: (bindings) => {
      const frame = frameOf(bindings);
      const [forWhole, forParts] = [new StepBudget(), new StepBudget()];
      return explained().map(({ source: text, depth, run: runPart, steps: ofPart }, index) => {
        const result = evaluateRun(runPart, ofPart, frame, meter, index === 0 ? forWhole : forParts);
        return { source: text, depth, result };
      });
    },
    requirement: () => requirementOf(plan),
  };
}

const TRUE: Evaluated = Object.freeze({ ok: true, value: true });
const FALSE: Evaluated = Object.freeze({ ok: true, value: false });
const REFUSED: Evaluated = Object.freeze({ ok: false, error: TOO_COMPLEX.text });

/** A refused step refuses the whole, whatever an `||` made of the error. `steps`: what every evaluation takes. */
function evaluateRun(run: Run, steps: number, frame: Frame, meter: Meter, budget: StepBudget): Evaluated {
  meter.open(budget);
  let answer: Evaluated = REFUSED;
  try {
    if (meter.spend(steps)) {
      const made = run(frame, meter);
      // Shortcut for booleans, the usual result of conditions.
      if ((made === true || made === false) && meter.left >= 0) {
        budget.left = meter.left;
        return made ? TRUE : FALSE;
      }
      answer = toEvaluated(meter, made === true || made === false ? made : toJson(meter, made));
    }
  } catch {
    meter.refuse();
    answer = REFUSED;
  }
  meter.close(budget);
  return answer;
}

function toEvaluated(meter: Meter, value: Json | CelError): Evaluated {
  if (meter.left < 0) return REFUSED;
  if (!(value instanceof CelError)) return { ok: true, value };
  const reason = unknownReasonOf(value);
  return { ok: false, error: value.text, ...(reason !== undefined && { reason }) };
}
