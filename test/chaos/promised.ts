import type { Evidence } from '../harness/evidence.ts';
import { addressOf } from './partner.ts';
import type { Acknowledged, AcknowledgedChange } from './posts.ts';
import type { Finding } from '../harness/promises.ts';

/** What clients and platform were promised. */
export type Promised = {
  readonly acknowledged: readonly Acknowledged[];
  readonly changes: readonly AcknowledgedChange[];
  /** Who was in the cohort from the beginning: nobody is to be told of them. */
  readonly firstMembers: readonly string[];
};

type Expected = AcknowledgedChange & { readonly fires: boolean };

/**
 * Every event that was promised something, those that the product made of changes of the cohort included; and what is
 * wrong with these: a change has one event, and no event is without a change.
 */
export function eventsOf(promised: Promised, { changes }: Evidence): [readonly Acknowledged[], readonly Finding[]] {
  const made = Map.groupBy(changes, (change) => `${change.kind}/${change.user}`);
  const findings: Finding[] = [];
  const expected: readonly Expected[] = [
    ...promised.changes.map((change) => ({ ...change, fires: true })),
    ...promised.firstMembers.map((user) => ({ kind: 'entered' as const, user, fires: false })),
  ];
  const events = expected.flatMap(({ kind, user, fires }): readonly Acknowledged[] => {
    const subject = `${kind}/${user}`;
    const ids = new Set(made.get(subject)?.map(({ eventId }) => eventId));
    made.delete(subject);
    if (ids.size > 1) findings.push({ kind: 'twice', what: `${subject}: ${ids.size} events of one change` });
    if (ids.size === 0) findings.push({ kind: 'lost', what: `${subject}: no event came of it` });
    return [...ids].map((eventId) => ({ eventId, subject, to: addressOf(user), fires, asks: fires }));
  });
  for (const subject of made.keys()) findings.push({ kind: 'untrue', what: `${subject}: nobody said so` });
  return [[...promised.acknowledged, ...events], findings];
}
