import { chosenIds, chosenItems } from '@carillon/contracts';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { redriveLetter } from '../../redriving.ts';
import { readRange, timeRange } from '../../routes/app.ts';
import { chooseDeadLetters, isDismissable, readChoice, requireExpected } from '../choose.ts';
import { eachItem, jobKind } from '../kind.ts';

export const redriveDeadLetters = jobKind({
  action: 'redrive_dead_letters',
  permission: 'operate',
  audit: 'dead_letter.redrive',
  parameters: z.object({}),
  start: {
    path: '/v1/workspaces/:workspace/dead-letters/redrive',
    operationId: 'redriveDeadLetters',
    tags: ['Dead letters'],
    summary:
      'Puts the records of many dead letters on their topics once more, as a job: those named, or all that are open but for parked receipts',
    body: z.strictObject(chosenItems(z.strictObject(timeRange))),
    problems: ['wrong_state', 'conflict'],
  },
  async choose({ workspace, body }, ports) {
    const choice = readChoice(body, 'ids');
    if ('named' in choice) return { workspace, items: choice.named, parameters: {} };
    const found = await chooseDeadLetters({ workspace, ...readRange(choice.filter, ports.clock.now()) }, ports);
    requireExpected(found, choice.expected, 'redriven');
    return { workspace, items: found.ids, parameters: {} };
  },
  do: ({ job, by }, ports) => {
    const redrive = async (id: string, stop: AbortSignal): Promise<void> => {
      const row = await ports.readModels.deadLetter(id);
      if (!row || row.workspace !== job.workspace) {
        throw new CarillonError('not_found', `there is no dead letter ${id} in workspace ${job.workspace ?? ''}`);
      }
      if (row.redrivenBy === by) return;
      await redriveLetter(row, { by, asking: ports.ids.derive('request', job.id, id), stop }, ports);
    };
    return (items, stop) => eachItem(ports, (id) => redrive(id, stop))(items, stop);
  },
});

/** Takes named letters only, because an operator inspects a receipt or a refused change before dismissing it. */
export const dismissReceipts = jobKind({
  action: 'dismiss_receipts',
  permission: 'operate',
  audit: 'receipt.dismiss',
  parameters: z.object({}),
  start: {
    path: '/v1/workspaces/:workspace/receipts/dismiss',
    operationId: 'dismissParkedReceipts',
    tags: ['Receipts'],
    summary: 'Dismisses unmatched receipts as a job. Changes no delivery',
    body: z.strictObject({ ids: chosenIds }),
  },
  choose: async ({ workspace, body: { ids } }) => ({ workspace, items: ids, parameters: {} }),
  async auditOf(id, { readModels }) {
    return (await readModels.deadLetter(id))?.stage === 'append' ? 'dead_letter.dismiss' : 'receipt.dismiss';
  },
  do: ({ job: { workspace, byName } }, { readModels, clock, watch }) =>
    eachItem({ watch }, async (id) => {
      const row = await readModels.deadLetter(id);
      if (!row || !isDismissable(row) || row.workspace !== workspace) {
        throw new CarillonError(
          'not_found',
          `there is no dead letter ${id} that can be dismissed in workspace ${workspace ?? ''}`,
        );
      }
      // Keeps the first author, so that a repeated item changes nothing.
      await readModels.markDismissed(id, clock.now(), byName);
    }),
});
