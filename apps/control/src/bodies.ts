import type {
  ApiKeyBodyShown,
  DeadLetterBody,
  DeadLetterFactsBody,
  DeliveryBody,
  EventBody,
  InboxMessageBody,
  JwtProviderBodyShown,
  ParkedReceiptBody,
  SuppressionBody,
} from '@carillon/contracts';
import type { PersonBody, TraceBody, WhyBody } from '@carillon/contracts';
import {
  hasExpired,
  jwtSettings,
  listResources,
  type Configuration,
  type Resource,
  type Security,
} from '@carillon/domain/configuration';
import { describeReason, isDeliveryReason, type Delivery } from '@carillon/domain/deliveries';
import { formatInstant, type Instant } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import { seesMasked } from './access/masking/mask-answers.ts';
import { auditContentRead, type ContentRead } from './audit/hook.ts';
import { showContent } from './content.ts';
import { standingOf, storyWordsOf } from './delivery-words.ts';
import type { DeadLetterRow, DuplicateRow, EventRow, InboxMessage, Suppression } from '@carillon/ports';
import type { ChangeSummary, EventFacts, PersonStory, Trace, WhyPage } from '@carillon/insight';

const timeOrNull = (at: Instant | null): string | null => (at === null ? null : formatInstant(at));

export function showDelivery(delivery: Delivery): DeliveryBody {
  const { intent, slot } = delivery;
  // Neither event nor rule made a test message.
  const ofRule = <T>(value: T): T | null => (intent.test ? null : value);
  return {
    id: delivery.id,
    ...standingOf(delivery),
    detail: delivery.detail,
    channel: slot.channel,
    to: intent.to,
    unique_id: slot.uniqueId,
    workspace: slot.workspace,
    notification: intent.notification,
    rule: ofRule(intent.rule),
    rule_version: ofRule(intent.ruleVersion),
    template: intent.template,
    template_version: intent.templateVersion,
    config_number: intent.configNumber,
    event_id: ofRule(intent.eventId),
    trigger_id: ofRule(intent.triggerId),
    intent_id: intent.id,
    test: intent.test !== undefined,
    test_by: intent.test?.by ?? null,
    sent_by: intent.sentBy ? { ...intent.sentBy } : null,
    attempts: delivery.attempts.map((attempt) => ({
      id: attempt.id,
      account: attempt.account,
      started_at: formatInstant(attempt.startedAt),
      ended_at: timeOrNull(attempt.endedAt),
      verdict: attempt.result?.verdict ?? null,
      code: attempt.result?.code ?? null,
      detail: attempt.result?.detail ?? null,
    })),
    history: delivery.history.map(({ at, state, reason, detail }) => ({
      at: formatInstant(at),
      ...standingOf({ state, reason }),
      detail,
    })),
    duplicates: delivery.duplicates,
    duplicate_of: null,
    // Documents of earlier versions have none.
    send_at: formatInstant(delivery.intent.sendAt ?? delivery.intent.causedAt),
    next_at: timeOrNull(delivery.nextAt),
    not_after: formatInstant(delivery.notAfter),
    created_at: formatInstant(delivery.createdAt),
    updated_at: formatInstant(delivery.updatedAt),
  };
}

/** A duplicate as a row of the list of deliveries: what it would have been, and who holds its slot. */
export function showDuplicate(row: DuplicateRow, holder: Delivery): DeliveryBody {
  const at = formatInstant(row.at);
  const standing = standingOf({ state: 'SUPPRESSED', reason: 'duplicate' });
  return {
    ...showDelivery(holder),
    id: row.id,
    ...standing,
    detail: row.detail,
    event_id: row.eventId,
    intent_id: row.intentId,
    attempts: [],
    history: [{ at, ...standing, detail: row.detail }],
    duplicates: 0,
    duplicate_of: row.deliveryId,
    next_at: null,
    created_at: at,
    updated_at: at,
  };
}

