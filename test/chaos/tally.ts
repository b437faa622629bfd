/** The ways in which the product is made to fail; each is a population of its own. */
export type PartName = 'kills at random' | 'cases at failpoints' | 'troubles of edges';

/** What one part of a long run did, and what it found. */
export type PartTally = { failures: number; readonly findings: string[] };

export type Tally = Readonly<Record<PartName, PartTally>> & {
  /** What was acknowledged while it was killed at random. */
  events: number;
  /**
   * Kills at random at which a call to the partner or the mail server was open, by their own books; on a cluster one of the
   * process that was killed, or a request of a client to it.
   */
  killsAtWork: number;
};

const NAMES: readonly PartName[] = ['kills at random', 'cases at failpoints', 'troubles of edges'];

export const newTally = (): Tally => ({
  'kills at random': { failures: 0, findings: [] },
  'cases at failpoints': { failures: 0, findings: [] },
  'troubles of edges': { failures: 0, findings: [] },
  events: 0,
  killsAtWork: 0,
});

export const findingsOf = (tally: Tally): readonly string[] => NAMES.flatMap((name) => tally[name].findings);

/**
 * One line for each part that was run. The rule of three bounds what is drawn by chance, so kills at random alone, and of
 * these such as met work; failpoints and edges are a list that is gone through. What was found justifies no bound.
 */
export const closingLines = (tally: Tally): readonly string[] =>
  NAMES.flatMap((name) => {
    const { failures, findings } = tally[name];
    if (failures + findings.length === 0) return [];
    const isDrawn = name === 'kills at random';
    const under = isDrawn ? ` under ${tally.events} events, ${tally.killsAtWork} of them at work` : '';
    const counted = `${failures} ${name}${under}, ${findings.length} findings`;
    if (!isDrawn || findings.length > 0 || tally.killsAtWork === 0) return [counted];
    const bound = `fewer than ${(3 / tally.killsAtWork).toPrecision(2)} of all kills at work lead to one`;
    return [`${counted}: with 95 % confidence ${bound} (3/n, n = ${tally.killsAtWork})`];
  });
