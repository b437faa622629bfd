import { variantsOf } from '@carillon/domain/channels';
import {
  findResource,
  resourceKey,
  type Configuration,
  type NotificationBody,
  type Resource,
  type ResourceRef,
} from '@carillon/domain/configuration';
import { assemble, includesOf } from '@carillon/domain/templates';
import { isSameBody, templateNames, templateText } from './edit.ts';

/** The edited configuration of a run, and the configuration that is published now. */
type Publication = { readonly after: Configuration; readonly published: Configuration };

/**
 * Returns the resources of some notifications that differ between an edit and what is published: the notification itself, its templates,
 * their layouts and partials, and the integrations that its rules ask. Ids of notifications and rules do not count, because
 * publishing gives new ones others.
 */
export function unpublishedOf(
  sides: Publication,
  notifications: readonly string[],
  workspace: string,
): readonly ResourceRef[] {
  const refs = notifications.flatMap((name) => unpublishedOfOne(sides, name, workspace));
  return [...new Map(refs.map((ref) => [resourceKey(ref), ref])).values()];
}

function unpublishedOfOne(sides: Publication, name: string, workspace: string): readonly ResourceRef[] {
  const after = findResource(sides.after, 'notification', workspace, name);
  const published = findResource(sides.published, 'notification', workspace, name);
  const notification = { kind: 'notification', workspace, name } as const;
  if (!after || !published) return after || published ? [notification] : [];
  if (!isSameBody({ body: withoutIds(after.body) }, { body: withoutIds(published.body) })) return [notification];
  return [
    ...templateNames(after).flatMap(([channel, template]) =>
      templateText(sides.after, workspace, template, channel) ===
      templateText(sides.published, workspace, template, channel)
        ? []
        : different(sides, (side) => resourcesOfTemplate(side, workspace, template, channel)),
    ),
    ...different(sides, (side) => integrationsOf(side, after)),
  ];
}

function withoutIds({ id: _id, rules, ...body }: NotificationBody): NotificationBody {
  const named = Object.entries(rules).map(([name, { id: _ruleId, ...rule }]) => [name, rule] as const);
  return { ...body, rules: Object.fromEntries(named) };
}

/** Returns those of the resources that either side uses whose bodies differ, or that only one side has. */
function different(
  { after, published }: Publication,
  usedBy: (side: Configuration) => readonly Resource[],
): readonly ResourceRef[] {
  return [...usedBy(after), ...usedBy(published)].flatMap(({ ref }) => {
    const [edited, current] = [after, published].map((side) => side.resources.get(resourceKey(ref)));
    return edited && current && isSameBody(edited, current) ? [] : [ref];
  });
}

/** Returns a template with the layouts and partials that are put into it. */
function resourcesOfTemplate(
  configuration: Configuration,
  workspace: string,
  name: string,
  channel: Parameters<typeof templateText>[3],
): readonly Resource[] {
  const template = findResource(configuration, 'template', workspace, name);
  if (!template) return [];
  const used: Resource[] = [template];
  for (const variant of variantsOf(template.body, channel)) {
    assemble(variant, includesOf(configuration, workspace, used));
  }
  return used;
}

/** Returns the integrations that rules of a notification ask. */
const integrationsOf = (configuration: Configuration, { ref, body }: Resource<'notification'>): readonly Resource[] =>
  Object.values(body.rules).flatMap(({ recipients }) => {
    if (recipients.from !== 'lookup') return [];
    return findResource(configuration, 'integration', ref.workspace, recipients.integration) ?? [];
  });
