import type { PlannedChange } from '@carillon/configuration';
import {
  ruleIdFrom,
  ruleIdOf,
  streamTable,
  type Configuration,
  type PlacedRule,
  type RuleBody,
} from '@carillon/domain/configuration';
import { stringifyJson } from '@carillon/kernel';
import { canWait, countWaiting, describeWaiting, type WaitingPorts } from './waiting-entities.ts';

/** Returns, for each rule of a notification that entities wait by, what the change does to their waits. */
export async function waitNotes(
  change: Pick<PlannedChange, 'action' | 'ref' | 'body'>,
  current: Configuration,
  ports: WaitingPorts,
): Promise<readonly string[]> {
  const { action, ref } = change;
  if (ref.kind !== 'notification' || action === 'create' || action === 'unchanged') return [];
  const before = rulesOf(ref, current).filter(canWait);
  if (before.length === 0) return [];
  const after = rulesAfter(change);
  const notes: string[] = [];
  for (const placed of before) {
    const effect = effectOn(placed, after.get(ruleIdOf(placed)));
    if (effect === null) continue;
    const waiting = await countWaiting(placed, ports);
    if (waiting.count > 0) notes.push(`${describeWaiting(waiting)} by rule ${placed.name}, ${effect}`);
  }
  return notes;
}

const rulesOf = ({ workspace, name }: PlannedChange['ref'], current: Configuration): readonly PlacedRule[] =>
  [...streamTable(current).rules.values()]
    .flat()
    .filter((placed) => placed.workspace === workspace && placed.notification.ref.name === name);

type RuleAfter = { readonly body: RuleBody; readonly enabled: boolean };

function rulesAfter({ ref, body }: Pick<PlannedChange, 'ref' | 'body'>): ReadonlyMap<string, RuleAfter> {
  if (!body || !('rules' in body)) return new Map();
  const isOn = body.enabled !== false;
  return new Map(
    Object.entries(body.rules).map(([name, rule]) => [
      ruleIdFrom(ref.workspace, ref.name, name, rule),
      { body: rule, enabled: isOn && rule.enabled !== false },
    ]),
  );
}

const PLACE = ['stream', 'path', 'cohort'] as const satisfies readonly (keyof RuleBody)[];

/** Returns what happens to existing waits. Null: they go on as before. */
function effectOn({ body: before, enabled }: PlacedRule, after: RuleAfter | undefined): string | null {
  if (!after) return 'which is removed: their waits end without a message';
  const hasMoved = PLACE.some((key) => stringifyJson(before[key] ?? null) !== stringifyJson(after.body[key] ?? null));
  if (hasMoved) return 'which moves to another stream: their waits end without a message';
  if (!enabled || after.enabled) return null;
  return 'which is switched off: a deadline that passes meanwhile sends nothing, and an event cancels nothing';
}
