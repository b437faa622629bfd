import type { RuleTestBody, RuleTestStep } from '@carillon/contracts';
import { ruleIdOf, ruleTitle, type PlacedRule } from '@carillon/domain/configuration';
import { attribute, attributionOf, findPartner, findRecipientsOf, triggerIdOf } from '@carillon/domain/lookups';
import {
  hasTotals,
  whoIsDropped,
  type CompiledRule,
  type Dropped,
  type LookupRule,
  type Recipient,
  type RuleOutcome,
} from '@carillon/domain/rules';
import { rehearse, type RehearsedStep } from '@carillon/insight';
import { CarillonError, formatInstant, stringifyJson, type Instant } from '@carillon/kernel';
import { makeTriggers, runYielding } from '@carillon/stages';
import { partnerItems, type PartnerSays } from './partner-answer.ts';
import { previewRecipient, type Firing } from './previewed-recipient.ts';
import type { RuleTestPorts } from './rule-test-ports.ts';
import type { TriedEvents } from './tried-events.ts';

/** People whose messages one test renders. */
const MAX_RECIPIENTS = 500;

/** Rehearses a rule over events and renders the messages of each step. A rule that is switched off runs too. */
export async function testRule(
  rule: CompiledRule,
  { events, until, memories }: TriedEvents,
  partner: PartnerSays,
  ports: RuleTestPorts,
): Promise<RuleTestBody> {
  const { placed } = rule;
  const entry = { ok: true, placed, rule } as const;
  const steps = await runYielding(rehearse({ entry, events, until, memories }, ports.ids.derive), ports.slice);
  const places = new Map(events.map(({ id }, at) => [id, at]));
  const taken = new Set<string>();
  const timeline: RuleTestStep[] = [];
  for (const step of steps) {
    const notified = timeline.reduce((sum, { recipients }) => sum + recipients.length, 0);
    const shown = await showStep(rule, step, { partner, taken, left: MAX_RECIPIENTS - notified }, ports);
    timeline.push({ ...shown, event: places.get(step.event.id) ?? null });
  }
  const chosen = timeline.find(({ fired }) => fired) ?? timeline.findLast(({ kind }) => kind === 'event');
  if (!chosen) throw new Error('a rehearsal of an event has a step');
  const { outcome, error, fired, asks, answered, problems, recipients, dropped } = chosen;
  const explainedBy = timeline.find(({ kind, event_id: id }) => kind === 'event' && id === chosen.event_id) ?? chosen;
  return {
    rule: ruleTitle(placed),
    rule_version: placed.version,
    stream: placed.stream,
    fired,
    outcome,
    error,
    asks,
    answered,
    problems,
    recipients,
    dropped,
    explained: explainedBy.explained
      .filter(({ field }) => field === 'when')
      .map(({ source, depth, value }) => ({ source, depth, value })),
    timeline,
  };
}

type Showing = { readonly partner: PartnerSays; readonly taken: Set<string>; readonly left: number };

async function showStep(
  rule: CompiledRule,
  step: RehearsedStep,
  { partner, taken, left }: Showing,
  ports: RuleTestPorts,
): Promise<Omit<RuleTestStep, 'event'>> {
  const { placed } = rule;
  const { outcome, event, deadline } = step;
  const passedOver = outcome.kind === 'not_fired' ? outcome.because : undefined;
  const shown = {
    at: formatInstant(step.at),
    kind: step.kind,
    event_id: event.id,
    entity: event.key === null || event.key === '' ? null : event.key,
    totals: { ...step.totals },
    decisions: [...step.decisions],
    explained: passedOver
      ? []
      : step.explained.map(({ field, source, depth, result }) => ({
          field,
          source,
          depth,
          value: result.ok ? stringifyJson(result.value) : `error: ${result.error}`,
        })),
    waits_until: step.waitsUntil === null ? null : formatInstant(step.waitsUntil),
    fired: false,
    error: null,
    asks: null,
    answered: null,
    problems: [],
    recipients: [],
    dropped: [],
  };
  if (outcome.kind === 'failed') return { ...shown, outcome: 'failed', error: outcome.error };
  const triggerId = triggerIdOf(ports.ids.derive, ruleIdOf(placed), event.id);
  const totals = hasTotals(rule) ? step.totals : null;
  const firing: Firing = { placed, event, triggerId, when: { deadline, totals }, taken };
  if (outcome.kind === 'asks' && rule.from === 'lookup') {
    return { ...shown, ...(await showLookup(rule, outcome, { firing, partner, left }, ports)) };
  }
  if (outcome.kind !== 'fired') return { ...shown, outcome: passedOver ?? outcome.kind };
  return {
    ...shown,
    fired: true,
    outcome: firedWords(placed, deadline),
    recipients: await previewAll(outcome.recipients, firing, left, ports),
    dropped: outcome.dropped.map((drop) => dropWords('recipient', drop)),
  };
}