export const showEvent = (row: EventRow, facts: EventFacts | null = null): EventBody => ({
  id: row.id,
  workspace: row.workspace,
  stream: row.stream,
  at: formatInstant(row.at),
  bytes: row.bytes,
  position: `carillon.events/${row.partition}@${row.offset}`,
  config_number: row.configNumber,
  event_id_reused: row.reused,
  trace_id: row.traceId,
  label: facts?.label ?? null,
  change: facts?.change ? showChange(facts.change) : null,
});

const showChange = ({ beforeKnown, fields, unknown, ...change }: ChangeSummary): NonNullable<EventBody['change']> => ({
  ...change,
  fields: [...fields],
  unknown: [...unknown],
  before_known: beforeKnown,
});

const showPerson = (one: PersonStory): PersonBody => ({
  rule: one.rule,
  place: one.place,
  count: one.count,
  to: one.recipient.address,
  unique_id: one.recipient.uniqueId === '' ? null : one.recipient.uniqueId,
  person: one.recipient.person === '' ? null : one.recipient.person,
  channel: one.message?.channel ?? null,
  item: one.item,
  outcome: one.outcome,
  state: one.state,
  reason: one.reason,
  ...storyWordsOf(one),
  text: one.text,
  delivery: one.message?.deliveryId ?? null,
});

export const showWhy = ({ items, looked, next }: WhyPage, maySeeBodies: boolean): WhyBody => ({
  items: items.map(({ at, eventId, deliveryId, uniqueId, ...line }) => ({
    ...line,
    ...storyWordsOf(line),
    text: maySeeBodies ? line.text : ownWords(line),
    at: formatInstant(at),
    event: eventId,
    delivery: deliveryId,
    unique_id: uniqueId,
  })),
  looked,
  next,
});

const showTrace = (trace: Trace): TraceBody => ({
  kind: trace.kind,
  id: trace.id,
  trace_id: trace.traceId,
  people: trace.people && {
    headline: trace.people.summary?.headline ?? null,
    counts: trace.people.summary ? { ...trace.people.summary.counts } : null,
    items: trace.people.items.map(showPerson),
    next: trace.people.next === null ? null : String(trace.people.next),
  },
  steps: trace.steps.map((one) => ({
    at: timeOrNull(one.at),
    step: one.step,
    id: one.id,
    position: one.position,
    config_number: one.configNumber,
    rule: one.rule,
    rule_version: one.ruleVersion,
    state: one.state,
    reason: one.reason,
    // An attempt has the provider's code as its reason.
    ...storyWordsOf({ state: one.state, reason: one.step === 'attempt' ? null : one.reason }),
    person: one.person,
    text: one.text,
    lines: [...one.lines],
  })),
});

/** Describes a delivery's state without provider text, which may quote the message or its recipient. */
const ownWords = ({
  state,
  reason,
  text,
}: {
  readonly state: string | null;
  readonly reason: string | null;
  readonly text: string;
}): string => (state === null || reason === null || !isDeliveryReason(reason) ? text : describeReason(reason));

/** An attempt has a code of the provider. A move of a delivery has one of our reasons. */
const ownStep = (one: TraceBody['steps'][number]): TraceBody['steps'][number] => ({
  ...one,
  text: one.step === 'attempt' ? UNSEEN : one.step === 'delivery' ? ownWords(one) : one.text,
  lines: one.lines.length === 0 ? one.lines : [UNSEEN],
});

/** Removes contents of bodies from a story: values seen by a rule, items of a list or partner, and provider text. */
const withoutBodies = (trace: TraceBody): TraceBody => ({
  ...trace,
  people: trace.people && {
    ...trace.people,
    items: trace.people.items.map((one) => ({ ...one, item: null, text: ownWords(one) })),
  },
  steps: trace.steps.map(ownStep),
});
const UNSEEN = 'not shown: this needs the permission bodies';

/** Returns a story as the caller may see it. With pieces of bodies in it, the audit gets a record first. */
export async function traceFor(request: FastifyRequest, trace: Trace, read: ContentRead): Promise<TraceBody> {
  const shown = showTrace(trace);
  if (seesMasked(request)) return withoutBodies(shown);
  await auditContentRead(request, read);
  return shown;
}

