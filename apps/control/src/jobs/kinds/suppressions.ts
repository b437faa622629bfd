import { chosenByFilter } from '@carillon/contracts';
import { MAX_JOB_ITEMS, type Job } from '@carillon/domain/jobs';
import { CarillonError } from '@carillon/kernel';
import type { Suppression, SuppressionList } from '@carillon/ports';
import { forEachConcurrently } from '@carillon/stages';
import { z } from 'zod';
import {
  addressText,
  auditTargetOf,
  channelWord,
  sourceWord,
  suppressionFilter,
  suppressionFilters,
} from '../../routes/people/suppressions.ts';
import { readChoice, requireExpected, upToTheCeiling } from '../choose.ts';
import { eachItem, jobKind, type JobKindPorts } from '../kind.ts';

/** The key of an entry. A workspace has one entry for each channel, address and source. */
const key = z.strictObject({ channel: channelWord, address: addressText, source: sourceWord });
type Key = z.infer<typeof key>;
export const chosenEntries = z.array(key).min(1).max(MAX_JOB_ITEMS);
export const entryFilter = z.strictObject(suppressionFilters);

type Chosen = { readonly entries: readonly Suppression[]; readonly more: boolean };
type Ports = Pick<JobKindPorts, 'suppressions' | 'slice'>;

/** Reads of the list that run concurrently. */
const CONCURRENCY = 16;

const keyText = ({ channel, source, address }: Key): string => `${channel} ${source} ${address}`;

/** Runs `read` for each key. Yields in between, because a backend may read without ever leaving its turn. */
const forEachKey = <Row>(
  rows: Iterable<Row>,
  { slice }: Pick<Ports, 'slice'>,
  read: (row: Row) => Promise<void>,
): Promise<void> =>
  forEachConcurrently(rows, CONCURRENCY, async (row) => {
    if (slice.isExpired()) await slice.yield();
    await read(row);
  });

/** Returns the entries that the keys name, each once. Keys without an entry are left out. */
export async function findEntries(workspace: string, keys: readonly Key[], ports: Ports): Promise<Chosen> {
  const entries = new Map<string, Suppression>();
  await forEachKey(keys, ports, async ({ channel, address, source }) => {
    const all = await ports.suppressions.sources(workspace, channel, address);
    const entry = all.find((other) => other.source === source);
    if (entry) entries.set(keyText(entry), entry);
  });
  return { entries: [...entries.values()], more: false };
}

/** Returns the entries of a workspace that match a filter, newest first. */
export async function matchEntries(
  workspace: string,
  filters: z.infer<typeof entryFilter>,
  { suppressions, slice }: Ports,
): Promise<Chosen> {
  const filter = suppressionFilter(workspace, filters);
  const { rows, more } = await upToTheCeiling(
    (limit, cursor) => suppressions.list(filter, limit, cursor),
    (entry) => entry,
    slice,
  );
  return { entries: rows, more };
}

/** Returns how many addresses the entries hold back, and how many of these another entry holds back as well. */
export async function countAddresses(
  workspace: string,
  entries: readonly Suppression[],
  ports: Ports,
): Promise<{ readonly addresses: number; readonly still: number }> {
  const chosen = new Set(entries.map(keyText));
  const byAddress = new Map(entries.map((entry) => [`${entry.channel} ${entry.address}`, entry]));
  let still = 0;
  await forEachKey(byAddress.values(), ports, async ({ channel, address }) => {
    const all = await ports.suppressions.sources(workspace, channel, address);
    if (all.some((other) => !chosen.has(keyText(other)))) still += 1;
  });
  return { addresses: byAddress.size, still };
}

/** The item of an entry holds the whole entry, so that undo restores it as it was. */
const itemOf = ({ workspace: _workspace, ...entry }: Suppression): string => JSON.stringify(entry);
const entryOf = (item: string, workspace: string | null): Suppression => ({
  ...(JSON.parse(item) as Omit<Suppression, 'workspace'>),
  workspace: workspace ?? '',
});

const nameOf = (item: string, { workspace }: Pick<Job, 'workspace'>, ids: Pick<JobKindPorts['ids'], 'keyed'>): string =>
  auditTargetOf(ids, entryOf(item, workspace));

async function remove(entry: Suppression, suppressions: SuppressionList): Promise<void> {
  const { workspace, channel, address, source, at } = entry;
  if (await suppressions.remove(workspace, channel, address, source, at)) return;
  const left = await suppressions.sources(workspace, channel, address);
  if (!left.some((other) => other.source === source)) return;
  throw new CarillonError('conflict', `${source} suppressed the address again since the job started; that entry stays`);
}

export const removeSuppressions = jobKind({
  action: 'remove_suppressions',
  permission: 'operate',
  audit: 'suppression.remove',
  parameters: z.object({}),
  start: {
    path: '/v1/workspaces/:workspace/suppressions/remove-many',
    operationId: 'removeSuppressions',
    tags: ['Suppressions'],
    summary:
      'Takes back many entries, as a job: those named, or all that match. Its `undo` puts them back as they were',
    body: z.strictObject({
      entries: chosenEntries.optional().describe('Only these entries. Unknown entries are ignored'),
      ...chosenByFilter(entryFilter),
    }),
    problems: ['wrong_state', 'conflict'],
  },
  async choose({ workspace, body }, ports) {
    const choice = readChoice(body, 'entries');
    const { entries, more } =
      'named' in choice
        ? await findEntries(workspace, choice.named, ports)
        : await matchEntries(workspace, choice.filter, ports);
    const expected = 'named' in choice ? entries.length : choice.expected;
    requireExpected({ ids: entries, more }, expected, 'removed');
    return { workspace, items: entries.map(itemOf), parameters: {} };
  },
  do: ({ job }, ports) =>
    eachItem(
      ports,
      (item) => remove(entryOf(item, job.workspace), ports.suppressions),
      (item) => nameOf(item, job, ports.ids),
    ),
  undo: {
    audit: 'suppression.add',
    do: ({ job }, ports) =>
      eachItem(
        ports,
        (item) => ports.suppressions.addAll([entryOf(item, job.workspace)]),
        (item) => nameOf(item, job, ports.ids),
      ),
  },
  nameOf,
});
