import { cohortKey, isBefore, type Cohort, type CohortMember, type CohortRef } from '@carillon/domain/cohorts';
import type { CohortStore, FencedWrite } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

/** Cohorts go down by their ids; all of them at one time. */
const descending = ({ cohort }: Cohort): readonly [number, string] => [0, cohort];

/** Cohorts and members in memory. Each document is fenced by its offset, unless fences are off. */
export function createMemoryCohorts(fenced = true) {
  const cohorts = new Map<string, Cohort>();
  const membersOf = new Map<string, Map<string, CohortMember>>();
  // JSON as key, because ids are free text and two cohorts must not collide.
  const keyOf = ({ workspace, integration, cohort }: CohortRef): string =>
    JSON.stringify([workspace, integration, cohort]);
  const members = (ref: CohortRef): CohortMember[] => [...(membersOf.get(keyOf(ref))?.values() ?? [])];

  function save(cohort: Cohort): FencedWrite {
    const before = cohorts.get(keyOf(cohort));
    const same = !before || (before.logId === cohort.logId && before.partition === cohort.partition);
    if (fenced && (!same || (before && before.offset > cohort.offset))) return 'refused';
    cohorts.set(keyOf(cohort), cohort);
    return 'done';
  }

  function saveMembers(ref: CohortRef, written: readonly CohortMember[]): FencedWrite {
    const known = membersOf.get(keyOf(ref)) ?? new Map<string, CohortMember>();
    membersOf.set(keyOf(ref), known);
    const fresh = written.filter(({ user, offset }) => !fenced || (known.get(user)?.offset ?? -1) <= offset);
    for (const member of fresh) known.set(member.user, member);
    return fresh.length === written.length ? 'done' : 'refused';
  }

  return {
    members,
    get: (ref: CohortRef): Cohort | null => cohorts.get(keyOf(ref)) ?? null,
    connect: (wire: Wire): CohortStore => ({
      load: (ref) => wire.ask('cohorts.load', () => cohorts.get(keyOf(ref)) ?? null, { about: () => cohortKey(ref) }),
      save: (cohort) =>
        wire.ask('cohorts.save', () => save(cohort), {
          writes: true,
          about: () => `${cohortKey(cohort)} at ${cohort.offset}`,
        }),
      members: (ref, users) =>
        wire.ask('cohorts.members', () => members(ref).filter(({ user }) => users.includes(user))),
      saveMembers: (ref, written) =>
        wire.ask('cohorts.saveMembers', () => saveMembers(ref, written), {
          writes: true,
          about: () =>
            written.map(({ user, inside, offset }) => `${user} ${inside ? 'in' : 'out'} at ${offset}`).join(', '),
          partly: (chance) =>
            void saveMembers(
              ref,
              written.filter(() => chance() < 0.5),
            ),
        }),
      outdated: (ref, before, limit) =>
        wire.ask('cohorts.outdated', () =>
          members(ref)
            .filter(({ inside, newest }) => inside && isBefore(newest, before))
            .toSorted((a, b) => (isBefore(a.newest, b.newest) ? -1 : 1))
            .slice(0, limit),
        ),
      count: (ref) => wire.ask('cohorts.count', () => members(ref).filter(({ inside }) => inside).length),
      list: (workspace, integration, limit, cursor) =>
        wire.ask('cohorts.list', () =>
          pageOf(
            [...cohorts.values()].filter((one) => one.workspace === workspace && one.integration === integration),
            descending,
            (one) => one,
            limit,
            cursor,
          ),
        ),
    }),
  };
}
export type MemoryCohorts = ReturnType<typeof createMemoryCohorts>;
