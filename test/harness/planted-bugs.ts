import { CADENCE_BUGS } from './planted-bugs/cadence-bugs.ts';
import { CRASH_BUGS } from './planted-bugs/crash-bugs.ts';
import { ERASURE_BUGS } from './planted-bugs/erasure-bugs.ts';
import { PEOPLE_BUGS } from './planted-bugs/people-bugs.ts';
import type { TestedBug } from './planted-bugs/planted-bug.ts';
import { PORT_BUGS } from './planted-bugs/port-bugs.ts';
import { REPLAY_BUGS } from './planted-bugs/replay-bugs.ts';
import { STATE_BUGS } from './planted-bugs/state-bugs.ts';
import type { Change } from './planting.ts';
import type { PromiseName } from './promises.ts';

/** A planted bug, the promise that it breaks, and the proof that turns red. */
export type ListedBug = {
  readonly name: string;
  readonly breaks: PromiseName;
  readonly proof: string;
  readonly changes: readonly Change[];
};

const SIMULATION = 'test/simulation/simulation.proof.test.ts';
/** Bugs that tests of single parts find; the proof runs these tests with each bug. */
const TESTED = 'test/harness/planted-bugs.proof.test.ts';

const testedBugs = (bugs: Readonly<Record<string, TestedBug>>, breaks: PromiseName): readonly ListedBug[] =>
  Object.entries(bugs).map(([name, { changes }]) => ({ name, breaks, proof: TESTED, changes }));

/** Every planted bug of chaos, simulation and the tests of single parts. The doubles of fuzz are in its oracle's proof. */
export const PLANTED_BUGS: readonly ListedBug[] = [
  ...Object.entries(CRASH_BUGS).map(([name, bug]) => ({ name, ...bug })),
  ...Object.entries(PORT_BUGS).map(([name, { breaks }]) => ({ name, breaks, proof: SIMULATION, changes: [] })),
  ...testedBugs(CADENCE_BUGS, 'cadence'),
  ...testedBugs(PEOPLE_BUGS, 'people_and_audit'),
  ...testedBugs(REPLAY_BUGS, 'replay'),
  ...testedBugs(ERASURE_BUGS, 'erasure'),
  ...testedBugs(STATE_BUGS, 'rules_with_state'),
];
