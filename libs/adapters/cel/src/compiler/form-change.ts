import { conditionText, type ExpressionFault, type FormChange, type FormCondition } from '@carillon/domain/rules';
import { err, ok, type Result } from '@carillon/kernel';
import type { Range } from './brackets.ts';
import { PlacedText, type Link } from './chain.ts';
import { faultAt } from './faults.ts';
import type { Plan } from './plan.ts';

/** Plans a text on its own, so that typed text cannot end the expression around it. */
export type PlanText = (source: string) => Result<Plan, readonly ExpressionFault[]>;

type Splice = Range & { readonly text: string };
type Chain = { readonly plan: Plan; readonly links: readonly Link[] };

const SIGN = { all: '&&', any: '||' } as const;
const matchOf = ({ op }: Plan): keyof typeof SIGN => (op === 'or' ? 'any' : 'all');

/** Returns true for expressions that bind at most as strongly as a chain's operators and need brackets inside one. */
const isLoose = ({ op }: Plan): boolean => op === 'and' || op === 'or' || op === 'choose';

/** The text after a change of its form. Parts that the change does not name stay to the letter. */
export function changeForm(
  source: string,
  change: FormChange,
  planText: PlanText,
): Result<string, readonly ExpressionFault[]> {
  const written = 'condition' in change ? memberText(change.condition, planText) : ok('');
  if (!written.ok) return written;
  if (source.trim() === '') {
    return change.kind === 'add' && change.at.length === 0 ? ok(written.value) : noSuchPart(source);
  }
  const planned = planText(source);
  if (!planned.ok) return planned;
  const splices = splicesOf(new PlacedText(source), planned.value, change, written.value);
  return splices ? ok(spliced(source, splices)) : noSuchPart(source);
}

const noSuchPart = (source: string): Result<never, readonly ExpressionFault[]> =>
  err([faultAt(source, 0, 'the form has no part at this place', 'read the form again; the text has changed since')]);

/** A condition as a member of a chain. */
function memberText(condition: FormCondition, planText: PlanText): Result<string, readonly ExpressionFault[]> {
  const text = conditionText(condition).trim();
  const planned = planText(text);
  if (!planned.ok) return planned;
  const [only] = new PlacedText(text).links(planned.value);
  const bracketed = only?.whole.start === 0 && only.whole.end === text.length && only.plan.start > 0;
  // A comment at the end of a line would hide what follows it.
  const closed = text.includes('//') ? `${text}\n` : text;
  return ok((isLoose(planned.value) && !bracketed) || closed !== text ? `(${closed})` : text);
}

function splicesOf(text: PlacedText, plan: Plan, change: FormChange, written: string): readonly Splice[] | null {
  const form: Chain = { plan, links: text.links(plan) };
  if (change.kind === 'add' || change.kind === 'match') {
    const group = groupAt(text, form, change.at);
    if (!group) return null;
    return change.kind === 'add' ? addTo(text, group, written) : matchIn(text, group, change);
  }
  const place = memberAt(text, form, change.at);
  if (!place) return null;
  const { whole } = place.link;
  switch (change.kind) {
    case 'replace':
      return [{ ...whole, text: written }];
    case 'remove':
      return [{ ...cutOf(place), text: '' }];
    case 'group': {
      const sign = SIGN[place.chain.links.length > 1 && matchOf(place.chain.plan) === 'any' ? 'all' : 'any'];
      const old = closedText(text, place.link);
      return [{ ...whole, text: `(${old} ${sign} ${written})` }];
    }
  }
}

type Place = { readonly chain: Chain; readonly link: Link; readonly at: number };

function groupAt(text: PlacedText, form: Chain, at: readonly number[]): Chain | null {
  const [index, ...more] = at;
  if (index === undefined) return form;
  const plan = form.links[index]?.plan;
  return plan && more.length === 0 && (plan.op === 'and' || plan.op === 'or')
    ? { plan, links: text.links(plan) }
    : null;
}

function memberAt(text: PlacedText, form: Chain, address: readonly number[]): Place | null {
  const chain = groupAt(text, form, address.slice(0, -1));
  const at = address.at(-1) ?? -1;
  const link = chain?.links[at];
  return chain && link ? { chain, link, at } : null;
}

/** A member with the operator that joins it: the one before it, or of the first the one behind. */
function cutOf({ chain, link, at }: Place): Range {
  if (at > 0) return { start: link.from, end: link.whole.end };
  return { start: link.whole.start, end: chain.links[1]?.whole.start ?? link.whole.end };
}

/** A member as it would stand in any chain. */
function closedText({ source }: PlacedText, { plan, whole }: Link): string {
  const old = source.slice(whole.start, whole.end);
  return isLoose(plan) && whole.start === plan.start ? `(${old})` : old;
}

function addTo(text: PlacedText, { plan, links }: Chain, written: string): readonly Splice[] | null {
  const last = links.at(-1);
  if (!last) return null;
  const joined = ` ${SIGN[matchOf(plan)]} ${written}`;
  if (links.length > 1) return [{ start: last.whole.end, end: last.whole.end, text: joined }];
  return [{ ...last.whole, text: closedText(text, last) + joined }];
}

/** Every operator of the group; what would fall apart gets brackets. */
function matchIn(
  text: PlacedText,
  { plan, links }: Chain,
  { at, match }: Extract<FormChange, { kind: 'match' }>,
): readonly Splice[] {
  if (matchOf(plan) === match) return [];
  const signs = links
    .slice(1)
    .map(({ from, whole }) => ({ ...text.operatorBetween(from, whole.start), text: SIGN[match] }));
  const members = links.map((link) => ({ ...link.whole, text: closedText(text, link) }));
  const inner = [...signs, ...members];
  // A group without brackets was held together by its operator alone.
  if (at.length === 0 || text.whole(plan).start !== plan.start) return inner;
  return [{ start: plan.start, end: plan.start, text: '(' }, ...inner, { start: plan.end, end: plan.end, text: ')' }];
}

function spliced(source: string, splices: readonly Splice[]): string {
  let text = '';
  let at = 0;
  for (const { start, end, text: put } of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    text += source.slice(at, start) + put;
    at = end;
  }
  return text + source.slice(at);
}
