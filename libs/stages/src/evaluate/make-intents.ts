import { dueAt } from '@carillon/domain/cadence';
import { rowBefore, visibleChange, type Change, type VisibleChange } from '@carillon/domain/changes';
import { CHANNELS, channelOf, channelsOf, type ChannelName } from '@carillon/domain/channels';
import {
  localityOf,
  notificationIdOf,
  ruleIdOf,
  ruleTitle,
  type Configuration,
  type NotificationBody,
  type PlacedRule,
} from '@carillon/domain/configuration';
import { deliverySettings, type Intent, type SentBy } from '@carillon/domain/deliveries';
import { digestSettings } from '@carillon/domain/digests';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { CompiledRule, Expression, Recipient, ShownTotals } from '@carillon/domain/rules';
import {
  formatInstant,
  type DeriveId,
  type EventId,
  type Instant,
  type IntentId,
  type Json,
  type JsonObject,
  type TriggerId,
} from '@carillon/kernel';
import type { TemplateNames } from '@carillon/ports';
import type { RuleBook } from './rule-book.ts';

/** Reserved variables: the recipient's own, read by the helpers of templates (docs/recipients.md). */
const RESERVED = ['time_zone', 'locale'] as const;

/** What made a message: an event, or as much of it as its trigger carried to the partner's answer. */
export type Cause = {
  readonly eventId: EventId;
  readonly eventPosition: string;
  readonly body: JsonObject;
  /** The row before a change, if there is one. */
  readonly previous: JsonObject | undefined;
  readonly causedAt: Instant;
  readonly deadline?: Instant;
  readonly totals?: ShownTotals;
  readonly notAfter: Instant;
  readonly traceparent: string | null;
  readonly sentBy?: SentBy;
};

/** When a rule fires, and what its totals are then. */
export type FiringTime = {
  /** Deadline by which it fires. Null: it fires at its event. */
  readonly deadline: Instant | null;
  /** Null: the rule has no totals. */
  readonly totals: ShownTotals | null;
};
export const AT_EVENT: FiringTime = { deadline: null, totals: null };

/** `deadline`: the deadline by which the rule fires, so that `expires` and `delay` count from it. Null: it fires at the event. */
export const causeOfEvent = (
  event: SourceEvent,
  { notification }: PlacedRule,
  { deadline, totals }: FiringTime = AT_EVENT,
): Cause => ({
  eventId: event.id,
  eventPosition: formatPosition(event.position),
  body: event.body,
  previous: event.change?.previous ?? undefined,
  causedAt: deadline ?? event.appendedAt,
  notAfter: (deadline ?? event.appendedAt) + deliverySettings(notification.body).expires,
  ...(deadline !== null && { deadline }),
  ...(totals !== null && { totals }),
  traceparent: event.traceparent,
});

export const causeOfTrigger = ({ event, change, ...trigger }: Trigger): Cause => ({
  ...trigger,
  body: event,
  previous: change && rowBefore(change),
});

/** What intents and triggers are made with. */
export type IntentContext = {
  readonly configuration: Configuration;
  readonly book: RuleBook;
  readonly derive: DeriveId;
};

/** A message on one channel of a notification, before its ids are derived. */
export type Message = {
  readonly channel: ChannelName;
  /** Name of the template. */
  readonly template: string;
  readonly to: string | null;
  readonly variables: JsonObject;
};

/** Returns the messages of one recipient of a fired rule: one for each channel of its notification. */
export function makeMessages(
  { notification, workspace }: PlacedRule,
  { body, ...facts }: Pick<Cause, 'body' | 'previous' | 'deadline' | 'totals'>,
  recipient: Recipient,
  { configuration, book }: Pick<IntentContext, 'configuration' | 'book'>,
): Message[] {
  return channelsOf(notification.body).map(([channel, { template }]) => ({
    channel,
    template,
    to: recipient.to[CHANNELS[channel].address.kind],
    variables: templateContext(
      body,
      recipient.variables,
      namesNeeded(configuration, workspace, notification.body, channel, book),
      facts,
    ),
  }));
}

