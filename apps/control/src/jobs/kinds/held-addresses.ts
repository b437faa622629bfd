import { MAX_JOB_ITEMS } from '@carillon/domain/jobs';
import type { Suppression } from '@carillon/ports';
import { z } from 'zod';
import { addressText, auditTargetOf, channelWord } from '../../routes/people/suppressions.ts';
import { eachItem, jobKind } from '../kind.ts';

/** The item of an entry holds the whole entry, so that undo removes this entry and no later one. */
const entryOf = (item: string, workspace: string | null): Suppression => ({
  ...(JSON.parse(item) as Omit<Suppression, 'workspace'>),
  workspace: workspace ?? '',
});

export const holdAddresses = jobKind({
  action: 'hold_addresses',
  permission: 'operate',
  audit: 'suppression.add',
  parameters: z.object({}),
  start: {
    path: '/v1/workspaces/:workspace/suppressions/add-many',
    operationId: 'holdAddresses',
    tags: ['Suppressions'],
    summary: 'Suppresses many addresses, as a job. Its `undo` takes them back',
    body: z.strictObject({
      entries: z
        .array(z.strictObject({ channel: channelWord, address: addressText }))
        .min(1)
        .max(MAX_JOB_ITEMS),
      detail: z.string().min(1).max(500).describe('The reason'),
    }),
  },
  choose: async ({ workspace, body: { entries, detail } }, { clock }) => {
    const itemOf = (entry: Pick<Suppression, 'channel' | 'address'>): Omit<Suppression, 'workspace'> => ({
      ...entry,
      source: 'operator',
      detail,
      deliveryId: null,
      at: clock.now(),
    });
    return { workspace, items: entries.map((entry) => JSON.stringify(itemOf(entry))), parameters: {} };
  },
  do: ({ job, by }, ports) =>
    eachItem(
      ports,
      (item) => ports.suppressions.addAll([{ ...entryOf(item, job.workspace), by }]),
      (item) => auditTargetOf(ports.ids, entryOf(item, job.workspace)),
    ),
  undo: {
    audit: 'suppression.remove',
    do: ({ job }, ports) =>
      eachItem(
        ports,
        (item) => {
          const { workspace, channel, address, source, at } = entryOf(item, job.workspace);
          return ports.suppressions.remove(workspace, channel, address, source, at);
        },
        (item) => auditTargetOf(ports.ids, entryOf(item, job.workspace)),
      ),
  },
  nameOf: (item, { workspace }, ids) => auditTargetOf(ids, entryOf(item, workspace)),
});
