import { countLookups, type Evidence } from '../harness/evidence.ts';
import type { Posters } from './posters.ts';

/** Figures of a crash run on either backend. */
export function figuresOf(posters: Posters, evidence: Evidence): Readonly<Record<string, number>> {
  const { deliveries, evaluations } = evidence;
  const countInDoubt = (reason: string): number =>
    deliveries.filter((delivery) => delivery.state === 'IN_DOUBT' && delivery.reason === reason).length;
  const starts = new Set(evaluations.map(({ partition, from }) => `${partition}/${from}`));
  return {
    acknowledged: posters.taken(),
    changes: posters.posts.changes.length,
    ...countLookups(evidence),
    requestsCut: posters.cut(),
    deliveries: deliveries.length,
    duplicates: deliveries.reduce((sum, { duplicates }) => sum + duplicates, 0),
    failed: deliveries.filter(({ state }) => state === 'FAILED').length,
    attempts: deliveries.reduce((sum, { attempts }) => sum + attempts.length, 0),
    doubtsByKill: countInDoubt('lease_ran_out'),
    doubtsByDrop: countInDoubt('answer_unknown'),
    evaluationsRepeated: evaluations.length - starts.size,
  };
}
