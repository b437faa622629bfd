import { hasKey, type RuleBody, type StreamBody } from '@carillon/domain/configuration';
import { ruleFormsOf, waits } from '@carillon/domain/rules';
import { isKind } from '../resource.ts';
import type { Check } from './check-context.ts';
import type { Report } from './finding.ts';

/** Checks that the keys of a rule with state fit each other and the stream of the rule. */
export const checkRuleForms: Check = (resource, around, report) => {
  if (!isKind(resource, 'notification')) return;
  for (const [name, rule] of Object.entries(resource.body.rules)) {
    const at = ['rules', name];
    checkWaitKeys(rule, at, report);
    const [form] = ruleFormsOf(rule);
    const key = form?.keys.find((each) => rule[each] !== undefined);
    if (key === undefined || rule.cohort !== undefined) continue;
    // A missing stream is reported at the key that names it.
    const stream = rule.stream === undefined ? {} : around.stream(resource.ref.workspace, rule.stream);
    const code = stream && streamFault(stream);
    if (code) report.fault([...at, key], { code, facts: { name: key, stream: rule.stream ?? '' } }, 'key');
  }
};

const DEADLINES = ['after', 'after_last', 'at'] as const;

function checkWaitKeys(rule: RuleBody, at: readonly string[], report: Report): void {
  const [first, ...others] = DEADLINES.filter((key) => rule[key] !== undefined);
  for (const key of others)
    report.fault([...at, key], { code: 'several_deadlines', facts: { first: first ?? '' } }, 'key');
  if (rule.unless !== undefined && !waits(rule)) {
    report.fault([...at, 'unless'], { code: 'unless_without_wait', facts: {} }, 'key');
  }
  if (rule.if_past !== undefined && rule.at === undefined) {
    report.fault([...at, 'if_past'], { code: 'if_past_without_at', facts: {} }, 'key');
  }
}

/** The engine keeps state by entity. Streams with a `time` path come with the totals. */
function streamFault(stream: Partial<StreamBody>): 'state_without_key' | 'state_with_time' | null {
  if (!hasKey(stream)) return 'state_without_key';
  return stream.time === undefined ? null : 'state_with_time';
}
