import { hasOwnStream, type RuleBody, type Security } from '@carillon/domain/configuration';
import type { Expression } from '@carillon/domain/rules';
import { isKind, type WantedResource } from '../resource.ts';
import type { Report } from './finding.ts';
import type { Check, ExpressionCheck } from './check-context.ts';

/**
 * Reports rules by which every holder of a token can send to anyone: the event names the recipient, and no claim binds
 * that field. The rule may allow this explicitly.
 */
export const checkOpenRecipients: Check = (resource, around, report) => {
  if (!isKind(resource, 'notification')) return;
  const { rules, security } = resource.body;
  for (const [name, rule] of Object.entries(rules)) {
    const shared = rule.stream === undefined ? undefined : around.stream(resource.ref.workspace, rule.stream)?.security;
    checkRule(name, rule, hasOwnStream(rule) ? security : shared, around.language, report);
  }
};

function checkRule(
  name: string,
  rule: RuleBody,
  security: Security | undefined,
  language: ExpressionCheck,
  report: Report,
): void {
  const first = openField(rule, security, language);
  if (first === undefined) return;
  const facts = { provider: security?.jwt_provider ?? '', field: first, notification: '' };
  if (rule.open_recipients === true) {
    report.warn(['rules', name, 'open_recipients'], { code: 'open_recipients_meant', facts });
    return;
  }
  report.fault(['rules', name, 'recipients', 'to'], { code: 'open_recipients', facts }, 'key');
}

/**
 * Checks rules outside the folder whose shared stream the folder changes. The mistake is reported at the stream,
 * because the folder contains it.
 */
export function checkStayingRecipients(
  stream: WantedResource<'stream'>,
  staying: readonly WantedResource<'notification'>[],
  language: ExpressionCheck,
  report: Report,
): void {
  const { security } = stream.body;
  for (const { ref, body } of staying) {
    if (ref.workspace !== stream.ref.workspace) continue;
    for (const rule of Object.values(body.rules)) {
      const first = rule.stream === stream.ref.name ? openField(rule, security, language) : undefined;
      if (first === undefined) continue;
      const facts = { provider: security?.jwt_provider ?? '', field: first, notification: ref.name };
      if (rule.open_recipients === true) report.warn(['security'], { code: 'open_recipients_meant', facts }, 'key');
      else report.fault(['security'], { code: 'open_recipients', facts }, 'key');
    }
  }
}

/** Returns a field that decides the recipient and that every holder of a token may fill in. */
function openField(rule: RuleBody, security: Security | undefined, language: ExpressionCheck): string | undefined {
  if (security?.jwt_provider === undefined || rule.recipients.from !== 'event') return undefined;
  const bound = new Set<string>(Object.values(security.claims ?? {}));
  const { to, for_each: list } = rule.recipients;
  const fields = Object.values(to).flatMap((text) => freeFields(compiled(text, 'recipient', language), bound));
  if (list !== undefined) fields.push(...freeFields(compiled(list, 'for_each', language), bound));
  return fields[0];
}

/** If an expression cannot be compiled, another check reports it. */
function compiled(text: string, place: 'recipient' | 'for_each', language: ExpressionCheck): Expression | null {
  const read = language.compile(text, place);
  return read.ok ? read.value : null;
}

/** Fields of the event that decide and that no claim binds. What `item` holds is what `for_each` reads. */
const freeFields = (expression: Expression | null, bound: ReadonlySet<string>): readonly string[] =>
  (expression?.fields ?? [])
    .filter(({ root }) => root === 'event')
    .map(({ path, dynamic }) => ({ path: path === '' ? 'event' : `event.${path}`, dynamic }))
    .filter(({ path, dynamic }) => dynamic || !bound.has(path))
    .map(({ path }) => path);
