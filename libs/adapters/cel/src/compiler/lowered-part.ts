import type { ASTNode } from '@marcbachmann/cel-js';
import type { Range } from './brackets.ts';
import type { Plan } from './plan.ts';

/** Slots of the names that loops and bindings made. */
export type Scope = { readonly slots: ReadonlyMap<string, number>; readonly loops: number; readonly depth: number };

/** Where calls leave their arguments: what turns the rest of the tree into ours. */
export type Lowers = {
  newSlot(): number;
  range(node: Range): Range;
  /** Notes a fault and stands in for the part, so that the rest is still looked at. */
  refuse(node: { readonly start: number; readonly end: number }, message: string, fix: string): Plan;
  lower(node: ASTNode, outer: Scope, deeper?: number): Plan;
};
