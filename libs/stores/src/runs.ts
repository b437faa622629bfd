import type { ResourceChange } from '@carillon/domain/configuration';
import {
  isRunOf,
  type Row,
  type Run,
  type RunChange,
  type RunEvent,
  type RunFinding,
  type RunLookup,
} from '@carillon/domain/runs';
import type { RunId } from '@carillon/kernel';
import { integer, text, type Collection, type Documents, type RunStore } from '@carillon/ports';
import { writeNext } from './documents.ts';

const RUNS: Collection<Run> = {
  name: 'runs',
  key: ['id'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    id: text(({ id }) => id),
    version: integer(({ version }) => version),
    workspace: text(({ workspace }) => workspace),
    createdAt: integer(({ createdAt }) => createdAt),
  },
  // Its bodies may take megabytes, and the run is written with every progress report.
  parts: ['edit'],
  indexes: {
    workspace: { by: ['workspace', 'createdAt', '_id'] },
    created: { by: ['createdAt', '_id'] },
  },
};

const RUN_ROWS: Collection<Row> = {
  name: 'run_rows',
  key: ['run', 'slot'],
  fields: {
    run: text(({ run }) => run),
    slot: text(({ slot }) => slot),
    difference: text(({ difference }) => difference),
    slotState: text(({ slotState }) => slotState),
    rule: text(({ rule }) => rule),
    day: text(({ day }) => day),
    eventId: text(({ eventId }) => eventId),
  },
  // Rows of an event stand together, because each page evaluates the events of its rows.
  indexes: { filter: { by: ['run', 'difference', 'slotState', 'rule', 'day', 'eventId', '_id'] } },
};

const RUN_LOOKUPS: Collection<RunLookup> = {
  name: 'run_lookups',
  key: ['run', 'eventId', 'rule'],
  fields: {
    run: text(({ run }) => run),
    eventId: text(({ eventId }) => eventId),
    rule: text(({ rule }) => rule),
  },
  indexes: { event: { by: ['run', 'eventId', '_id'] } },
};

const RUN_FINDINGS: Collection<RunFinding> = {
  name: 'run_findings',
  key: ['run', 'number'],
  fields: { run: text(({ run }) => run), number: integer(({ number }) => number) },
  indexes: { number: { by: ['run', 'number'] } },
};

const RUN_EVENTS: Collection<RunEvent> = {
  name: 'run_events',
  key: ['run', 'position'],
  fields: {
    run: text(({ run }) => run),
    position: text(({ position }) => position),
    at: integer(({ at }) => at),
  },
  indexes: { time: { by: ['run', 'at', '_id'] } },
};

type SealedText = { readonly run: RunId; readonly sealed: string };
const RUN_TEXTS: Collection<SealedText> = {
  name: 'run_texts',
  key: ['run'],
  fields: { run: text(({ run }) => run) },
  indexes: { run: { by: ['run', '_id'] } },
};

/** A run as it was stored before its edit stood beside it: with the bodies of the edit, and without the action of each change. */
type OldRun = { readonly changes: readonly (ResourceChange & Pick<RunChange, 'revision'>)[] };

/** Adds to the changes of an old run what they do. */
function withActions(run: Run): Run {
  if (!isRunOf(run, 'compare') || run.changes.every((change) => 'action' in change)) return run;
  const changes = (run as unknown as OldRun).changes.map(({ ref, based_on: basedOn, body, revision }): RunChange => ({
    ref,
    action: body === null ? 'delete' : basedOn === null ? 'create' : 'update',
    revision,
  }));
  return { ...run, changes };
}

const runsOf = ({ items, next }: { readonly items: readonly SealedText[]; readonly next: string | null }) => ({
  items: items.map(({ run }) => run),
  next,
});

/** Rows that are removed concurrently. */
const REMOVAL_BATCH_SIZE = 500;