export const showDeadLetter = (row: DeadLetterRow): Omit<DeadLetterBody, keyof DeadLetterFactsBody> => ({
  id: row.id,
  workspace: row.workspace,
  stage: row.stage,
  position: `${row.topic}/${row.partition}@${row.offset}`,
  reason: row.reason,
  at: formatInstant(row.at),
  redriven_at: timeOrNull(row.redrivenAt),
  redriven_by: row.redrivenBy,
  dismissed_at: timeOrNull(row.dismissedAt),
  dismissed_by: row.dismissedBy,
});

/** Sender and provider text are only shown with the permission `bodies`, because they may contain an address. */
export const showParkedReceipt = (row: DeadLetterRow, withBodies: boolean): ParkedReceiptBody => ({
  id: row.id,
  workspace: row.workspace,
  reason: row.reason,
  source: row.receipt?.source ?? null,
  account: row.receipt?.account ?? null,
  verdict: row.receipt?.verdict ?? null,
  code: row.receipt?.code ?? null,
  detail: withBodies ? (row.receipt?.detail ?? null) : null,
  delivery_id: row.receipt?.deliveryId ?? null,
  attempt: row.receipt?.attempt ?? null,
  wish: row.receipt?.wish ?? null,
  address: withBodies ? (row.receipt?.address ?? null) : null,
  received_at: timeOrNull(row.receipt?.receivedAt ?? null),
  parked_at: formatInstant(row.at),
  position: `${row.topic}/${row.partition}@${row.offset}`,
  dismissed_at: timeOrNull(row.dismissedAt),
  dismissed_by: row.dismissedBy,
});

export const showSuppression = (row: Suppression): SuppressionBody => ({
  workspace: row.workspace,
  channel: row.channel,
  address: row.address,
  source: row.source,
  detail: row.detail,
  by: row.by ?? null,
  delivery_id: row.deliveryId,
  at: formatInstant(row.at),
});

export const showMessage = ({ id, workspace, deliveryId, message, at }: InboxMessage): InboxMessageBody => ({
  id,
  workspace,
  delivery_id: deliveryId,
  ...showContent(message),
  at: formatInstant(at),
});

/**
 * Returns a message as lists show it: recipient, sender, and subject or title, without its body. Reading a body is
 * audited, and a list would write an audit record for each message that a person only scrolls past.
 */
export function showListedMessage(message: InboxMessage): InboxMessageBody {
  const shown = showMessage(message);
  const push = shown.push && { ...shown.push, body: null, image: null, link: null, data: {} };
  return { ...shown, html: null, text: null, sms: null, push };
}

export function showApiKey(
  key: Resource<'api_key'>,
  configuration: Configuration,
  lastUse: Instant | null,
  now: Instant,
): ApiKeyBodyShown {
  const { workspace, name } = key.ref;
  return {
    workspace,
    name,
    key_id: key.body.key_id,
    created_at: key.body.created_at,
    expires_at: key.body.expires_at ?? null,
    expired: hasExpired(key.body, now),
    last_used_at: timeOrNull(lastUse),
    used_by: usersOf(configuration, workspace, (security) => security.api_keys?.includes(name) ?? false),
  };
}

export function showJwtProvider(
  provider: Resource<'jwt_provider'>,
  configuration: Configuration,
): JwtProviderBodyShown {
  const { workspace, name } = provider.ref;
  const { jwksUrl, issuer, audiences, algorithms } = jwtSettings(provider.body);
  return {
    workspace,
    name,
    jwks_url: jwksUrl,
    issuer,
    audiences: [...audiences],
    algorithms: [...algorithms],
    used_by: usersOf(configuration, workspace, (security) => security.jwt_provider === name),
  };
}

/** Returns the names of streams and notifications that use this kind of security. */
function usersOf(configuration: Configuration, workspace: string, uses: (security: Security) => boolean): string[] {
  return (['stream', 'notification'] as const).flatMap((kind) =>
    listResources<'stream' | 'notification'>(configuration, kind, workspace)
      .filter(({ body }) => body.security !== undefined && uses(body.security))
      .map(({ ref }) => `${kind} ${ref.name}`),
  );
}
