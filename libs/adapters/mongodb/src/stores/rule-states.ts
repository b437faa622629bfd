import type { LogId } from '@carillon/kernel';
import type { Clock, FencedWrite, RuleState, RuleStateStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { upsertGuarded } from '../compare-and-set.ts';
import type { RuleStateDocument } from '../documents.ts';
import { RetryFromStart } from '../failures.ts';
import { IN_ONE_ANSWER, queued } from '../pages.ts';
import { createAdaptiveBatches, inRuns } from '../adaptive-batches.ts';
import { createWaitingCount } from './waiting-entities.ts';

const stateOf = (found: RuleStateDocument): RuleState => ({
  id: found._id,
  logId: found.logId as LogId,
  partition: found.partition,
  offset: found.offset,
  nextDue: found.nextDue ?? null,
  forgetAt: found.forgetAt ?? null,
  waits: (found.waits ?? []).map(({ rule, due }) => ({ rule, due })),
  data: found.data,
  ...(found.erasures !== undefined && { erasures: found.erasures }),
});

const writeOf = ({ id, logId, partition, offset, nextDue, forgetAt, waits, data, erasures }: RuleState) => ({
  id,
  // `$eq` would do as well; as plain values they also go into the document that the upsert makes.
  guard: { logId, partition, offset: { $lt: offset }, erasures: erasures ?? { $exists: false } },
  fields: {
    offset,
    nextDue: nextDue ?? undefined,
    forgetAt: forgetAt ?? undefined,
    waits: waits.length === 0 ? undefined : waits,
    data,
  },
});

/** States cut into runs in which every id is there once: a bulk has no order of its own. */
function runsOf(states: readonly RuleState[]): readonly (readonly RuleState[])[] {
  const runs: RuleState[][] = [];
  let ids = new Set<string>();
  for (const state of states) {
    if (runs.length === 0 || ids.has(state.id)) {
      runs.push([]);
      ids = new Set();
    }
    runs.at(-1)?.push(state);
    ids.add(state.id);
  }
  return runs;
}

export function createRuleStateStore({ ruleStates }: Collections, attempt: Attempt, clock: Clock): RuleStateStore {
  const inSaveRuns = createAdaptiveBatches();

  /** Undefined: the stored one is older and will give way at the next try. */
  function judge(state: RuleState, stored: RuleStateDocument | undefined): FencedWrite | undefined {
    if (!stored) return undefined;
    if (stored.logId !== state.logId || stored.partition !== state.partition) return 'refused';
    if (stored.offset === state.offset) return 'done';
    if (stored.offset > state.offset || stored.erasures !== state.erasures) return 'refused';
    return undefined;
  }

  async function saveRun(states: readonly RuleState[]): Promise<readonly FencedWrite[]> {
    const answers = new Map<RuleState, FencedWrite>();
    await attempt(async () => {
      const open = states.filter((state) => !answers.has(state));
      const refused = await upsertGuarded(ruleStates, open.map(writeOf));
      for (const [at, state] of open.entries()) if (!refused.has(at)) answers.set(state, 'done');
      if (refused.size === 0) return;
      const doubtful = open.filter((_state, at) => refused.has(at));
      const stored = await ruleStates
        .find(
          { _id: { $in: doubtful.map(({ id }) => id) } },
          { ...IN_ONE_ANSWER, projection: { logId: 1, partition: 1, offset: 1, erasures: 1 } },
        )
        .toArray();
      const byId = new Map(stored.map((found) => [found._id, found]));
      for (const state of doubtful) {
        const answer = judge(state, byId.get(state.id));
        if (answer) answers.set(state, answer);
      }
      if (answers.size < states.length) throw new RetryFromStart('another process is writing the state');
    });
    return states.map((state) => answers.get(state) ?? 'refused');
  }

  return {
    async load(ids) {
      const found = await inRuns(ids, (run) =>
        attempt(() => ruleStates.find({ _id: { $in: [...run] } }, IN_ONE_ANSWER).toArray()),
      );
      return found.map(stateOf);
    },
    async save(states) {
      const answers: FencedWrite[] = [];
      for (const run of runsOf(states)) answers.push(...(await inSaveRuns(run, saveRun)));
      return answers;
    },
    async due(partition, before, limit) {
      const found = await attempt(() =>
        ruleStates
          .find(
            { partition, nextDue: queued({ $lt: before }) },
            { ...IN_ONE_ANSWER, sort: { nextDue: 1 }, limit, projection: { offset: 1, nextDue: 1 } },
          )
          .toArray(),
      );
      return found.map(({ _id, offset, nextDue = 0 }) => ({ id: _id, offset, nextDue }));
    },
    async earliestDue(partition) {
      const found = await attempt(() =>
        ruleStates.findOne({ partition, nextDue: queued({}) }, { sort: { nextDue: 1 }, projection: { nextDue: 1 } }),
      );
      return found?.nextDue ?? null;
    },
    waiting: createWaitingCount(ruleStates, attempt, clock),
    async list(limit, after = '') {
      const page = { ...IN_ONE_ANSWER, sort: { _id: 1 }, limit } as const;
      const found = await attempt(() => ruleStates.find({ _id: { $gt: after } }, page).toArray());
      return found.map(stateOf);
    },
    async sweep(partition, before, limit) {
      const forgotten = { partition, forgetAt: queued({ $lt: before }), nextDue: { $exists: false } };
      const found = await attempt(() => ruleStates.find(forgotten, { limit, projection: { _id: 1 } }).toArray());
      if (found.length === 0) return 0;
      // A state that changed meanwhile is kept, because the condition is asked again.
      const ids = { _id: { $in: found.map(({ _id }) => _id) } };
      const { deletedCount } = await attempt(() => ruleStates.deleteMany({ ...forgotten, ...ids }));
      return deletedCount;
    },
    async remove(states) {
      await inRuns(states, async (run) => {
        const operations = run.map(({ id, offset }) => ({ deleteOne: { filter: { _id: id, offset } } }));
        await attempt(() => ruleStates.bulkWrite(operations, { ordered: false }));
        return [];
      });
    },
  };
}