function create(documents: Documents): RunStore {
  const runs = documents.collection(RUNS);
  const rows = documents.collection(RUN_ROWS);
  const lookups = documents.collection(RUN_LOOKUPS);
  const findings = documents.collection(RUN_FINDINGS);
  const events = documents.collection(RUN_EVENTS);
  const texts = documents.collection(RUN_TEXTS);

  async function removeSomeLookups(run: string, limit: number): Promise<number> {
    const { items } = await lookups.page({ index: 'event', where: { run } }, limit);
    await Promise.all(items.map(({ eventId, rule }) => lookups.remove([run, eventId, rule])));
    return items.length;
  }

  async function removeSomeFindings(run: string, limit: number): Promise<number> {
    const { items } = await findings.page({ index: 'number', where: { run } }, limit);
    await Promise.all(items.map(({ number }) => findings.remove([run, number])));
    return items.length;
  }

  async function removeSomeEvents(run: string, limit: number): Promise<number> {
    const { items } = await events.page({ index: 'time', where: { run } }, limit);
    await Promise.all(items.map(({ position }) => events.remove([run, position])));
    return items.length;
  }

  async function removeSomeRows(run: string, limit: number): Promise<number> {
    const { items } = await rows.page({ index: 'filter', where: { run } }, limit);
    await Promise.all(items.map(({ slot }) => rows.remove([run, slot])));
    let removed = items.length;
    if (removed < limit) removed += await removeSomeLookups(run, limit - removed);
    if (removed < limit) removed += await removeSomeFindings(run, limit - removed);
    if (removed < limit) removed += await removeSomeEvents(run, limit - removed);
    return removed;
  }

  async function removeRows(run: string): Promise<void> {
    while ((await removeSomeRows(run, REMOVAL_BATCH_SIZE)) === REMOVAL_BATCH_SIZE);
  }

  return {
    async insert(run, edit) {
      return (await runs.write(run, null, { edit: JSON.stringify(edit) })) === 'done' ? 'done' : 'taken';
    },
    async get(id) {
      const run = await runs.get([id]);
      return run && withActions(run);
    },
    async edit(id) {
      const edit = await runs.part([id], 'edit');
      if (edit !== null) return JSON.parse(edit) as ResourceChange[];
      const run = (await runs.get([id])) as OldRun | null;
      return run?.changes.map(({ ref, based_on, body }) => ({ ref, based_on, body })) ?? [];
    },
    async replace(next) {
      return (await writeNext(runs, next)) === 'done' ? 'done' : 'stale';
    },
    async list(workspace, limit, cursor) {
      const { items, next } = await runs.page({ index: 'workspace', where: { workspace } }, limit, cursor);
      return { items: items.map(withActions), next };
    },
    async createdBefore(before, limit) {
      const where = { createdAt: { before } };
      return (await runs.page({ index: 'created', where, order: 'ascending' }, limit)).items;
    },
    async addRows(added) {
      await Promise.all(added.map((row) => rows.write(row, null)));
    },
    rows: ({ run, difference, slotState, rule, day }, limit, cursor) =>
      rows.page(
        { index: 'filter', where: { run, difference, slotState, rule, day }, order: 'ascending' },
        limit,
        cursor,
      ),
    row: (run, slot) => rows.get([run, slot]),
    async addLookups(added) {
      await Promise.all(added.map((lookup) => lookups.write(lookup, null)));
    },
    lookups: (run, limit, cursor) =>
      lookups.page({ index: 'event', where: { run }, order: 'ascending' }, limit, cursor),
    async addFindings(added) {
      await Promise.all(added.map((finding) => findings.write(finding, null)));
    },
    findings: (run, limit, cursor) =>
      findings.page({ index: 'number', where: { run }, order: 'ascending' }, limit, cursor),
    async addText(run, sealed) {
      await texts.write({ run, sealed }, null);
    },
    text: async (run) => (await texts.get([run]))?.sealed ?? null,
    texts: async (limit, cursor) => runsOf(await texts.page({ index: 'run', where: {} }, limit, cursor)),
    async removeText(run) {
      await texts.remove([run]);
    },
    async addEvents(added) {
      await Promise.all(added.map((event) => events.write(event, null)));
    },
    events: (run, limit, cursor) => events.page({ index: 'time', where: { run } }, limit, cursor),
    removeRows,
    removeSomeRows,
    async remove(id) {
      await removeRows(id);
      await texts.remove([id]);
      await runs.remove([id]);
    },
  };
}

export const runs = { collections: [RUNS, RUN_ROWS, RUN_LOOKUPS, RUN_FINDINGS, RUN_EVENTS, RUN_TEXTS], create };
