import { promotionRequest } from '@carillon/contracts';
import type { Job, JobFailure } from '@carillon/domain/jobs';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { lacking } from '../../access/guard.ts';
import { principalOf } from '../../access/principal.ts';
import { demandRoomForAll, liveOf, planPromotion, promotedDrafts, writeTransfer } from '../../drafts/promote.ts';
import { failureOf, isTransient, jobKind, type JobKindPorts } from '../kind.ts';

/** Items are resources of the test environment, as `kind/name`. The job belongs to the live workspace. */
export const promotion = jobKind({
  action: 'promote',
  permission: 'configure',
  audit: 'promotion.write',
  parameters: z.object({ from: z.string().describe('The test environment that is promoted') }),
  start: {
    path: '/v1/workspaces/:workspace/promotions',
    operationId: 'startPromotion',
    tags: ['Drafts'],
    summary:
      'Promotes a test environment draft by draft, as a job. The job belongs to the live workspace. `promote` with `check_only` shows the effect without a change',
    body: promotionRequest,
    problems: ['not_found', 'wrong_state'],
  },
  otherWorkspaces: ({ from }) => [from],
  async choose({ request, workspace: from, body }, ports) {
    const live = liveOf(await ports.configuration.refresh(), from);
    if (!principalOf(request).may('configure', live)) throw lacking(['configure']);
    const drafts = await promotedDrafts(from, body.resources, ports);
    if (drafts.length === 0) throw new CarillonError('wrong_state', `${from} and ${live} have the same contents`);
    await demandRoomForAll(drafts, ports);
    const items = drafts.map(({ ref: { kind, name } }) => `${kind}/${name}`);
    return { workspace: live, items, parameters: { from } };
  },
  /**
   * Promotes the items with one plan. If that plan is refused, each item gets a separate plan, so that one item fails
   * alone.
   */
  do:
    ({ job, parameters: { from } }, ports) =>
    async (items) => {
      try {
        return await promote(items, from, job, ports);
      } catch (error) {
        if (isTransient(error)) throw error;
      }
      const results: (JobFailure | null)[] = [];
      for (const item of items) {
        try {
          results.push(...(await promote([item], from, job, ports)));
        } catch (error) {
          if (isTransient(error)) throw error;
          results.push(failureOf(item, error, ports.watch));
        }
      }
      return results;
    },
});

/** Writes drafts of resources of a test environment. A resource that no longer differs needs none. */
async function promote(
  items: readonly string[],
  from: string,
  job: Job,
  ports: JobKindPorts,
): Promise<readonly (JobFailure | null)[]> {
  const resources = items.map((item) => {
    const [kind = '', name = ''] = item.split('/');
    return { kind, name };
  });
  const { wanted, inTheWay } = await planPromotion(from, { resources }, ports);
  const written = await writeTransfer({ from, wanted }, job.by, ports);
  const blocked = new Map([...inTheWay, ...written.inTheWay].map(({ ref, by }) => [`${ref.kind}/${ref.name}`, by]));
  return items.map((item) => {
    const author = blocked.get(item);
    if (!author) return null;
    const detail = `${author.kind} ${author.id} has a draft of it in ${job.workspace ?? ''}: publish or discard that first`;
    return { item, code: 'draft_conflict', detail };
  });
}
