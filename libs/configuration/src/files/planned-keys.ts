import type { FileKind } from '@carillon/shapes';
import type { ValuePath } from '../value-path.ts';

/** Keys that the design names and this version does not carry out. `*` stands for any name. */
const LATER: readonly (readonly [kind: FileKind, path: string, what: string])[] = [
  ['deployment', 'limits', 'limits of the deployment'],
  ...['events', 'deliveries', 'inbox'].map(
    (key) => ['deployment', `retention.${key}`, 'retention by configuration'] as const,
  ),
  ['workspace', 'audit', 'the audit log'],
  ['stream', 'grace', 'timers'],
  ['notification', 'max_staleness', 'timers'],
  ...[
    'changed',
    'changedTo',
    'changedFromTo',
    'aggregates',
    'sequence',
    'unless',
    'wait',
    'at',
    'still',
    'late',
    'fire',
  ].map((key) => ['notification', `rules.*.${key}`, 'rules with state and time'] as const),
  ['notification', 'rules.*.rearm', 'rules with state and time'],
  ['notification', 'rules.*.max_staleness', 'rules with state and time'],
];

const matches = (pattern: string, path: ValuePath): boolean => {
  const steps = pattern.split('.');
  return steps.length === path.length && steps.every((step, index) => step === '*' || step === path[index]);
};

/** What a key would do in a later version, if it is one of those. */
export const laterKey = (kind: FileKind, path: ValuePath): string | null =>
  LATER.find(([of, pattern]) => of === kind && matches(pattern, path))?.[2] ?? null;
