import { MAX_FOUND_EVENTS, type FindRun } from '@carillon/domain/runs';
import { searchFor } from '@carillon/insight';
import { CarillonError } from '@carillon/kernel';
import { rangeOf } from '../../runs/range.ts';
import { runKind, type AskedRun, type PreparedRun, type PrepareRunPorts, type ShownRun } from '../../runs/run-kind.ts';
import { writeRun } from '../../runs/write-run.ts';
import type { JobKindPorts } from '../kind.ts';

/** Searches past events for a text, such as the address of a person who is rarely notified. */
export const findText = runKind({
  kind: 'find',
  action: 'find_text',
  noun: 'search',
  defaultRange: null,
  prepare,
  execute: find,
  show,
});

/** Returns the keyed hash of a search text. Equal texts of a workspace have equal hashes. */
export const textHashOf = (
  { workspace, text }: { readonly workspace: string; readonly text: string },
  { ids }: Pick<PrepareRunPorts, 'ids'>,
): string => ids.keyed('run text', workspace, text);

const boundTo = ({ workspace }: Pick<FindRun, 'workspace'>): readonly string[] => ['run text', workspace];

/** Fields of a request that only other kinds take. */
const OTHER_FIELDS = ['before', 'after', 'drafts', 'folder', 'notifications'] as const;

async function prepare({ workspace, asked, range }: AskedRun, ports: PrepareRunPorts): Promise<PreparedRun<'find'>> {
  const { text } = asked;
  if (text === undefined) throw wrong('text', 'name the text to search for');
  const other = OTHER_FIELDS.find((field) => asked[field] !== undefined);
  if (other !== undefined) throw wrong(other, 'a search takes a text and a time range; leave it out');
  return {
    range: await rangeOf(ports.log, range),
    published: ports.configuration.current().number,
    own: { textHash: textHashOf({ workspace, text }, ports), counts: null },
    edit: [],
    sealedText: ports.runSealer.seal(boundTo({ workspace }), text),
  };
}

const wrong = (field: string, fix: string): CarillonError =>
  new CarillonError('invalid_request', `${field}: ${fix}`, { pointer: `/${field}` });

async function find(run: FindRun, { runChild, runs, runSealer }: JobKindPorts, stop: AbortSignal): Promise<void> {
  const sealed = await runs.text(run.id);
  const text = sealed === null ? null : runSealer.open(boundTo(run), sealed);
  if (text === null) {
    throw new CarillonError('internal', 'the text of this search is no longer stored: start the search again');
  }
  const result = await runChild?.execute<'find'>(
    run,
    { texts: [...new Set(searchFor(text, true).forms)] },
    {
      begin: async () => undefined,
      progress: (progress, counts) => writeRun(run, runs, { progress, counts }),
    },
    stop,
  );
  if (!result) throw new Error(`the search ${run.id} ended without a result`);
  const { checksum, counts, events } = result;
  await runs.addEvents(events.map((event) => ({ ...event, run: run.id })));
  await writeRun(run, runs, { counts, checksum, progress: { read: run.progress.total, total: run.progress.total } });
}

function show({ counts, textHash }: FindRun, isDone: boolean): ShownRun {
  const found = counts && {
    events: counts.events,
    found: counts.found,
    kept: isDone ? Math.min(counts.found, MAX_FOUND_EVENTS) : 0,
    text_hash: textHash,
  };
  return {
    find: found,
    sentence: isDone && counts ? sentenceOf(counts) : null,
    notes:
      counts && counts.found > MAX_FOUND_EVENTS
        ? [`The newest ${MAX_FOUND_EVENTS} are kept. Search an earlier time range to see older ones.`]
        : [],
  };
}

const sentenceOf = ({ events, found }: NonNullable<FindRun['counts']>): string =>
  `${found} of ${events} ${events === 1 ? 'event' : 'events'} ${found === 1 ? 'holds' : 'hold'} the text.`;