/** The intents of one recipient of a fired rule: one for each channel of its notification. */
export function makeIntents(
  placed: PlacedRule,
  cause: Cause,
  recipient: Recipient,
  triggerId: TriggerId,
  context: IntentContext,
): Intent[] {
  const { notification, workspace } = placed;
  const { configuration, book, derive } = context;
  const notificationId = notificationIdOf(notification);
  // The same words by which templates and quiet hours know the recipient's clock.
  const reserved = templateContext(cause.body, recipient.variables, { names: [], all: false });
  const { timeZone } = localityOf(configuration, workspace, reserved).locality;
  const delay = notification.body.cadence?.delay;
  const sendAt = dueAt(delay, cause.causedAt, timeZone, recipient.until);
  return makeMessages(placed, cause, recipient, context).map(({ channel, template, to, variables }) => ({
    id: derive('intent', triggerId, channel, recipient.uniqueId, to ?? '') as IntentId,
    slot: { workspace, notificationId, channel, uniqueId: recipient.uniqueId },
    notification: notification.ref.name,
    rule: ruleTitle(placed),
    ruleId: ruleIdOf(placed),
    ruleVersion: placed.version,
    configNumber: configuration.number,
    eventId: cause.eventId,
    eventPosition: cause.eventPosition,
    triggerId,
    to,
    person: recipient.person,
    variables,
    template,
    templateVersion: book.template(configuration, workspace, template, channel).version,
    causedAt: cause.causedAt,
    ...(cause.deadline !== undefined && { deadline: cause.deadline }),
    sendAt,
    notAfter: cause.notAfter + (sendAt - cause.causedAt),
    traceparent: cause.traceparent,
    ...(cause.sentBy && { sentBy: cause.sentBy }),
    ...(recipient.digestKey !== null && { digestKey: recipient.digestKey }),
  }));
}

/** What a digest has of its own under these names, so that no item need carry a field for them. */
const OF_DIGESTS: ReadonlySet<string> = new Set(['items', 'count', 'first_at', 'last_at']);

/** What a message carries: what its template refers to, and what the template of its digest does, alone or of each item. */
function namesNeeded(
  configuration: Configuration,
  workspace: string,
  body: NotificationBody,
  channel: ChannelName,
  book: RuleBook,
): TemplateNames {
  const own = channelOf(body, channel)?.template ?? '';
  const { names } = book.template(configuration, workspace, own, channel);
  const digest = digestSettings(body);
  if (!digest) return names;
  const digested = book.template(configuration, workspace, digest.template ?? own, channel);
  return {
    names: [
      ...new Set([
        ...names.names,
        ...digested.names.names.filter((name) => !OF_DIGESTS.has(name)),
        ...digested.ofItems.names,
      ]),
    ],
    all: names.all || digested.names.all || digested.ofItems.all,
  };
}

/** Names under which templates see the row before a change, the deadline of a rule that waited, and the totals of a rule. */
const PREVIOUS = 'previous';
const DEADLINE = 'deadline';
const TOTALS = 'totals';

/**
 * The fields and variables that the template refers to, a variable before a field of the same name; nothing else. The row
 * before is `previous`, a deadline `deadline`, and totals are `totals`, unless a field or a variable has this name.
 */
export function templateContext(
  event: JsonObject,
  variables: JsonObject,
  names: TemplateNames,
  { previous, deadline, totals }: Partial<Pick<Cause, 'previous' | 'deadline' | 'totals'>> = {},
): JsonObject {
  const own: JsonObject = {
    ...(previous !== undefined && { [PREVIOUS]: previous }),
    ...(deadline !== undefined && { [DEADLINE]: formatInstant(deadline) }),
    ...(totals !== undefined && { [TOTALS]: totals }),
  };
  if (names.all) return { ...own, ...event, ...variables };
  return Object.fromEntries(
    [...names.names, ...RESERVED].flatMap((name): [string, Json][] => {
      const holder = [variables, event, own].find((one) => Object.hasOwn(one, name));
      const value = holder?.[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Returns the part of a change that a trigger carries. It includes the row before only if an expression or a template still reads it. */
export function changeAfterLookup(rule: CompiledRule, change: Change, names: TemplateNames): VisibleChange {
  const { previous, ...rest } = visibleChange(change);
  const isRead = names.all || names.names.includes(PREVIOUS) || afterLookup(rule).some(readsPrevious);
  return previous !== undefined && isRead ? { ...rest, previous } : rest;
}

const readsPrevious = ({ fields }: Expression): boolean => fields.some(({ root }) => root === PREVIOUS);

/** Expressions that are evaluated with the answer of the partner. */
const afterLookup = ({ where, until, digestKey, uniqueId, person }: CompiledRule): readonly Expression[] =>
  [where, until, digestKey, typeof uniqueId === 'string' ? null : uniqueId, person].filter((each) => each !== null);

/** The event's fields that are still needed after a lookup: those of the rule's expressions and of its templates. */
export function namesAfterLookup(rule: CompiledRule, configuration: Configuration, book: RuleBook): TemplateNames {
  const { placed } = rule;
  const { body } = placed.notification;
  const templates = channelsOf(body).map(([channel]) =>
    namesNeeded(configuration, placed.workspace, body, channel, book),
  );
  const names = templates.flatMap((one) => one.names);
  const all = templates.some((one) => one.all);
  const paths = afterLookup(rule).flatMap(({ fields }) => fields.filter(({ root }) => root === 'event'));
  const tops = paths.map(({ path }) => /^[A-Za-z_]\w*/.exec(path)?.[0]);
  return {
    names: [...new Set([...names, ...tops.filter((name) => name !== undefined)])],
    // A name in brackets, or the event as a whole.
    all: all || tops.includes(undefined),
  };
}
