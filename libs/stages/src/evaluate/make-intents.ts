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

/** Reserved variables of the recipient, which the helpers of templates read (docs/recipients.md). */
const RESERVED = ['time_zone', 'locale'] as const;

/** Cause of a message: an event, or the part of an event that its trigger carried to the partner's answer. */
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

/** Time at which a rule fires, with its totals at that time. */
export type FiringTime = {
  /** Deadline by which the rule fires. Null if it fires at its event. */
  readonly deadline: Instant | null;
  /** Null: the rule has no totals. */
  readonly totals: ShownTotals | null;
};
export const AT_EVENT: FiringTime = { deadline: null, totals: null };

/**
 * Returns an event as the cause of a message. `deadline` is the deadline by which the rule fires; `expires` and `delay`
 * count from it. Null if the rule fires at the event.
 */
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

/** Inputs from which intents and triggers are made. */
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

/** Returns the intents of one recipient of a fired rule: one per channel of its notification. */
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
  // Templates and quiet hours read the recipient's time zone and locale from the same variables.
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

/** Variables that a digest sets itself, so that its items need not store them. */
const OF_DIGESTS: ReadonlySet<string> = new Set(['items', 'count', 'first_at', 'last_at']);

/**
 * Returns the variables that a message must store: those of its own template and those of its digest template, which
 * may use them once or per item.
 */
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

/**
 * Names under which templates see the previous row of a change, the deadline of a waiting rule, and the totals of a
 * rule.
 */
const PREVIOUS = 'previous';
const DEADLINE = 'deadline';
const TOTALS = 'totals';

/**
 * Returns only the fields and variables that the template refers to. A variable overrides a field of the same name. The
 * names `previous`, `deadline` and `totals` are set too, unless a field or variable has the name.
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
      const holder = [variables, event, own].find((values) => Object.hasOwn(values, name));
      const value = holder?.[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * Returns the part of a change that a trigger carries. It includes the previous row only if an expression or a template
 * still reads it.
 */
export function changeAfterLookup(rule: CompiledRule, change: Change, names: TemplateNames): VisibleChange {
  const { previous, ...rest } = visibleChange(change);
  const isRead = names.all || names.names.includes(PREVIOUS) || afterLookup(rule).some(readsPrevious);
  return previous !== undefined && isRead ? { ...rest, previous } : rest;
}

const readsPrevious = ({ fields }: Expression): boolean => fields.some(({ root }) => root === PREVIOUS);

/** Returns the expressions that are evaluated with the partner's answer. */
const afterLookup = ({ where, until, digestKey, uniqueId, person }: CompiledRule): readonly Expression[] =>
  [where, until, digestKey, typeof uniqueId === 'string' ? null : uniqueId, person].filter((each) => each !== null);

/** Returns the event's fields that the rule's expressions and templates still need after a lookup. */
export function namesAfterLookup(rule: CompiledRule, configuration: Configuration, book: RuleBook): TemplateNames {
  const { placed } = rule;
  const { body } = placed.notification;
  const templates = channelsOf(body).map(([channel]) =>
    namesNeeded(configuration, placed.workspace, body, channel, book),
  );
  const names = templates.flatMap((template) => template.names);
  const all = templates.some((template) => template.all);
  const paths = afterLookup(rule).flatMap(({ fields }) => fields.filter(({ root }) => root === 'event'));
  const tops = paths.map(({ path }) => /^[A-Za-z_]\w*/.exec(path)?.[0]);
  return {
    names: [...new Set([...names, ...tops.filter((name) => name !== undefined)])],
    // A name in brackets, or the event as a whole.
    all: all || tops.includes(undefined),
  };
}
