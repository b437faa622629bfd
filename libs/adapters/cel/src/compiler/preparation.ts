import type { ExpressionFault } from '@carillon/domain/rules';
import type { Result } from '@carillon/kernel';
import { err, ok } from '@carillon/kernel';
import { runByClosures } from './closures.ts';
import { faultAt } from './faults.ts';
import { runGenerated } from './generation.ts';
import { lowerExpression } from './lowering.ts';
import type { Parser } from './parser.ts';
import { MAX_SOURCE } from './parser.ts';
import type { Plan } from './plan.ts';
import type { Run } from './program.ts';

export type Prepared = { readonly plan: Plan; readonly type: string };

/** From text to a checked plan: length, syntax, names and functions, cost, types. */
export function prepare(parser: Parser, source: string): Result<Prepared, readonly ExpressionFault[]> {
  if (source.length > MAX_SOURCE) {
    const message = `the expression is ${source.length} characters long; at most ${MAX_SOURCE} are allowed`;
    return err([faultAt('', 0, message, 'split it into several rules or variables')]);
  }
  if (source.trim() === '') {
    return err([faultAt('', 0, 'the expression is empty', 'write a condition such as `event.type == "paid"`')]);
  }
  const parsed = parser.parse(source);
  if (!parsed.ok) return err([parsed.error]);
  const lowered = lowerExpression(source, parser.names, parsed.value);
  if (!lowered.ok) return lowered;
  const type = parsed.value.check();
  return type.ok ? ok({ plan: lowered.value, type: type.value }) : err([type.error]);
}

export const compilePlan = (plan: Plan, generate: boolean): Run =>
  generate ? runGenerated(plan) : runByClosures(plan);
