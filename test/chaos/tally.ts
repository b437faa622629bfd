/** The ways in which the product is made to fail; each is a population of its own. */
export type PartName = 'kills at random' | 'cases at failpoints' | 'troubles of edges';

/** What one part of a long run did, and what it found. */
export type PartTally = { failures: number; readonly findings: string[] };

export type Tally = Readonly<Record<PartName, PartTally>> & {
  /** What was acknowledged while it was killed at random. */
  events: number;
};

const NAMES: readonly PartName[] = ['kills at random', 'cases at failpoints', 'troubles of edges'];

export const newTally = (): Tally => ({
  'kills at random': { failures: 0, findings: [] },
  'cases at failpoints': { failures: 0, findings: [] },
  'troubles of edges': { failures: 0, findings: [] },
  events: 0,
});

export const findingsOf = (tally: Tally): readonly string[] => NAMES.flatMap((name) => tally[name].findings);

/**
 * One line for each part that was run. The rule of three bounds what is drawn from one population: kills at random say
 * nothing of failpoints, nor these of them, so no part lends another its number. What was found justifies no bound.
 */
export const closingLines = (tally: Tally): readonly string[] =>
  NAMES.flatMap((name) => {
    const { failures, findings } = tally[name];
    if (failures + findings.length === 0) return [];
    const under = name === 'kills at random' ? ` under ${tally.events} events` : '';
    const counted = `${failures} ${name}${under}, ${findings.length} findings`;
    if (findings.length > 0) return [counted];
    const bound = (3 / failures).toPrecision(2);
    return [`${counted}: with 95 % confidence fewer than ${bound} of all such lead to one (3/n, n = ${failures})`];
  });
