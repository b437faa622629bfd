import type { TextRange } from '@carillon/domain/rules';
import { runByClosures } from './closures.ts';
import { turnCost } from './cost.ts';
import type { Plan } from './plan.ts';
import { partsOf } from './plan.ts';
import type { Run } from './program.ts';

export type Part = TextRange & {
  readonly source: string;
  readonly depth: number;
  readonly run: Run;
  /** Steps that every evaluation of it takes. */
  readonly steps: number;
};

const isAccess = ({ op }: Plan): boolean =>
  op === 'field' || op === 'optional_field' || op === 'index' || op === 'optional_index';

/**
 * The parts of an expression that say something by themselves, outermost first: a path of fields is one part, a literal
 * is none, a loop and a binding are shown whole, since their bodies have no value of their own.
 */
export function partsToExplain(source: string, plan: Plan): readonly Part[] {
  const parts: Part[] = [];
  const walk = (each: Plan, depth: number, nameOf = (text: string): string => text): void => {
    if (each.op === 'literal' && depth > 0) return;
    const { start, end } = each;
    parts.push({
      source: nameOf(source.slice(start, end).trim()),
      start,
      end,
      depth,
      run: runByClosures(each),
      steps: turnCost(each),
    });
    if (each.op === 'bind') return;
    if (each.op === 'changed') {
      walk(each.of, depth + 1);
      // Replaces the root of the path, the only text of this part.
      walk(each.before, depth + 1, (text) => text.replace('event', 'previous'));
      for (const value of [each.from, each.to]) if (value) walk(value, depth + 1);
      return;
    }
    const inner =
      each.op === 'loop' ? [each.over] : partsOf(isAccess(each) || each.op === 'has' ? endOfPath(each) : each);
    for (const part of inner) walk(part, depth + 1);
  };
  walk(plan, 0);
  return parts;
}

/** Skips the steps of `event.customer.email`: what is left is what the path begins at. */
function endOfPath(plan: Plan): Plan {
  const of = 'of' in plan && (isAccess(plan) || plan.op === 'has') ? plan.of : undefined;
  if (of === undefined) return plan;
  if (of.op === 'root' || of.op === 'local') return of;
  return isAccess(of) ? endOfPath(of) : plan;
}
