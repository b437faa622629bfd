import type { ChannelName } from '@carillon/domain/channels';
import { findResource, listResources, type Configuration, type Resource } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import { digestSettings, digestTemplateOf, digestValues } from '@carillon/domain/digests';
import type { Instant, JsonObject } from '@carillon/kernel';

/** Items of a digest preview if the request gives no number. */
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
    ({ body }) => digestTemplateOf(body, channel) === template,
  );

/** The digest that a message becomes an item of, with others like it; the message itself where it goes alone. */
export function asDigest(
  intent: Intent,
  notification: Resource<'notification'>,
  configuration: Configuration,
): { readonly intent: Intent; readonly note: string | null } {
  const { workspace, channel } = intent.slot;
  const template = digestTemplateOf(notification.body, channel);
  if (template === undefined || digestSettings(notification.body)?.when !== 'always') return { intent, note: null };
  const { variables, note } = sampledAsDigest(intent.variables, SAMPLE_ITEMS, true, intent.causedAt);
  const version = findResource(configuration, 'template', workspace, template)?.version ?? 0;
  return { intent: { ...intent, variables, template, templateVersion: version }, note };
}
