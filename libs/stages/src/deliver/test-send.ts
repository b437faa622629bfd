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

/** Whoever waits for a test message has given up long before that. */
const TEST_EXPIRES: Duration = 3_600_000;

/** What somebody asks to be sent as a test. */
export type TestAsked = {
  readonly notification: Resource<'notification'>;
  readonly channel: ChannelName;
  /** Null: the template that the notification has on the channel. */
  readonly template: string | null;
  /** In its canonical form. */
  readonly to: string;
  /** What the template is rendered with: fields of an event, and variables of a recipient by bare name. */
  readonly variables: JsonObject;
  /** Who asks, by the name that the story shows. */
  readonly by: string;
  /** Makes the slot: the same key is the same message, however often it comes. Nobody else can guess the slot. */
  readonly key: string;
  readonly traceparent: string | null;
};

/**
 * The intent of a test message (docs/internals/evidence.md): due at once, and of no use after an hour, or after the `expires` of its
 * notification where that is shorter. It goes the way of all others from here: the log, the ledger, attempts. Undefined if no template is named and the
 * notification does not have the channel.
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
    // With what it says: another message under a key that was used is a duplicate that people see.
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
