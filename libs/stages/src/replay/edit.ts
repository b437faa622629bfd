import { channelOf, channelsOf } from '@carillon/domain/channels';
import {
  canonical,
  findResource,
  listResources,
  ruleTitle,
  streamTable,
  type Configuration,
  type Resource,
  type ResourceRef,
} from '@carillon/domain/configuration';
import { digestTemplateOf } from '@carillon/domain/digests';
import { hasTotals } from '@carillon/domain/rules';
import type { CompareRun } from '@carillon/domain/runs';
import { findTemplates } from '@carillon/domain/templates';
import type { RuleBook } from '../evaluate/rule-book.ts';
import { contentOfTemplate } from './message-content.ts';
import type { ComparedConfigurations } from './compare-event.ts';
import { showsEventBefore } from './row-firing.ts';

/** Kinds whose edits change messages, but not in a comparison: answers are recorded, events are on their stream, and a default language is left. */
const NOT_COMPARED = ['integration', 'stream', 'workspace'] as const;

/** What differs between the configurations of a comparison. */
export type Edit = Pick<CompareRun, 'notifications' | 'notCompared'>;

/**
 * Returns the notifications of a workspace whose own body, template, layout or partial differs, sorted by name. A notification that
 * only one side has differs. Also returns the edited resources that a comparison does not take into account.
 */
export function editOf({ before, after }: ComparedConfigurations, workspace: string): Edit {
  const names = new Set(
    [before, after].flatMap((side) => listResources(side, 'notification', workspace).map(({ ref }) => ref.name)),
  );
  return {
    notifications: [...names].filter((name) => differs(name, workspace, { before, after })).toSorted(),
    notCompared: NOT_COMPARED.flatMap((kind) => differentResources(kind, workspace, { before, after })),
  };
}

function differs(name: string, workspace: string, { before, after }: ComparedConfigurations): boolean {
  const old = findResource(before, 'notification', workspace, name);
  const edited = findResource(after, 'notification', workspace, name);
  if (!old || !edited || !isSameBody(old, edited)) return true;
  return templateNames(edited).some(
    ([channel, template]) =>
      templateText(before, workspace, template, channel) !== templateText(after, workspace, template, channel),
  );
}

type ChannelAndTemplate = readonly [channel: Parameters<typeof findTemplates>[3], template: string];

/** Templates that messages and digests of a notification are rendered with. */
export const templateNames = ({ body }: Resource<'notification'>): readonly ChannelAndTemplate[] =>
  channelsOf(body).flatMap(([channel]) => {
    const names = new Set([channelOf(body, channel)?.template, digestTemplateOf(body, channel)]);
    return [...names].flatMap((name): readonly ChannelAndTemplate[] => (name === undefined ? [] : [[channel, name]]));
  });

/** The content of a template in all its languages, with layouts and partials put in. Null if there is no template of this name. */
export function templateText(
  configuration: Configuration,
  workspace: string,
  name: string,
  channel: ChannelAndTemplate[0],
): string | null {
  const found = findTemplates(configuration, workspace, name, channel);
  return found ? JSON.stringify(found.variants.map((each) => [each.variant, contentOfTemplate(each)])) : null;
}

export const isSameBody = (a: Pick<Resource, 'body'>, b: Pick<Resource, 'body'>): boolean =>
  a.body === b.body || canonical(a.body) === canonical(b.body);

function differentResources(
  kind: (typeof NOT_COMPARED)[number],
  workspace: string,
  { before, after }: ComparedConfigurations,
): readonly Pick<ResourceRef, 'kind' | 'name'>[] {
  const names = new Set(
    [before, after].flatMap((side) => listResources(side, kind, workspace).map(({ ref }) => ref.name)),
  );
  return [...names].toSorted().flatMap((name) => {
    const old = findResource(before, kind, workspace, name);
    const edited = findResource(after, kind, workspace, name);
    return old && edited && isSameBody(old, edited) ? [] : [{ kind, name }];
  });
}

/**
 * Returns the rules, as `notification.rule`, whose messages a sending job cannot make from the rows of a comparison: they show values of the
 * event before, or ask a partner by their totals. `asks`: questions to partners are chosen too.
 */
export function unsendableRules(
  configuration: Configuration,
  book: Pick<RuleBook, 'rulesOf'>,
  asks: boolean,
): readonly string[] {
  const titles = entriesOf({ before: configuration, after: configuration }, book).flatMap((entry) => {
    if (!entry.ok || entry.rule.memory === null) return [];
    const { rule } = entry;
    const isUnsendable = showsEventBefore(rule) || (asks && rule.from === 'lookup' && hasTotals(rule));
    return isUnsendable ? [ruleTitle(entry.placed)] : [];
  });
  return [...new Set(titles)].toSorted();
}

/** Returns the streams that feed a rule of the run on either side. Events on other streams are skipped unread. */
export const streamsOf = (
  configurations: ComparedConfigurations,
  book: Pick<RuleBook, 'rulesOf'>,
): ReadonlySet<string> => new Set(entriesOf(configurations, book).map(({ placed }) => placed.stream));

/** Returns true if a rule of the run asks a partner on either side, so that recorded answers are needed. */
export const asksPartner = (configurations: ComparedConfigurations, book: Pick<RuleBook, 'rulesOf'>): boolean =>
  entriesOf(configurations, book).some((entry) => entry.ok && entry.rule.from === 'lookup');

const entriesOf = ({ before, after }: ComparedConfigurations, book: Pick<RuleBook, 'rulesOf'>) =>
  [before, after].flatMap((side) =>
    [...streamTable(side).rules.keys()].flatMap((stream) => book.rulesOf(side, stream)),
  );
