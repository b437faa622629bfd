import type { Run } from '@carillon/domain/runs';
import { compareHistory } from '../jobs/kinds/compare-history.ts';
import { findText } from '../jobs/kinds/find-text.ts';
import { verifyHistory } from '../jobs/kinds/verify-history.ts';
import type { RunKind } from './run-kind.ts';

/** All kinds of runs. */
export const RUN_KINDS: readonly RunKind[] = [compareHistory, verifyHistory, findText];

/** Returns the kind of a run. */
export function kindOfRun({ kind: name }: Pick<Run, 'kind'>): RunKind {
  const kind = RUN_KINDS.find((each) => each.kind === name);
  if (kind) return kind;
  throw new Error(`no kind of run is called ${name}`);
}
