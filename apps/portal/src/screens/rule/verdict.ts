import type { Schemas } from '../../api/client.ts';

export type Tested = Schemas['RuleTest'];
type Part = Tested['explained'][number];

const isFalse = ({ value }: Part): boolean => value === 'false';
const isError = ({ value }: Part): boolean => value.startsWith('error: ');
const isBoolean = ({ value }: Part): boolean => value === 'true' || value === 'false';

/** The parts right below one, by their places in the list, which stands as a tree is read. */
function below(parts: readonly Part[], at: number): readonly number[] {
  const depth = parts[at]?.depth ?? 0;
  const found: number[] = [];
  for (let next = at + 1; next < parts.length && (parts[next]?.depth ?? 0) > depth; next += 1) {
    if (parts[next]?.depth === depth + 1) found.push(next);
  }
  return found;
}

/**
 * The part that decided why a condition is not true: the first one, from the left, whose own value made it so. Null where it
 * is true, or nothing was worked out.
 */
export function decidingPart(parts: readonly Part[]): number | null {
  const [whole] = parts;
  if (!whole || (!isFalse(whole) && !isError(whole))) return null;
  let at = 0;
  for (;;) {
    const children = below(parts, at);
    const isSame = isFalse(parts[at] as Part) ? isFalse : isError;
    // A comparison of values that happen to be true or false is decided by itself.
    const next = children.every((child) => isBoolean(parts[child] as Part) || isError(parts[child] as Part))
      ? children.find((child) => isSame(parts[child] as Part))
      : children.find((child) => isError(parts[child] as Part) && isError(parts[at] as Part));
    if (next === undefined) return at;
    at = next;
  }
}

/** Values of the part that decided: `event.total is 40`. */
function valuesBelow(parts: readonly Part[], at: number): string {
  const said = below(parts, at)
    .map((child) => parts[child])
    .filter((part): part is Part => part !== undefined && !/^["'\d[-]|^(?:true|false|null)$/.test(part.source))
    .map(({ source, value }) => `${source} is ${value}`);
  return said.length === 0 ? '' : `: ${said.join(', ')}`;
}

/** Returns the recipient's name, else the first address, else the person id of the rule. */
export const nameOf = ({ name, to, person }: Tested['recipients'][number]): string =>
  name ?? Object.values(to).find((address) => address !== null) ?? person;

/** In one sentence whether the rule fires, and if not what kept it from it. */
export function verdictOf(tested: Tested): { readonly fires: boolean; readonly words: string } {
  const { fired, explained, error, outcome, recipients, dropped, asks } = tested;
  if (fired) {
    const already = recipients.filter(({ notified_already: isNotified }) => isNotified);
    const people = recipients.length - already.length;
    const [first] = already;
    if (asks !== null && recipients.length === 0) {
      return { fires: true, words: `Fires, and asks ${asks.integration} about ${asks.user_ids.join(', ')}.` };
    }
    const who = first && already.length === 1 ? `${nameOf(first)} was` : `${already.length} people were`;
    const before = first === undefined ? '' : `${who} notified already`;
    const told = `${people === 1 ? '1 person is' : `${people} people are`} notified`;
    const nobody = before === '' ? 'nobody is notified' : before;
    const words = people === 0 ? `Fires, but ${nobody}` : `Fires: ${told}${before === '' ? '' : `, ${before}`}`;
    return { fires: true, words: dropped.length === 0 ? `${words}.` : `${words}, ${dropped.length} dropped.` };
  }
  const at = decidingPart(explained);
  const part = at === null ? undefined : explained[at];
  if (at !== null && part) {
    if (isError(part))
      return {
        fires: false,
        words: `Does not fire: ${part.source} gives an error, ${part.value.slice(7).replace(/\.$/, '')}.`,
      };
    return { fires: false, words: `Does not fire: ${part.source} is false${valuesBelow(explained, at)}.` };
  }
  return { fires: false, words: `Does not fire: ${error ?? outcome}.` };
}
