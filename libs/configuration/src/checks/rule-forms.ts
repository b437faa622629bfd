import { hasKey, type RuleBody, type StreamBody } from '@carillon/domain/configuration';
import { lookBacksOf, ruleFormsOf, waits, type NotificationTime } from '@carillon/domain/rules';
import { durationOr } from '@carillon/kernel';
import { MAX_REMEMBERING_RULES } from '@carillon/shapes/values';
import { isKind, type WantedResource } from '../resource.ts';
import type { Check } from './check-context.ts';
import type { Report } from './finding.ts';

/** Checks that the keys of a rule with state fit each other and the stream of the rule. */
export const checkRuleForms: Check = (resource, around, report) => {
  if (isKind(resource, 'stream')) checkForgetAfterKey(resource.body, report);
  if (!isKind(resource, 'notification')) return;
  for (const [name, rule] of Object.entries(resource.body.rules)) {
    const at = ['rules', name];
    checkWaitKeys(rule, at, report);
    const [form] = ruleFormsOf(rule);
    const key = form?.keys.find((each) => rule[each] !== undefined);
    if (key === undefined || rule.cohort !== undefined) continue;
    // A missing stream is reported at the key that names it.
    const stream = rule.stream === undefined ? {} : around.stream(resource.ref.workspace, rule.stream);
    if (stream && !hasKey(stream)) {
      const facts = { name: key, stream: rule.stream ?? '' };
      report.fault([...at, key], { code: 'state_without_key', facts }, 'key');
    }
    if (rule.stream === undefined || stream?.forget_after === undefined) continue;
    const longer = tooLongFor(stream.forget_after, name, rule);
    if (longer) report.fault(longer.path, shortMemory(resource, stream.forget_after, rule.stream, longer));
  }
};

function checkForgetAfterKey(stream: StreamBody, report: Report): void {
  if (stream.forget_after === undefined || hasKey(stream)) return;
  report.fault(['forget_after'], { code: 'forget_after_without_key', facts: {} }, 'key');
}

/** Reports a stream that forgets its entities earlier than the unchanged rules look back. */
export function checkStayingLookBacks(
  { ref, body }: WantedResource<'stream'>,
  staying: readonly WantedResource<'notification'>[],
  report: Report,
): void {
  const { forget_after: kept } = body;
  if (kept === undefined) return;
  for (const notification of staying) {
    if (notification.ref.workspace !== ref.workspace) continue;
    for (const [name, rule] of Object.entries(notification.body.rules)) {
      const longer = rule.stream === ref.name ? tooLongFor(kept, name, rule) : undefined;
      if (longer) report.fault(['forget_after'], shortMemory(notification, kept, ref.name, longer));
    }
  }
}

/** Returns the first time of a rule that looks back longer than its stream remembers. */
const tooLongFor = (kept: string, name: string, rule: RuleBody): NotificationTime | undefined =>
  lookBacksOf(name, rule).find(({ duration }) => duration > durationOr(kept, 0));

const shortMemory = (
  { ref }: Pick<WantedResource, 'ref'>,
  kept: string,
  stream: string,
  { rule, path, text }: NotificationTime,
) => ({
  code: 'forget_after_too_short' as const,
  facts: { stream, kept, rule: `${ref.name}.${rule ?? ''}`, setting: path.at(-1) ?? '', bound: text },
});

/** Returns the number of rules that count, wait or cool down, by the path of their shared stream. */
export function countRemembering(notifications: readonly WantedResource<'notification'>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { ref, body } of notifications) {
    for (const rule of Object.values(body.rules)) {
      const path = rememberedStream(ref.workspace, rule);
      if (path !== null) counts.set(path, (counts.get(path) ?? 0) + 1);
    }
  }
  return counts;
}

/** Checks that a stream has at most 64 rules that count, wait or cool down. `others`: the counts without the rules of this notification. */
export function checkRemembering(
  { ref, body }: WantedResource<'notification'>,
  others: Map<string, number>,
  report: Report,
): void {
  for (const [name, rule] of Object.entries(body.rules)) {
    const path = rememberedStream(ref.workspace, rule);
    if (path === null) continue;
    const count = (others.get(path) ?? 0) + 1;
    others.set(path, count);
    if (count !== MAX_REMEMBERING_RULES + 1) continue;
    const facts = { stream: rule.stream ?? '', most: String(MAX_REMEMBERING_RULES) };
    report.fault(['rules', name], { code: 'rules_remembering', facts }, 'key');
  }
}

const rememberedStream = (workspace: string, rule: RuleBody): string | null =>
  rule.stream === undefined || ruleFormsOf(rule).length === 0 ? null : `${workspace}/${rule.stream}`;

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
