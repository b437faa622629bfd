import type { DueRuleState, FencedWrite, RuleState, RuleStateStore, WaitingEntities } from '@carillon/ports';
import type { Wire } from './wire.ts';

/** States of rules, each fenced by the offset in it. Calls `onRefused` for each save that is refused. */
export function createMemoryRuleStates(onRefused: () => void = () => undefined) {
  const stored = new Map<string, RuleState>();

  function saveOne(state: RuleState): FencedWrite {
    const before = stored.get(state.id);
    const same = !before || (before.logId === state.logId && before.partition === state.partition);
    if (!same || (before && before.offset > state.offset)) {
      onRefused();
      return 'refused';
    }
    if (before?.offset !== state.offset) stored.set(state.id, state);
    return 'done';
  }

  const waiting = (partition: number): DueRuleState[] =>
    [...stored.values()]
      .filter((state) => state.partition === partition)
      .flatMap(({ id, offset, nextDue }) => (nextDue === null ? [] : [{ id, offset, nextDue }]))
      .toSorted((a, b) => a.nextDue - b.nextDue);

  function waitsOf(rule: string, limit: number): WaitingEntities {
    const dues = [...stored.values()]
      .flatMap(({ waits }) => waits.filter((wait) => wait.rule === rule))
      .map(({ due }) => due)
      .toSorted((a, b) => a - b);
    return { count: Math.min(dues.length, limit), nextDue: dues[0] ?? null };
  }

  function sweep(partition: number, before: number, limit: number): number {
    const old = [...stored.values()].filter(
      (state) =>
        state.partition === partition && state.nextDue === null && state.forgetAt !== null && state.forgetAt < before,
    );
    const removed = old.slice(0, limit);
    for (const { id } of removed) stored.delete(id);
    return removed.length;
  }

  function removeOne({ id, offset }: Pick<RuleState, 'id' | 'offset'>): void {
    if (stored.get(id)?.offset === offset) stored.delete(id);
  }

  return {
    all: (): readonly RuleState[] => [...stored.values()],
    connect: (wire: Wire): RuleStateStore => ({
      load: (ids) =>
        wire.ask('ruleStates.load', () => ids.map((id) => stored.get(id)).filter((state) => state !== undefined)),
      save: (states) =>
        wire.ask('ruleStates.save', () => states.map(saveOne), {
          writes: true,
          partly: (chance) => states.filter(() => chance() < 0.5).forEach(saveOne),
        }),
      due: (partition, before, limit) =>
        wire.ask('ruleStates.due', () =>
          waiting(partition)
            .filter(({ nextDue }) => nextDue < before)
            .slice(0, limit),
        ),
      earliestDue: (partition) => wire.ask('ruleStates.earliestDue', () => waiting(partition)[0]?.nextDue ?? null),
      waiting: (rule, limit) => wire.ask('ruleStates.waiting', () => waitsOf(rule, limit)),
      list: (limit, after = '') =>
        wire.ask('ruleStates.list', () =>
          [...stored.values()]
            .filter(({ id }) => id > after)
            .toSorted((a, b) => (a.id < b.id ? -1 : 1))
            .slice(0, limit),
        ),
      sweep: (partition, before, limit) =>
        wire.ask('ruleStates.sweep', () => sweep(partition, before, limit), { writes: true }),
      remove: (states) => wire.ask('ruleStates.remove', () => states.forEach(removeOne), { writes: true }),
    }),
  };
}
