import {
  channelOf,
  digestSettings,
  digestValues,
  findResource,
  listResources,
  type ChannelName,
  type Configuration,
  type Intent,
  type Resource,
} from '@carillon/domain';
import type { Instant, JsonObject } from '@carillon/kernel';

/** So many items a digest is shown with where nobody says how many. */
const SAMPLE_ITEMS = 3;

/** What a template is shown with, and what is to be said about that. */
export type Sampled = { readonly variables: JsonObject; readonly note: string | null };

/**
 * The values of a digest of so many items, each as this event: `items`, `count` and the others of its own. `asked` undefined: as
 * a digest where the template is one of a digest; 0: as one message. An event that says `items` and `count` itself is taken as it is.
 */
export function sampledAsDigest(
  variables: JsonObject,
  asked: number | undefined,
  isOfDigest: boolean,
  at: Instant,
): Sampled {
  const isWritten = Array.isArray(variables['items']) && typeof variables['count'] === 'number';
  const count = asked ?? (isOfDigest && !isWritten ? SAMPLE_ITEMS : 0);
  if (count === 0) return { variables, note: null };
  const items = Array.from({ length: count }, () => ({ causedAt: at, variables }));
  return {
    variables: digestValues(items),
    note: `shown as a digest of ${count === 1 ? 'one item' : `${count} items`}, each as this event`,
  };
}

/** Whether a notification sends this template as that of its digests. */
export const isTemplateOfDigest = (
  configuration: Configuration,
  workspace: string,
  template: string,
  channel: ChannelName,
): boolean =>
  listResources(configuration, 'notification', workspace).some(
    (notification) => digestTemplateOf(notification, channel) === template,
  );

/**
 * The template of a notification's digests on a channel; undefined where it has none there, or where its messages become
 * digests only over a limit and look the same.
 */
export function digestTemplateOf({ body }: Resource<'notification'>, channel: ChannelName): string | undefined {
  const [digest, said] = [digestSettings(body), channelOf(body, channel)];
  if (!digest || !said) return undefined;
  return digest.template ?? (digest.when === 'always' ? said.template : undefined);
}

/** The digest that a message becomes an item of, with others like it; the message itself where it goes alone. */
export function asDigest(
  intent: Intent,
  notification: Resource<'notification'>,
  configuration: Configuration,
): { readonly intent: Intent; readonly note: string | null } {
  const { workspace, channel } = intent.slot;
  const template = digestTemplateOf(notification, channel);
  if (template === undefined || digestSettings(notification.body)?.when !== 'always') return { intent, note: null };
  const { variables, note } = sampledAsDigest(intent.variables, SAMPLE_ITEMS, true, intent.causedAt);
  const version = findResource(configuration, 'template', workspace, template)?.version ?? 0;
  return { intent: { ...intent, variables, template, templateVersion: version }, note };
}