async function previewAll(
  recipients: readonly Recipient[],
  firing: Firing,
  left: number,
  ports: RuleTestPorts,
): Promise<RuleTestBody['recipients']> {
  if (recipients.length > left) {
    const detail = `the events notify more than ${MAX_RECIPIENTS} people. Test with fewer events.`;
    throw new CarillonError('invalid_request', `events: ${detail}`, { pointer: '/events' });
  }
  const shown = [];
  for (const recipient of recipients) shown.push(await previewRecipient(firing, recipient, ports));
  return shown;
}

const firedWords = ({ enabled }: PlacedRule, deadline: Instant | null): string => {
  if (!enabled) return 'would fire, but it is switched off';
  return deadline === null ? 'fired' : `fired by its deadline ${formatInstant(deadline)}`;
};
const dropWords = (what: string, drop: Dropped): string =>
  `${whoIsDropped(what, drop)}: ${drop.reason} (${drop.detail})`;

type Asking = Extract<RuleOutcome, { kind: 'asks' }>;

/** Whom it would ask about, and with an answer who would be notified. */
async function showLookup(
  rule: LookupRule,
  { userIds, dropped }: Asking,
  { firing, partner: says, left }: { readonly firing: Firing; readonly partner: PartnerSays; readonly left: number },
  ports: RuleTestPorts,
): Promise<Partial<RuleTestStep> & Pick<RuleTestStep, 'fired' | 'outcome'>> {
  const { placed, integration } = rule;
  const { book } = ports;
  const { event, when } = firing;
  const configuration = ports.configuration.current();
  const shown = {
    fired: true,
    outcome: firedWords(placed, when.deadline),
    asks: { integration, user_ids: [...userIds] },
    dropped: dropped.map((drop) => dropWords('user id', drop)),
  };
  const making = { configuration, book, derive: ports.ids.derive, runId: null };
  const [trigger] = makeTriggers(rule, event, userIds, making, when);
  if (!trigger) return shown;
  const { workspace } = placed;
  const partner = findPartner(configuration, { workspace, integration });
  const {
    items: said,
    answered,
    unread,
  } = await partnerItems(says, userIds, { workspace, integration, partner }, ports);
  if (said === null) return { ...shown, answered };
  const how = partner ? attributionOf(partner) : ({ kind: 'none' } as const);
  const own = attribute(said, [trigger.userIds], how, unread);
  if (!own.ok || !own.value[0]) return { ...shown, answered };
  const { items, problems } = own.value[0];
  const found = await runYielding(findRecipientsOf(rule, { trigger, items }), ports.slice);
  return {
    ...shown,
    answered,
    recipients: await previewAll(found.recipients, { ...firing, triggerId: trigger.id }, left, ports),
    problems: problems.map(({ kind, index, userId, detail }) =>
      [kind, index === null ? '' : `item ${index}`, userId === null ? '' : `user id ${userId}`, detail]
        .filter((part) => part !== '')
        .join(', '),
    ),
    dropped: [...shown.dropped, ...found.dropped.map((drop) => dropWords('recipient', drop))],
  };
}
