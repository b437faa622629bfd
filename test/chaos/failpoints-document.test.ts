import { readFile } from 'node:fs/promises';
import { FAILPOINT_ACTIONS } from '@carillon/runtime';
import { describe, expect, it } from 'vitest';
import { caseKey, caseName, everyCase, everyCaseOfRoles } from './failpoints/cases.ts';
import type { CaseEnd } from './failpoints/laboratory.ts';
import { clusterPart, embeddedPart, endsIn, failpointPage, partsOf } from './failpoints/table.ts';

const page = await readFile(new URL('../../docs/failpoints.md', import.meta.url), 'utf8');
const [embedded, cluster] = partsOf(page);

const namesOf = (ends: readonly CaseEnd[]): readonly string[] => ends.map((end) => caseKey(end.case)).toSorted();

/** Cases that were added when nobody had a cluster for an hour: whoever has runs them with `--table`, and takes them out here. */
const NOT_YET_ON_A_CLUSTER = /^(dead-letter|suppression|lease|secret|key-use|delivery\.renewal)|the \d\. time/;

/** That it ended so is looked at where it is let fail: `embedded/failpoints/failpoints.test.ts`. */
describe('docs/failpoints.md says how it ended at every place', () => {
  it('of the one process, whatever the failure', () => {
    const all = everyCase(FAILPOINT_ACTIONS).map(caseKey).toSorted();
    expect(namesOf(endsIn(embedded, null))).toEqual(all);
  });

  it('of the roles of a cluster, killed and with an error', () => {
    const ends = endsIn(cluster, 'who failed').filter((end) => ['kill', 'throw'].includes(end.case.action));
    const wanted = everyCaseOfRoles(['kill', 'throw']).filter((one) => !NOT_YET_ON_A_CLUSTER.test(caseName(one)));
    expect(namesOf(ends)).toEqual(wanted.map(caseKey).toSorted());
    for (const { who } of ends) expect(who).toMatch(/^(gateway|engine|delivery|control)( or |$)/);
  });

  it('and nothing that the long form would not write', () => {
    const written = failpointPage(embeddedPart(endsIn(embedded, null)), clusterPart(endsIn(cluster, 'who failed')));
    expect(page).toBe(written);
  });
});
