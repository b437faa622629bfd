import { ruleTitle, streamTable, type PlacedRule } from '@carillon/domain/configuration';
import type { ConfigurationView, WaitingEntities } from '@carillon/ports';
import { forEachConcurrently } from '@carillon/stages';
import type { Check } from './ports.ts';
import { canWait, countWaiting, describeWaiting, type WaitingPorts } from './waiting-entities.ts';

/** Rules that the doctor names: those with the earliest deadlines. */
const MAX_NAMED = 20;
const CONCURRENCY = 8;

type WaitCheckPorts = WaitingPorts & { readonly configuration: Pick<ConfigurationView, 'current'> };

/** Returns, for each rule that entities wait by, how many wait, and the next deadline. */
export async function waitChecks(ports: WaitCheckPorts): Promise<readonly Check[]> {
  const rules = [...streamTable(ports.configuration.current()).rules.values()].flat().filter(canWait);
  const found: { readonly placed: PlacedRule; readonly waiting: WaitingEntities }[] = [];
  await forEachConcurrently(rules, CONCURRENCY, async (placed) => {
    const waiting = await countWaiting(placed, ports);
    if (waiting.count > 0) found.push({ placed, waiting });
  });
  const sorted = found.toSorted((a, b) => (a.waiting.nextDue ?? 0) - (b.waiting.nextDue ?? 0));
  const named = sorted.slice(0, MAX_NAMED).map(({ placed, waiting }): Check => {
    return { step: `waits of ${placed.workspace}/${ruleTitle(placed)}`, ok: true, detail: describeWaiting(waiting) };
  });
  const left = sorted.length - named.length;
  const more = left === 1 ? 'entities wait by 1 more rule' : `entities wait by ${left} more rules`;
  return left === 0 ? named : [...named, { step: 'waits', ok: true, detail: more }];
}
