import { whoIsDropped, type Bindings, type CompiledRule, type Dropped } from '@carillon/domain/rules';

/** Dropped recipients that are listed. A trace lists all of them among the people of the event. */
const MAX_DROPS = 20;

const bigintText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

/** Returns the parts of a rule's condition with their values, one per line and indented by depth. */
export const conditionLines = (rule: Pick<CompiledRule, 'when'>, bindings: Bindings): readonly string[] =>
  rule.when.explain(bindings).map(({ source, depth, result }) => {
    const value = result.ok ? JSON.stringify(result.value, bigintText) : `error: ${result.error}`;
    return `${'  '.repeat(depth)}${source}  →  ${value}`;
  });

/** Returns the dropped recipients or user ids with their reasons, one per line. */
export function dropLines(what: string, dropped: readonly Dropped[]): readonly string[] {
  const lines = dropped
    .slice(0, MAX_DROPS)
    .map((drop) => `${whoIsDropped(what, drop)} dropped: ${drop.reason} (${drop.detail})`);
  return dropped.length > MAX_DROPS ? [...lines, `and ${dropped.length - MAX_DROPS} more`] : lines;
}
