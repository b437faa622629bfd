import { hasOwnStream, type Expression, type RuleBody, type Security } from '@carillon/domain';
import { isKind } from '../resource.ts';
import type { Report } from './finding.ts';
import type { Check, ExpressionCheck } from './surroundings.ts';

/**
 * Who may send by a token decides what the event says. Where the event says who is told and no claim says the same, every
 * holder of a token can send to anybody: refused, unless the rule says that this is meant.
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
  if (security?.jwt_provider === undefined || rule.recipients.from !== 'event') return;
  const bound = new Set<string>(Object.values(security.claims ?? {}));
  const { to, for_each: list } = rule.recipients;
  const fields = Object.values(to).flatMap((text) => freeFields(compiled(text, 'recipient', language), bound));
  if (list !== undefined) fields.push(...freeFields(compiled(list, 'for_each', language), bound));
  const [first] = fields;
  if (first === undefined) return;
  const message = `whoever has a token of ${security.jwt_provider} chooses who is told: ${first} is bound by no claim`;
  if (rule.open_recipients === true) {
    const fix =
      'leave it if the tokens are those of your own servers; else bind a claim, such as claims: { email: event.email }';
    report.warn(['rules', name, 'open_recipients'], { message, fix });
    return;
  }
  const fix = `bind it under security, such as claims: { email: ${first} }; name the recipients by a lookup; or write open_recipients: true for the rule if everybody with a token may send to anybody`;
  const expected = 'an address that a claim of the token binds';
  report.fault(['rules', name, 'recipients', 'to'], { message, expected, fix }, 'key');
}

/** Where it cannot be compiled, that is said elsewhere. */
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
