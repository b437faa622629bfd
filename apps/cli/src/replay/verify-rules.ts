import type { Configuration } from '@carillon/domain/configuration';
import type { Duration, Instant } from '@carillon/kernel';
import { keepsState, lookbackOf, narrowRuleBook, NO_LOOKBACK, statefulRules, type Lookback } from '@carillon/stages';
import type { VerifyParts } from './verify-parts.ts';

/** A record of the configuration that was appended so much later than it was published came from another deployment. */
const MOVED_AFTER: Duration = 60_000;

/** The rules with state of a verified workspace, over all its configurations. */
export type StatefulRules = {
  readonly lookback: Lookback;
  /** Time at which a move imported states, whose events are not on this log. Null: no move imported any. */
  readonly movedAt: Instant | null;
  /** Returns true if a rule of the stream keeps state, so that an event alone does not say what its rules make of it. */
  keepsState(configuration: Configuration, stream: string): boolean;
  /** Returns true if a rule keeps state under the configuration of this number. */
  isStateful(configNumber: number, ruleId: string): Promise<boolean>;
};

/** Returns null if no rule has ever kept state. A wait that began under an earlier configuration keeps its deadline, so all of them count. */
export async function statefulRulesOf({
  book,
  configuration,
  history,
  run,
}: VerifyParts): Promise<StatefulRules | null> {
  const own = narrowRuleBook(book, ({ workspace }) => workspace === run.workspace);
  const byNumber = new Map<number, ReadonlySet<string>>();
  const rulesOf = async (number: number): Promise<ReadonlySet<string>> => {
    const known = byNumber.get(number);
    if (known) return known;
    const at = await configuration.at(number);
    const rules = statefulRules({ before: at, after: at }, own);
    byNumber.set(number, rules);
    return rules;
  };
  let lookback: Lookback = NO_LOOKBACK;
  let hasAny = false;
  await configuration.at(run.published);
  for (const { number } of configuration.history.publications()) {
    if (number > run.published || (await rulesOf(number)).size === 0) continue;
    hasAny = true;
    const at = await configuration.at(number);
    lookback = widerOf(lookback, lookbackOf({ before: at, after: at }, own));
  }
  if (!hasAny) return null;
  return {
    lookback,
    movedAt: await movedAtOf({ configuration, history }),
    keepsState: (at, stream) => keepsState(own.rulesOf(at, stream)),
    isStateful: async (number, ruleId) => (await rulesOf(number)).has(ruleId),
  };
}

async function movedAtOf({
  configuration,
  history,
}: Pick<VerifyParts, 'configuration' | 'history'>): Promise<Instant | null> {
  const [oldest] = configuration.history.publications();
  const [record] = oldest ? await history.read('carillon.config', 0, oldest.number, 1) : [];
  return oldest && record && record.time - Date.parse(oldest.at) > MOVED_AFTER ? record.time : null;
}

const widerOf = (a: Lookback, b: Lookback): Lookback => ({
  span: Math.max(a.span, b.span),
  readsEventBefore: a.readsEventBefore || b.readsEventBefore,
  ownTimes: a.ownTimes.union(b.ownTimes),
});
