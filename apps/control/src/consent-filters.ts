import { CHANNEL_NAMES } from '@carillon/domain/channels';
import type { Consents, ConsentEntry } from '@carillon/domain/consent';
import { CarillonError, CONTROL } from '@carillon/kernel';
import { z } from 'zod';
import type { VisibleScope } from './access/visible-scope.ts';
import type { TargetNames } from './consent-words.ts';
import { oneOfWords } from './routes/app.ts';

export const TARGETS = ['all', 'category', 'notification'] as const;
export const targetWord = oneOfWords('target', TARGETS);
export const channelWord = oneOfWords('channel', CHANNEL_NAMES);
export const personText = z
  .string()
  .trim()
  .min(1)
  .max(4096)
  .refine((text) => !CONTROL.test(text), 'has a control character')
  .describe('The id that a rule gives them, or an address, whatever its case and form');

/** Filters for people by their choices. A single choice must match all filters. */
export const consentFilters = {
  target: targetWord.optional().describe('Channel, category or notification of the choice'),
  name: z.string().min(1).max(200).optional().describe('Of the category or notification; needs `target`'),
  channel: channelWord.optional().describe('Choices for this channel or for all channels'),
  opted_out: z.enum(['true', 'false']).optional().describe('Only who wants it no more, or only who wants it again'),
};
type Filters = z.infer<z.ZodObject<typeof consentFilters>>;

const refused = (detail: string): CarillonError =>
  new CarillonError('invalid_request', `name: ${detail}`, { pointer: '/name' });

/**
 * Returns a predicate for documents with at least one matching choice. Throws for a name unknown in the visible
 * workspaces.
 */
export function consentFilter(
  filters: Filters,
  sight: VisibleScope,
  namesIn: (workspace: string) => TargetNames,
): (document: Consents) => boolean {
  const isMatch = consentWordFilter(filters, sight, namesIn);
  const { target, channel, opted_out: optedOut } = filters;
  const isAll = [target, channel, optedOut].every((one) => one === undefined);
  return ({ workspace, words }) => isAll || words.some((word) => isMatch(workspace, word));
}

/** Returns a predicate for matching choices of a workspace. Throws for a name unknown in the visible workspaces. */
export function consentWordFilter(
  { target, name, channel, opted_out: optedOut }: Filters,
  { names: workspaces }: VisibleScope,
  namesIn: (workspace: string) => TargetNames,
): (workspace: string, word: ConsentEntry) => boolean {
  if (name !== undefined && (target === undefined || target === 'all')) {
    throw refused('say with target whether it is a category or a notification');
  }
  const places = new Map<string, ReadonlySet<string>>();
  let fault: string | undefined;
  for (const workspace of name === undefined || target === undefined ? [] : workspaces) {
    const names = namesIn(workspace);
    const found = names.target(target ?? 'all', name ?? '');
    if ('fault' in found) fault ??= found.fault;
    else places.set(workspace, new Set(names.everyName(found).map((one) => ('name' in one ? one.name : ''))));
  }
  if (fault !== undefined && places.size === 0) throw refused(fault);
  return (workspace, word) =>
    (target === undefined || word.target.kind === target) &&
    (name === undefined || ('name' in word.target && places.get(workspace)?.has(word.target.name) === true)) &&
    (channel === undefined || word.channel === null || word.channel === channel) &&
    (optedOut === undefined || word.optedOut === (optedOut === 'true'));
}
