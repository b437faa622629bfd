import type { Change } from '@carillon/domain/changes';
import { ruleTitle, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import { bindingsOf } from '@carillon/domain/rules';
import type { EventRow } from '@carillon/ports';
import type { EvaluatedRule } from '@carillon/stages';
import { conditionLines, dropLines } from './explained-lines.ts';
import { traceTrigger } from './lookups.ts';
import { newerVersionLines } from './rule-versions.ts';
import { listItems, namedPeople, type NamedPerson } from './people.ts';
import { step, type TraceStep } from './steps.ts';
import type { TracePorts } from './trace-ports.ts';

/** Steps of a rule at an event, with its recipients and intents. */
export type RuleStory = {
  readonly steps: readonly TraceStep[];
  readonly people: readonly NamedPerson[];
  readonly intents: readonly Intent[];
};

/** Time and configuration of an evaluation. */
export type EvaluatedAt = Pick<EventRow, 'at' | 'configNumber'>;

/** Explains the result of an evaluated rule. */
export async function traceRule(
  evaluated: EvaluatedRule,
  event: SourceEvent,
  row: EvaluatedAt,
  configuration: Configuration,
  ports: TracePorts,
): Promise<RuleStory> {
  const { outcome, placed, triggers } = evaluated;
  const found = ports.book.rulesOf(configuration, event.stream).find((each) => each.ok && each.placed === placed);
  const rule = found?.ok ? found.rule : null;
  const bindings = bindingsOf(event);
  if (ports.slice.isExpired()) await ports.slice.yield();
  const hasFired = outcome.kind === 'fired' || outcome.kind === 'asks';
  const isSkipped = outcome.kind === 'not_fired' && outcome.because !== undefined;
  // Values of a change are shown even if the rule fired.
  const isToExplain = event.change === null ? !hasFired : !isSkipped;
  const lines = isToExplain && rule ? conditionLines(rule, bindings) : [];
  const ruled = isSkipped
    ? skippedStep(placed, row, rule?.changes ?? [], event.change)
    : ruleStep(evaluated, row, lines);
  const newer = newerVersionLines(placed, ports.configuration.current());
  const steps: TraceStep[] = [{ ...ruled, lines: [...ruled.lines, ...newer] }];
  if (outcome.kind === 'fired') {
    const items = rule ? listItems(rule, bindings) : undefined;
    const naming = { rule: ruleTitle(placed), intents: evaluated.intents, itemAt: (at: number) => items?.[at] };
    return { steps, intents: evaluated.intents, people: namedPeople({ ...outcome, ...naming }, ports.ids) };
  }
  const people: NamedPerson[] = [];
  const intents: Intent[] = [];
  for (const trigger of triggers) {
    const traced = await traceTrigger(trigger, configuration, ports);
    steps.push(...traced.steps);
    people.push(...traced.people);
    // With several recipients, `people` shows the messages, so the intents are not kept.
    if (people.length <= 1) intents.push(...traced.intents);
  }
  return { steps, intents, people };
}

/** Returns the step of a rule that ignores this kind of change. */
function skippedStep(
  placed: PlacedRule,
  row: EvaluatedAt,
  changes: readonly string[],
  change: Change | null,
): TraceStep {
  const text = `did not fire: it looks at ${changes.join(', ')}, and this is a ${change?.op ?? 'change'}`;
  const more = { rule: ruleTitle(placed), ruleVersion: placed.version, configNumber: row.configNumber };
  return step('rule', row.at, text, { ...more, reason: 'other_change' });
}

function ruleStep(
  { placed, outcome, triggerId }: EvaluatedRule,
  row: EvaluatedAt,
  lines: readonly string[],
): TraceStep {
  const rule = ruleTitle(placed);
  const more = { rule, ruleVersion: placed.version, configNumber: row.configNumber, lines };
  switch (outcome.kind) {
    case 'disabled':
      return step('rule', row.at, 'did not fire: it is switched off', { ...more, lines: [], reason: 'disabled' });
    case 'not_fired':
      return step('rule', row.at, 'did not fire: `when` is false', { ...more, reason: 'when_false' });
    case 'failed':
      return step('rule', row.at, `did not fire: ${outcome.error}`, { ...more, reason: outcome.reason });
    case 'asks': {
      const { userIds, dropped } = outcome;
      const drops = dropLines('user id', dropped);
      const partner = placed.body.recipients.from === 'lookup' ? placed.body.recipients.integration : '';
      const text = `fired: asks ${partner} about ${userIds.length} user ${userIds.length === 1 ? 'id' : 'ids'}`;
      return step('rule', row.at, text, { ...more, lines: [...lines, ...drops] });
    }
    case 'fired': {
      const { recipients, dropped } = outcome;
      const drops = dropLines('recipient', dropped);
      const text = `fired: ${recipients.length} ${recipients.length === 1 ? 'recipient' : 'recipients'}`;
      return step('trigger', row.at, text, { ...more, id: triggerId, lines: [...lines, ...drops] });
    }
  }
}
