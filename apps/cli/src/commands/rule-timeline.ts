import type { RuleTestBody } from '@carillon/contracts';
import { shortened } from '../folded.ts';
import { clean, paint, withTimes, zonedTime } from '../output.ts';

type Step = RuleTestBody['timeline'][number];

/** The steps of a test of a rule: each event and each deadline, with values, decisions and what the entity waits for. */
export function timelineLines(timeline: readonly Step[], firing: (step: Step) => readonly string[]): string[] {
  const hasState = timeline.some(({ waits_until: until, decisions }) => until !== null || decisions.length > 0);
  return timeline.flatMap((step) => [
    '',
    `${paint('bold', zonedTime(step.at))}  ${clean(headOf(step))}`,
    ...valueLines(step),
    ...decisionLines(step, hasState),
    ...firing(step),
  ]);
}

function headOf({ kind, event, event_id: id, entity }: Step): string {
  const which = event === null ? id : `event ${event + 1}`;
  const about = entity === null ? '' : ` of ${entity}`;
  return kind === 'event' ? `${which}${about}` : `deadline${about}, set by ${which}`;
}

function valueLines({ explained }: Step): string[] {
  return explained.map(({ field, source, depth, value }, at) => {
    const isFirst = explained[at - 1]?.field !== field;
    const parts = `${'  '.repeat(depth)}${clean(source)}  ${paint('dim', '→')}  ${paint('cyan', shortened(clean(value)))}`;
    return `  ${(isFirst ? field : '').padEnd(7)}  ${parts}`;
  });
}

function decisionLines(step: Step, hasState: boolean): string[] {
  const { fired, decisions, waits_until: until } = step;
  const totals = Object.entries(step.totals)
    .map(([name, value]) => `totals.${name} is ${value}`)
    .filter((words) => fired || !decisions.includes(words));
  const isSaid = until !== null && decisions.some((words) => words.includes(until));
  const state = until === null ? 'waits for nothing' : `waits until ${zonedTime(until)}`;
  return [
    ...verdictOf(step, hasState).map((words) => `  ${paint(fired ? 'green' : 'yellow', withTimes(clean(words)))}`),
    ...totals.map((words) => `  ${paint('dim', clean(words))}`),
    ...(hasState && !isSaid ? [`  ${paint('dim', state)}`] : []),
  ];
}

function verdictOf({ fired, outcome, error, decisions }: Step, hasState: boolean): readonly string[] {
  if (fired) return [outcome];
  if (error !== null) return [`failed: ${error}`];
  return hasState ? decisions : [`does not fire (${outcome})`];
}
