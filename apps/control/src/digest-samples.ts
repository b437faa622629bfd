import type { ChannelName } from '@carillon/domain/channels';
import { findResource, listResources, type Configuration, type Resource } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import { digestSettings, digestTemplateOf, digestValues } from '@carillon/domain/digests';
import type { Instant, JsonObject } from '@carillon/kernel';

/** Items of a digest preview if the request gives no number. */
const SAMPLE_ITEMS = 3;

/** Sample variables for the preview of a template, with a note about them for the user. */
export type Sampled = { readonly variables: JsonObject; readonly note: string | null };

/**
 * Returns the sample variables of a digest with a number of items, each made from the event, with `items`, `count` and
 * the other variables of a digest. `asked` is the number of items; undefined makes a digest only for a digest template,
 * and 0 one message. An event with its own `items` and `count` stays unchanged.
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
