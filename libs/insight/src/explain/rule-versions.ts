import {
  differencesOf,
  findRuleById,
  ruleIdOf,
  type Configuration,
  type PlacedRule,
} from '@carillon/domain/configuration';

/** Longer values of a field are cut, because a list of recipients may fill a screen. */
const MAX_VALUE_LENGTH = 200;

/**
 * Returns what differs between the version of a rule that evaluated an event and the published one, a line per field. Empty if the
 * published rule is the same.
 */
export function newerVersionLines(placed: PlacedRule, published: Configuration): readonly string[] {
  const newest = findRuleById(published, placed.workspace, ruleIdOf(placed));
  if (!newest) return [`since version ${placed.version} the rule was removed`];
  const differences = differencesOf(
    { ...placed.body, enabled: placed.enabled },
    { ...newest.body, enabled: newest.enabled },
  );
  if (differences.length === 0) return [];
  return [
    `since version ${placed.version} the rule was changed; version ${newest.version} is published:`,
    ...differences.map(({ path, before, after }) => `  ${path}: ${valueText(before)}  →  ${valueText(after)}`),
  ];
}

function valueText(value: unknown): string {
  const text = value === undefined ? 'not set' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}
