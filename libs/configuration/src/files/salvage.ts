import type { NotificationBody, RuleBody } from '@carillon/domain';
import { parseAsWritten } from './read-file.ts';
import type { YamlSource } from './yaml-source.ts';

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const CHANNELS = { email: { template: 'any' } };
const RECIPIENTS = { from: 'event', to: { email: 'event.any' } };

/**
 * What can still be checked of a notification whose file has a mistake of shape: its rules that are whole, and of the
 * others the condition alone. So a mistake in one line does not hide those in the expressions (all mistakes at once).
 * Undefined where there is nothing to go on with.
 */
export function salvageRules(value: unknown, source: YamlSource): NotificationBody | undefined {
  const rules = isGroup(value) ? value['rules'] : undefined;
  if (!isGroup(rules)) return undefined;
  const kept: Record<string, RuleBody> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const candidates = isGroup(rule) ? [rule, { when: rule['when'], recipients: RECIPIENTS }] : [];
    const shaped = candidates
      .map((candidate) => parseAsWritten('notification', { channels: CHANNELS, rules: { [name]: candidate } }, source))
      .find((parsed) => parsed.success);
    if (shaped?.success) Object.assign(kept, shaped.data.rules);
  }
  return Object.keys(kept).length === 0 ? undefined : { channels: CHANNELS, rules: kept };
}
