import { inEach } from '../../api/in-each-workspace.ts';
import { counted } from '../drafts/change-words.ts';

/** What was chosen within one workspace. */
export type Group = { readonly workspace: string; readonly ids: readonly string[] };

/** Chosen rows by their workspace, in the order of the list; what belongs to none is left out. */
export function groupsOf(
  rows: readonly { readonly workspace: string | null; readonly id: string }[],
): readonly Group[] {
  const ids = new Map<string, string[]>();
  for (const { workspace, id } of rows) {
    if (workspace !== null) ids.set(workspace, [...(ids.get(workspace) ?? []), id]);
  }
  return [...ids].map(([workspace, own]) => ({ workspace, ids: own }));
}

/** Jobs that were begun, one in each workspace, and why in others none was. */
export type Begun = {
  readonly jobs: readonly { readonly workspace: string; readonly id: string }[];
  readonly refused: readonly { readonly workspace: string; readonly why: string }[];
};

/** Begins a job in each workspace. Rejects, with the first reason, where none could be begun. */
export async function beginEach<One extends { readonly workspace: string }>(
  groups: readonly One[],
  begin: (group: One) => Promise<{ readonly id: string }>,
): Promise<Begun> {
  const { done, refused } = await inEach(groups, begin);
  const [first] = refused;
  if (first && done.length === 0) throw first.error;
  return {
    jobs: done.map(({ workspace, answer: { id } }) => ({ workspace, id })),
    refused: refused.map(({ workspace, error }) => ({ workspace, why: error.message })),
  };
}

type Counts = {
  readonly count: number;
  readonly people: number;
  readonly by_state: Readonly<Record<string, number | undefined>>;
  readonly more: boolean;
  readonly ceiling: number;
};

/** Counts of several workspaces as one. Whoever is a person of two of them is counted in each. */
export const sumOfCounts = (counts: readonly Counts[]): Counts => {
  const states: Record<string, number> = {};
  for (const { by_state: own } of counts) {
    for (const [state, count = 0] of Object.entries(own)) states[state] = (states[state] ?? 0) + count;
  }
  return {
    count: counts.reduce((sum, one) => sum + one.count, 0),
    people: counts.reduce((sum, one) => sum + one.people, 0),
    by_state: states,
    more: counts.some(({ more }) => more),
    ceiling: counts[0]?.ceiling ?? 0,
  };
};

/** `3 people in 2 workspaces, counted in each`: who is the same in several, nobody can say. */
export const peopleInWords = (people: number, workspaces: number): string =>
  `${counted(people, 'person', 'people')}${inWords(workspaces)}${workspaces > 1 ? ', counted in each' : ''}`;

/** Returns ` in 2 workspaces`, or an empty text for a single one. */
export const inWords = (workspaces: number): string => (workspaces > 1 ? ` in ${workspaces} workspaces` : '');

type Running = {
  readonly state: 'waiting' | 'running' | 'done' | 'cancelled' | 'failed';
  readonly of: number;
  readonly done: number;
  readonly failed: number;
  readonly ended_at: string | null;
};

/** How far several jobs are together: over once all are. */
export function sumOfJobs(jobs: readonly Running[]): Omit<Running, 'ended_at'> & { readonly isOver: boolean } {
  const isOver = jobs.every(({ ended_at: at }) => at !== null);
  const states = new Set(jobs.map(({ state }) => state));
  const sum = (one: (job: Running) => number): number => jobs.reduce((all, job) => all + one(job), 0);
  const state = !isOver
    ? states.size === 1 && states.has('waiting')
      ? 'waiting'
      : 'running'
    : states.has('cancelled')
      ? 'cancelled'
      : states.size === 1 && states.has('failed')
        ? 'failed'
        : 'done';
  return { state, isOver, of: sum(({ of }) => of), done: sum(({ done }) => done), failed: sum(({ failed }) => failed) };
}
