import type { ChannelName } from '@carillon/domain/channels';
import type { Configuration, NotificationBody } from '@carillon/domain/configuration';
import { digestTemplateOf } from '@carillon/domain/digests';
import { templateForReader, type FoundTemplate } from '@carillon/domain/templates';
import { stringifyJson, type JsonObject } from '@carillon/kernel';
import type { Message } from '../evaluate/make-intents.ts';

/** Templates that a message is rendered with, in the language of its reader. Undefined: there is none. */
export type MessageTemplates = {
  readonly own: FoundTemplate | undefined;
  readonly digest: FoundTemplate | undefined;
};

/** Finds the templates of a message under a configuration. */
export function templatesOf(
  configuration: Configuration,
  workspace: string,
  body: NotificationBody,
  { channel, template, variables }: Message,
): MessageTemplates {
  const find = (name: string): FoundTemplate | undefined => chosen(configuration, workspace, name, channel, variables);
  const own = find(template);
  const digest = digestTemplateOf(body, channel);
  if (digest === undefined) return { own, digest: undefined };
  return { own, digest: digest === template ? own : find(digest) };
}

const chosen = (
  configuration: Configuration,
  workspace: string,
  name: string,
  channel: ChannelName,
  variables: JsonObject,
): FoundTemplate | undefined => templateForReader(configuration, workspace, name, channel, variables)?.chosen;

/** Returns the whole content of a template, with layouts and partials put in. Equal texts are equal content. */
export function contentOfTemplate({ template }: FoundTemplate): string {
  const { parts, settings, strict } = template;
  return JSON.stringify([sorted(parts), sorted(settings), strict]);
}

const sorted = (record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] =>
  Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Returns variables as text. The order of names in an object does not matter. */
export const textOfVariables = (variables: JsonObject): string => stringifyJson(inOrder(variables) as JsonObject);

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, inOrder(item)]),
  );
}
