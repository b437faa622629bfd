import type { FileKind } from '@carillon/shapes';
import { ALWAYS_KEPT } from '@carillon/shapes/values';
import type { CodedFault } from '@carillon/kernel';
import type { ValuePath } from '../value-path.ts';

/** Keys of rules in earlier designs, with the keys that took their places. */
const REPLACED: ReadonlyMap<string, string> = new Map([
  ['aggregates', 'totals'],
  ['sequence', 'totals, with a total of the step before'],
  ['wait', 'after, with unless for what ends the wait'],
  ['still', 'after, with unless for what ends the wait'],
  ['count_from', 'after or after_last'],
  ['fire', 'cooldown'],
  ['rearm', 'cooldown'],
  ['late', 'if_past'],
  ['max_staleness', 'expires, beside rules'],
  ['changed', 'when: changed(event.status)'],
  ['changedTo', 'when: changedTo(event.status, "paid")'],
  ['changedFromTo', 'when: changedFromTo(event.status, "open", "paid")'],
]);

/** Keys that the design names and this version does not carry out. `*` stands for any name. */
const LATER: readonly (readonly [kind: FileKind, path: string, what: string])[] = [
  ['deployment', 'limits', 'limits of the deployment'],
  ...['deliveries', 'inbox'].map((key) => ['deployment', `retention.${key}`, 'retention by configuration'] as const),
  ['workspace', 'audit', 'the audit log'],
  ['notification', 'max_staleness', 'timers'],
];

/** `unless` was an object in an earlier design. */
const replacedBy = (key: string, value: unknown): string | undefined =>
  key === 'unless' && typeof value === 'object' ? 'after: 1h, and unless: event.type == "paid"' : REPLACED.get(key);

const matches = (pattern: string, path: ValuePath): boolean => {
  const steps = pattern.split('.');
  return steps.length === path.length && steps.every((step, index) => step === '*' || step === path[index]);
};

/**
 * Returns why a key is refused: planned for a later version, renamed, or naming a topic that is always kept. Null for
 * any other key.
 */
export function refusedKey(kind: FileKind, path: ValuePath, value: unknown): CodedFault | null {
  const what = LATER.find(([of, pattern]) => of === kind && matches(pattern, path))?.[2];
  if (what !== undefined) return { code: 'planned', facts: { what } };
  const topic = ALWAYS_KEPT.find((name) => kind === 'deployment' && matches(`retention.${name}`, path));
  if (topic !== undefined) return { code: 'always_kept', facts: { topic } };
  const by = kind === 'notification' && matches('rules.*.*', path) ? replacedBy(String(path.at(-1)), value) : undefined;
  return by === undefined ? null : { code: 'key_replaced', facts: { by } };
}
