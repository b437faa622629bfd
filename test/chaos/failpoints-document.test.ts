import { readFile } from 'node:fs/promises';
import { FAILPOINT_ACTIONS } from '@carillon/runtime';
import { describe, expect, it } from 'vitest';
import { everyCase, everyCaseOfRoles, situationOf, type FailpointCase, type Situation } from './failpoints/cases.ts';
import type { CaseEnd } from './failpoints/laboratory.ts';
import { clusterPart, embeddedPart, failpointPage, partsOf, SITUATION } from './failpoints/table.ts';

const page = await readFile(new URL('../../docs/failpoints.md', import.meta.url), 'utf8');
const [embedded, cluster] = partsOf(page);
const SITUATIONS = Object.keys(SITUATION) as Situation[];

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** How each case ended, as the page has it. */
function endsIn(part: string, before: 'who failed' | null): readonly CaseEnd[] {
  const lines = part.split('\n').filter((line) => line.startsWith('| '));
  const [head = [], ...rows] = lines.map(cellsOf);
  return rows.flatMap((cells) =>
    FAILPOINT_ACTIONS.flatMap((action): readonly CaseEnd[] => {
      const cell = cells[head.indexOf(action)] ?? '';
      const [, state, messages] = /^([A-Z_]+ [a-z_]+), ([01]) mails?$/.exec(cell) ?? [];
      if (state === undefined) return [];
      const at = (cells[0] ?? '').replaceAll('`', '');
      const words = cells[head.indexOf('what is under way')];
      const situation = SITUATIONS.find((one) => SITUATION[one] === words) ?? 'order';
      const who = before === null ? '' : (cells[head.indexOf(before)] ?? '');
      return [{ case: { at, action, situation }, reached: true, who, state, messages: Number(messages) }];
    }),
  );
}

const nameOf = (one: FailpointCase): string => `${one.at}: ${one.action} (${situationOf(one)})`;
const namesOf = (ends: readonly CaseEnd[]): readonly string[] => ends.map((end) => nameOf(end.case)).toSorted();

describe('docs/failpoints.md says how it ended at every place', () => {
  it('of the one process, whatever the failure', () => {
    const all = everyCase(FAILPOINT_ACTIONS).map(nameOf).toSorted();
    expect(namesOf(endsIn(embedded, null))).toEqual(all);
  });

  it('of the roles of a cluster, killed and with an error', () => {
    const ends = endsIn(cluster, 'who failed').filter((end) => ['kill', 'throw'].includes(end.case.action));
    expect(namesOf(ends)).toEqual(everyCaseOfRoles(['kill', 'throw']).map(nameOf).toSorted());
    for (const { who } of ends) expect(who).toMatch(/^(gateway|engine|delivery|control)( or |$)/);
  });

  it('and nothing that the long form would not write', () => {
    const written = failpointPage(embeddedPart(endsIn(embedded, null)), clusterPart(endsIn(cluster, 'who failed')));
    expect(page).toBe(written);
  });
});
