/**
 * The child process of a run (docs/decisions/0078). It gets one order over its IPC channel, reports to its parent, and ends with
 * it. It opens the log read-only and no store.
 */
import { setPriority } from 'node:os';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { openScratchFile, ScratchFileTaken } from '@carillon/adapter-embedded';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createIds, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import type { RunResult, RunWork } from '@carillon/control';
import { foldConfiguration } from '@carillon/domain/configuration';
import { compileRule } from '@carillon/domain/rules';
import type { Run, RunKindName, RunProgress } from '@carillon/domain/runs';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { createConfigurationView, createRuleBook, ENGINE_SEMANTICS, narrowRuleBook } from '@carillon/stages';
import type { ErasedList } from '../process/erased-records.ts';
import { VERSION } from '../version.ts';
import { compareHistory } from './compare-history.ts';
import { findText } from './find-text.ts';
import { openHistoryOf } from './history-source.ts';
import { createPace } from './pace.ts';
import { verifyHistory } from './verify-history.ts';
import { SCRATCH_FILE_TAKEN, type ChildOrder, type ChildReports, type FromChild, type ToChild } from './protocol.ts';

/** Below the product on a busy machine. At 19 the child starves. */
const PRIORITY = 10;

setPriority(PRIORITY);
process.on('disconnect', () => process.exit(1));
// The parent decides when a run ends. A signal to the whole process group is meant for the parent.
process.on('SIGINT', () => undefined);

let stored: ((answer: never) => void) | null = null;
process.on('message', (message: ToChild) => {
  if (message.kind === 'stored') stored?.(message.answer);
  else void follow(message.order).finally(() => process.disconnect());
});
await send({ kind: 'ready' });

function send(message: FromChild): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, {}, (error) => (error ? reject(error) : resolve()));
  });
}

/** Resolves to the answer of the parent when it has stored a message. */
async function sendToStore(message: FromChild): Promise<never> {
  const answer = new Promise<never>((resolve) => (stored = resolve));
  await send(message);
  return answer;
}

/** Executes a run of a kind and returns its result. */
type Work<Kind extends RunKindName> = (
  order: ChildOrder<Kind>,
  reports: ChildReports<Kind>,
) => Promise<RunResult<Kind>>;
const WORK: { readonly [Kind in RunKindName]: Work<Kind> } = { compare, verify, find };

const batch =
  (name: string) =>
  (items: unknown): Promise<never> =>
    sendToStore({ kind: 'batch', name, items } as FromChild);

const REPORTS: ChildReports<'compare'> & ChildReports<'verify'> & ChildReports<'find'> = {
  // A parent that is gone ends this process, see `disconnect`.
  progress: (progress: RunProgress, counts: RunWork[RunKindName]['counts'], copied: number) =>
    void send({ kind: 'progress', progress, counts, copied }).catch(() => undefined),
  slots: batch('slots'),
  lookups: batch('lookups'),
  findings: batch('findings'),
};

async function follow(order: ChildOrder): Promise<void> {
  try {
    const result = await (WORK[order.run.kind] as Work<RunKindName>)(order, REPORTS);
    await send({ kind: 'done', result });
  } catch (error) {
    // Another child process has the scratch file open, so this one ends. The parent, if it still runs, starts a child
    // that continues from the newest checkpoint.
    if (error instanceof ScratchFileTaken) process.exit(SCRATCH_FILE_TAKEN);
    // Words of an unexpected error may hold a value of an event.
    const { code, detail } = isCarillonError(error)
      ? error
      : new CarillonError('internal', `the run failed (${error instanceof Error ? error.name : typeof error})`);
    await send({ kind: 'failed', code, detail });
  }
}

/** After an upgrade or an erasure the same events may come to other lines, so the run starts again. */
const identityOf = ({ id }: Run, erased: ErasedList | null): string =>
  JSON.stringify([id, VERSION, ENGINE_SEMANTICS, erased?.number ?? null]);

async function compare(
  { run, order: { edit }, source, erased, ledgerKey, scratchFile, pageRecords }: ChildOrder<'compare'>,
  reports: ChildReports<'compare'>,
) {
  const history = await openHistoryOf(source, run.logId, erased);
  const scratch = openScratchFile(scratchFile, identityOf(run, erased));
  try {
    const codecs = await createRecordCodecs(history.registry, () => systemClock.now());
    const view = createConfigurationView(history, codecs.configuration, systemClock);
    const published = await view.at(run.published);
    const { configuration: after } = foldConfiguration(published, { changes: edit }, published.number + 1);
    const expressions = createExpressionLanguage();
    const book = createRuleBook((placed) => compileRule(placed, expressions), createTemplateRenderer());
    const compared = new Set(run.notifications);
    const configurations = { before: await view.at(run.before), after: edit.length > 0 ? after : published };
    return await compareHistory(
      {
        run,
        pageRecords,
        history,
        scratch,
        lookups: codecs.lookup,
        deadLetters: codecs.deadLetter,
        pace: createPace(history),
        comparing: {
          configurations,
          ids: createIds(ledgerKey),
          book: narrowRuleBook(
            book,
            ({ workspace, notification }) => workspace === run.workspace && compared.has(notification.ref.name),
          ),
        },
      },
      reports,
    );
  } finally {
    scratch.close();
    history.close();
  }
}

async function verify(
  { run, source, erased, ledgerKey, scratchFile, pageRecords }: ChildOrder<'verify'>,
  reports: ChildReports<'verify'>,
) {
  const history = await openHistoryOf(source, run.logId, erased);
  const scratch = openScratchFile(scratchFile, identityOf(run, erased));
  try {
    const codecs = await createRecordCodecs(history.registry, () => systemClock.now());
    const configuration = createConfigurationView(history, codecs.configuration, systemClock);
    const expressions = createExpressionLanguage();
    const book = createRuleBook((placed) => compileRule(placed, expressions), createTemplateRenderer());
    const ids = createIds(ledgerKey);
    const pace = createPace(history);
    return await verifyHistory({ run, history, scratch, codecs, configuration, book, ids, pace, pageRecords }, reports);
  } finally {
    scratch.close();
    history.close();
  }
}

async function find(
  { run, order: { texts }, source, erased, scratchFile, pageRecords }: ChildOrder<'find'>,
  reports: ChildReports<'find'>,
) {
  const history = await openHistoryOf(source, run.logId, erased);
  const scratch = openScratchFile(scratchFile, identityOf(run, erased));
  try {
    return await findText({ run, texts, history, scratch, pageRecords, pace: createPace(history) }, reports);
  } finally {
    scratch.close();
    history.close();
  }
}
