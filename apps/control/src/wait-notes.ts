import type { PlannedChange } from '@carillon/configuration';
import {
  listResources,
  ruleIdFrom,
  ruleIdOf,
  rulePathFrom,
  streamTable,
  type Configuration,
  type NotificationBody,
  type PlacedRule,
  type RuleBody,
} from '@carillon/domain/configuration';
import { editWordsOf } from '@carillon/domain/rules';
import { stringifyJson, type Json } from '@carillon/kernel';
import { canWait, countWaiting, describeWaiting, type WaitingPorts } from './waiting-entities.ts';

type Change = Pick<PlannedChange, 'action' | 'ref' | 'body'>;

/** Returns what the change of a notification or a template does to waits, and to what its rules keep. */
export async function waitNotes(
  change: Change,
  current: Configuration,
  ports: WaitingPorts,
): Promise<readonly string[]> {
  const { action, ref } = change;
  if (action === 'create' || action === 'unchanged') return [];
  if (ref.kind === 'template') return notesOfTemplate(ref, current, ports);
  if (ref.kind !== 'notification') return [];
  const after = notificationAfter(change);
  const notes: string[] = [];
  for (const placed of rulesOf(ref, current)) {
    const { waits, kept } = effectOn(placed, after);
    const waiting = waits === null ? null : await countWaiting(placed, ports);
    if (waiting && waiting.count > 0) notes.push(`${describeWaiting(waiting)} by rule ${placed.name}${waits}`);
    if (kept.length > 0) notes.push(`rule ${placed.name}: ${kept.join('; ')}`);
  }
  return notes;
}

async function notesOfTemplate(
  { workspace, name }: Change['ref'],
  current: Configuration,
  ports: WaitingPorts,
): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const notification of listResources(current, 'notification', workspace)) {
    const channels = Object.values(notification.body.channels) as readonly { readonly template?: string }[];
    if (!channels.some(({ template }) => template === name)) continue;
    for (const placed of rulesOf(notification.ref, current).filter(canWait)) {
      const waiting = await countWaiting(placed, ports);
      if (waiting.count === 0) continue;
      const rule = `${notification.ref.name}.${placed.name}`;
      notes.push(`${describeWaiting(waiting)} by rule ${rule}: their messages use the new template`);
    }
  }
  return notes;
}

const rulesOf = ({ workspace, name }: PlannedChange['ref'], current: Configuration): readonly PlacedRule[] =>
  [...streamTable(current).rules.values()]
    .flat()
    .filter((placed) => placed.workspace === workspace && placed.notification.ref.name === name);

type RuleAfter = { readonly body: RuleBody; readonly path: string; readonly enabled: boolean };
/** Null: the notification is removed. */
type NotificationAfter = {
  readonly body: NotificationBody;
  readonly rules: ReadonlyMap<string, RuleAfter>;
} | null;

function notificationAfter({ ref, body }: Change): NotificationAfter {
  if (!body || !('rules' in body)) return null;
  const { workspace, name: title } = ref;
  const isOn = body.enabled !== false;
  const rules = Object.entries(body.rules).map(([name, rule]) => {
    const path = rulePathFrom(workspace, title, name, rule);
    return [
      ruleIdFrom(workspace, title, name, rule),
      { body: rule, path, enabled: isOn && rule.enabled !== false },
    ] as const;
  });
  return { body, rules: new Map(rules) };
}

/** `waits`: what happens to existing waits. Null: they go on as before. `kept`: what happens to the rest of the state. */
type Effect = { readonly waits: string | null; readonly kept: readonly string[] };

const ends = (waits: string): Effect => ({ waits: `, which ${waits}`, kept: [] });

function effectOn(placed: PlacedRule, notification: NotificationAfter): Effect {
  const after = notification?.rules.get(ruleIdOf(placed));
  if (!notification || !after) return ends('is removed: their waits end without a message');
  if (placed.stream !== after.path) return ends('moves to another stream: their waits end without a message');
  if (placed.enabled && !after.enabled) {
    return ends('is switched off: a deadline that passes meanwhile sends nothing, and an event cancels nothing');
  }
  const words = editWordsOf(placed.body, after.body);
  const waits = [
    ...words.waits,
    ...(isSame(placed.body.recipients, after.body.recipients) ? [] : ['their messages go to the new recipients']),
    ...(isSame(placed.notification.body.channels, notification.body.channels)
      ? []
      : ['their messages use the new channels']),
  ];
  return { waits: waits.length === 0 ? null : `: ${waits.join('; ')}`, kept: words.kept };
}

const isSame = (a: object, b: object): boolean => stringifyJson(a as Json) === stringifyJson(b as Json);
