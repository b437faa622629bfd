import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { caseKey, everyCase, everyCaseOfRoles } from './failpoints/cases.ts';
import { everyChannelCase } from './failpoints/channel-cases.ts';
import type { CaseEnd } from './failpoints/laboratory.ts';
import { FAILPOINT_ACTIONS } from './failpoints/failpoints.ts';
import { channelPage, clusterPart, embeddedPart, endsIn, failpointPage, partsOf } from './failpoints/table.ts';

const page = await readFile(new URL('./failpoints/README.md', import.meta.url), 'utf8');
const [embedded, cluster] = partsOf(page);
const channels = await readFile(new URL('./failpoints/channels.md', import.meta.url), 'utf8');

const namesOf = (ends: readonly CaseEnd[]): readonly string[] => ends.map((end) => caseKey(end.case)).toSorted();

/** That it ended so is looked at where it is let fail: `embedded/failpoints/failpoints.proof.test.ts`. */
describe('failpoints/README.md says how it ended at every place', () => {
  it('for one process and each kind of failure', () => {
    const all = everyCase(FAILPOINT_ACTIONS).map(caseKey).toSorted();
    expect(namesOf(endsIn(embedded, null))).toEqual(all);
  });

  it('for the roles of a cluster and each kind of failure', () => {
    const ends = endsIn(cluster, 'who failed');
    expect(namesOf(ends)).toEqual(everyCaseOfRoles(FAILPOINT_ACTIONS).map(caseKey).toSorted());
    for (const { who } of ends) expect(who).toMatch(/^(gateway|engine|delivery|control)( or |$)/);
  });

  it('and contains nothing beyond the generated text', () => {
    const written = failpointPage(embeddedPart(endsIn(embedded, null)), clusterPart(endsIn(cluster, 'who failed')));
    expect(page).toBe(written);
  });
});

describe('failpoints/channels.md says of three channels', () => {
  it('how each failpoint ended, for a kill and for a pause', () => {
    const all = everyChannelCase(['kill', 'stop']).map(caseKey).toSorted();
    expect(namesOf(endsIn(channels, 'channel'))).toEqual(all);
  });

  it('nothing beyond the generated text', () => {
    expect(channels).toBe(channelPage(endsIn(channels, 'channel')));
  });
});
