import { pathText, type FieldStep } from '@carillon/domain/events';
import type { FieldRequirement, Requirement } from '@carillon/domain/rules';
import type { Json } from '@carillon/kernel';
import { solveField } from './field-solver.ts';

/** Value that a field must have, or that it must be absent. */
export type Assignment = { readonly steps: readonly FieldStep[] } & (
  | { readonly value: Json }
  | { readonly absent: true }
);

/** Steps of the search; a condition of the size that people write takes some dozen. */
const MAX_STEPS = 20_000;

export type SolverSurroundings = {
  /** Returns the path of a field of the condition in the event. Null if it is not in the event. */
  readonly stepsOf: (requirement: FieldRequirement) => readonly FieldStep[] | null;
  /** Returns a default value for a field that the condition does not determine. */
  readonly usual: (steps: readonly FieldStep[]) => Json;
};

type Chosen = ReadonlyMap<string, { readonly steps: readonly FieldStep[]; readonly of: readonly FieldRequirement[] }>;

/**
 * Ways to make a condition true, the plainest first: each says what some fields have to hold. Parts of unknown form are
 * taken to be true, so each way is a proposal that the rule itself has to judge.
 */
export function* solve(requirement: Requirement, around: SolverSurroundings): Generator<readonly Assignment[]> {
  let left = MAX_STEPS;

  function* search(pending: readonly Requirement[], chosen: Chosen): Generator<readonly Assignment[]> {
    left -= 1;
    if (left < 0) return;
    // Requirements without a choice come first, because they narrow the choices.
    const first = pending.find((one) => one.kind !== 'any') ?? pending[0];
    if (!first) {
      yield assignmentsOf(chosen, around);
      return;
    }
    const rest = pending.filter((one) => one !== first);
    if (first.kind === 'unknown') yield* search(rest, chosen);
    else if (first.kind === 'all') yield* search([...first.of, ...rest], chosen);
    else if (first.kind === 'any') for (const one of first.of) yield* search([one, ...rest], chosen);
    else {
      const next = choose(first, chosen);
      if (next) yield* search(rest, next);
    }
  }

  function choose(one: FieldRequirement, chosen: Chosen): Chosen | null {
    const steps = around.stepsOf(one);
    if (steps === null) return chosen;
    const path = pathText(steps);
    const of = [...(chosen.get(path)?.of ?? []), one];
    if (solveField(of, around.usual(steps)) === null) return null;
    return new Map([...chosen, [path, { steps, of }] as const]);
  }

  yield* search([requirement], new Map());
}

function assignmentsOf(chosen: Chosen, { usual }: SolverSurroundings): readonly Assignment[] {
  return [...chosen.values()].flatMap(({ steps, of }): Assignment[] => {
    const solution = solveField(of, usual(steps));
    if (solution === null || solution.kind === 'any') return [];
    return [solution.kind === 'absent' ? { steps, absent: true } : { steps, value: solution.value }];
  });
}
