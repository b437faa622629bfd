import { channelOf, type ChannelName } from '@carillon/domain/channels';
import { notificationIdOf, type Configuration, type Resource } from '@carillon/domain/configuration';
import { deliverySettings, type Intent } from '@carillon/domain/deliveries';
import {
  stringifyJson,
  type Duration,
  type EventId,
  type Instant,
  type IntentId,
  type JsonObject,
  type TriggerId,
} from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import { templateContext } from '../evaluate/make-intents.ts';
import type { RuleBook } from '../evaluate/rule-book.ts';

/** Expiry of a test message, whose requester does not wait that long. */
const TEST_EXPIRES: Duration = 3_600_000;

/** A request for a test message. */
export type TestAsked = {
  readonly notification: Resource<'notification'>;
  readonly channel: ChannelName;
  /** Template to use instead of the notification's own template for the channel. Null for the notification's own. */
  readonly template: string | null;
  /** Canonical address. */
  readonly to: string;
  /** Data for the template: fields of an event and variables of a recipient, by bare name. */
  readonly variables: JsonObject;
  /** Name of the requester, shown in the trace. */
  readonly by: string;
  /** Key of the slot: equal keys mean the same message. Others cannot guess the slot. */
  readonly key: string;
  readonly traceparent: string | null;
};

/**
 * Makes the intent of a test message (docs/internals/evidence.md): due immediately, with an expiry of an hour or the
 * notification's `expires` if shorter. From here it is processed like any intent. Undefined without a named template if
 * the notification lacks the channel.
 */
export function makeTestIntent(
  { notification, channel, template: asked, to, variables, by, key, traceparent }: TestAsked,
  configuration: Configuration,
  book: Pick<RuleBook, 'template'>,
  { ids, now }: { readonly ids: Pick<Ids, 'derive' | 'keyed'>; readonly now: Instant },
): Intent | undefined {
  const name = asked ?? channelOf(notification.body, channel)?.template;
  if (name === undefined) return undefined;
  const { workspace } = notification.ref;
  const notificationId = notificationIdOf(notification);
  const uniqueId = `test:${ids.keyed('test', workspace, notificationId, channel, key)}`;
  const template = book.template(configuration, workspace, name, channel);
  const needed = templateContext(variables, {}, template.names);
  const text = stringifyJson(needed);
  return {
    // The id includes the content, so another message under a used key is a visible duplicate.
    id: ids.derive('intent', 'test', workspace, notificationId, channel, uniqueId, to, name, text) as IntentId,
    slot: { workspace, notificationId, channel, uniqueId },
    notification: notification.ref.name,
    rule: '',
    ruleId: '',
    ruleVersion: 0,
    configNumber: configuration.number,
    eventId: ids.derive('event', 'test', uniqueId) as EventId,
    eventPosition: '',
    triggerId: ids.derive('trigger', 'test', uniqueId) as TriggerId,
    to,
    person: to,
    variables: needed,
    template: name,
    templateVersion: template.version,
    causedAt: now,
    sendAt: now,
    notAfter: now + Math.min(TEST_EXPIRES, deliverySettings(notification.body).expires),
    traceparent,
    test: { by, request: ids.keyed('test request', to, stringifyJson(variables)) },
  };
}
