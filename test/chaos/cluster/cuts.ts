import type { Cut } from '../asking.ts';
import type { Fault } from './supervisor.ts';

/** What a busy machine takes from a call's answer to its place in the store, and from a death to the last that came of it. */
const NEAR = 5_000;
/** Where calls are made, and where it stands what came of them. A broker keeps nobody from writing that down. */
const CUTTING = /^(?:kill|hold) (engine \d+|FerretDB|PostgreSQL)/;

/** When the faults may have cut off calls to the partner: engines killed or held, the database away. */
export const cutsOf = (faults: readonly Fault[]): readonly Cut[] =>
  faults.flatMap(({ at, what }): readonly Cut[] => {
    const [, part] = CUTTING.exec(what) ?? [];
    if (part === undefined) return [];
    const over = faults.find((later) => later.at >= at && new RegExp(`^${part} (?:is back|goes on)$`).test(later.what));
    return [{ from: at - NEAR, until: (what.startsWith('kill engine') ? at : (over?.at ?? at)) + NEAR }];
  });
