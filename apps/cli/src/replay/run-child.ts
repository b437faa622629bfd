import { fork, type ChildProcess } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeScratchFile } from '@carillon/adapter-embedded';
import type { BatchReports, RunChild, RunOrder, RunReports, RunResult, RunWork } from '@carillon/control';
import type { Run, RunKindName, RunOf, RunProgress } from '@carillon/domain/runs';
import { CarillonError } from '@carillon/kernel';
import type { ErasedList, ErasedRecords } from '../process/erased-records.ts';
import type { HistorySource } from './history-source.ts';
import { makeScratchFolder } from './scratch-folder.ts';
import { SCRATCH_FILE_TAKEN, type ChildOrder, type FromChild, type ToChild } from './protocol.ts';

/** Heap of the child. A rule that needs more ends the child, and its run fails. */
const HEAP_MIB = 384;
/** Children in a row that may end before one of them comes further. */
const MAX_FRUITLESS_STARTS = 3;
const SUFFIX = '.scratch';

export type RunChildFacts = {
  readonly source: HistorySource;
  /** Folder of the scratch files. */
  readonly folder: string;
  readonly ledgerKey: Uint8Array;
  /** Records that are erased on the log. Left out or null: the log itself has them erased. */
  readonly erased?: Pick<ErasedRecords, 'newest' | 'newestNumber'> | null;
  /** Records of a page. Defaults to 500. */
  readonly pageRecords?: number | undefined;
  /** Reports a child that ended without a result and was not stopped. */
  readonly trouble: (where: string, error: unknown) => void;
  readonly watch: RunWatch;
};

/** Observes runs for metrics and traces. */
export type RunWatch = Pick<RunChild, 'ended'> & {
  /** Called when work on a run begins in this process. */
  begin(run: Pick<Run, 'workspace'>): {
    /** Records that were read since the last call. */
    read(records: number): void;
    /** A child ended without a result and was not stopped. */
    childEnded(): void;
    /** Called when the work ends. `error` is given for `failed`; the run may be tried again. `stopped`: the run was cancelled, or this process ends. */
    end(result: 'done' | 'failed' | 'stopped', error?: unknown): void;
  };
};

/** Path of the child's entry: the source in a checkout, or its bundle (tools/bundle.ts). */
const childEntry = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './child.ts' : './replay-child.js', import.meta.url));

/** Executes each run in a child process of its own. */
export function createRunChild(facts: RunChildFacts): RunChild {
  const { source, folder, ledgerKey, pageRecords, trouble, watch, erased = null } = facts;
  const fileOf = (id: string): string => join(folder, `${id}${SUFFIX}`);

  async function execute<Kind extends RunKindName>(
    run: RunOf<Kind>,
    order: RunOrder<Kind>,
    reports: RunReports<Kind>,
    stop: AbortSignal,
  ): Promise<RunResult<Kind>> {
    const observed = watch.begin(run);
    try {
      if (source.kind === 'kafka') makeScratchFolder(folder);
      const whole = { run, order, source, ledgerKey, pageRecords, scratchFile: fileOf(run.id) };
      const result = await executeInChildren<Kind>(whole, reports, stop, observed);
      observed.end('done');
      return result;
    } catch (error) {
      if (stop.aborted) observed.end('stopped');
      else observed.end('failed', error);
      throw error;
    }
  }

  async function executeInChildren<Kind extends RunKindName>(
    order: Omit<ChildOrder<Kind>, 'erased'>,
    reports: RunReports<Kind>,
    stop: AbortSignal,
    observed: ReturnType<RunWatch['begin']>,
  ): Promise<RunResult<Kind>> {
    let reached = -1;
    for (let fruitless = 0; ;) {
      stop.throwIfAborted();
      await reports.begin();
      // A listener that is added after the abort is never called.
      stop.throwIfAborted();
      const list = erased && (await erased.newest());
      const child = startChild();
      const follower = list && endOnNewList(child, list, erased);
      const before: number = reached;
      let last: number | null = null;
      const result = await follow<Kind>(child, { kind: 'execute', order: { ...order, erased: list } }, stop, {
        ...reports,
        async progress(progress, counts, copied) {
          // The first report is the checkpoint at which the child begins.
          observed.read(last === null ? 0 : progress.read - last);
          last = progress.read;
          reached = Math.max(reached, progress.read + copied);
          await reports.progress(progress, counts);
        },
      }).finally(() => follower?.end());
      if (follower?.isOutdated()) {
        // What the child has found so far may be of an erased person.
        removeScratchFile(order.scratchFile);
        reached = -1;
        continue;
      }
      if (result) return result;
      observed.childEnded();
      const end = endOf(child);
      const { id, kind } = order.run;
      trouble(`${kind} over past events, ${id}`, new Error(`the process of the run ${end.text}`));
      fruitless = reached > before ? 0 : fruitless + 1;
      if (fruitless < MAX_FRUITLESS_STARTS) continue;
      const times = `the process of the run ended ${fruitless} times in a row without progress`;
      throw new CarillonError('internal', `${times}. The last ${end.text}: ${end.fix}`);
    }
  }

  return {
    execute,
    isOnDiskOfStores: source.kind === 'embedded',
    ended: (result) => watch.ended(result),
    async forget({ id }) {
      removeScratchFile(fileOf(id));
    },
    async known() {
      const names = await readdir(folder).catch((): readonly string[] => []);
      return [...new Set(names.map((name) => name.split('.')[0] ?? ''))].filter((id) => id.startsWith('run_'));
    },
  };
}

/** How often a control process looks whether records were erased that its child reads. */
const LIST_CHECK_MS = 500;

/** Ends the child if records were erased since it began, or if that is unknown because the store does not answer. */
function endOnNewList(
  child: ChildProcess,
  { number }: ErasedList,
  erased: Pick<ErasedRecords, 'newestNumber'>,
): { isOutdated(): boolean; end(): void } {
  let isOutdated = false;
  const timer = setInterval(() => {
    erased.newestNumber().then(
      (newest) => newest === number || outdate(),
      () => outdate(),
    );
  }, LIST_CHECK_MS);
  function outdate(): void {
    isOutdated = true;
    child.kill('SIGKILL');
  }
  return { isOutdated: () => isOutdated, end: () => clearInterval(timer) };
}

const startChild = (): ChildProcess =>
  fork(childEntry(), [], {
    execArgv: [`--max-old-space-size=${HEAP_MIB}`],
    // Settings of the product may hold secrets, and the child needs none of them.
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });

/** How a child ended without a result, and what to do about it. */
function endOf({ exitCode, signalCode }: ChildProcess): { readonly text: string; readonly fix: string } {
  if (exitCode === SCRATCH_FILE_TAKEN) {
    return {
      text: 'found its scratch file in use by another process',
      fix: 'end that process, then start the run again',
    };
  }
  // Node aborts when its heap is full.
  if (signalCode === 'SIGABRT') {
    const text = `needed more than ${HEAP_MIB} MiB of memory`;
    return { text, fix: 'choose a shorter time range, or simplify the rule' };
  }
  if (signalCode === null) return { text: `ended with code ${exitCode}`, fix: 'start the run again' };
  return {
    text: `was ended by ${signalCode}`,
    fix: 'the system ends processes if the machine has too little memory. Find out what ended it, then start the run again',
  };
}

type StoringReports<Kind extends RunKindName> = BatchReports<Kind> & {
  /** `copied`: records of other topics that were copied so far. */
  progress(progress: RunProgress, counts: RunWork[Kind]['counts'], copied: number): Promise<void>;
};

/** Resolves to the result of a child, or to null if the child ended without one. Ends the child when `stop` is aborted. */
async function follow<Kind extends RunKindName>(
  child: ChildProcess,
  order: ToChild,
  stop: AbortSignal,
  reports: StoringReports<Kind>,
): Promise<RunResult<Kind> | null> {
  const kill = (): void => void child.kill('SIGKILL');
  stop.addEventListener('abort', kill);
  try {
    return await new Promise<RunResult<Kind> | null>((resolve, reject) => {
      let handling: Promise<void> = Promise.resolve();
      let result: RunResult<Kind> | null = null;
      const fail = (error: unknown): void => {
        reject(error);
        kill();
      };
      const tell = (message: ToChild): void => void child.send(message, () => undefined);
      // Messages are handled in their order, one at a time.
      child.on('message', (message: FromChild<Kind>) => {
        handling = handling.then(() => handle(message)).catch(fail);
      });
      child.on('error', fail);
      // Comes after the last message. The event `exit` may come before it.
      child.on('close', () => void handling.then(() => resolve(result)));

      async function handle(message: FromChild<Kind>): Promise<void> {
        if (message.kind === 'ready') tell(order);
        if (message.kind === 'progress') await reports.progress(message.progress, message.counts, message.copied);
        if (message.kind === 'failed') throw new CarillonError(message.code, message.detail);
        if (message.kind === 'done') ({ result } = message);
        if (message.kind !== 'batch') return;
        const report = reports[message.name] as (items: never) => Promise<never>;
        tell({ kind: 'stored', answer: await report(message.items) });
      }
    });
  } finally {
    stop.removeEventListener('abort', kill);
    kill();
    stop.throwIfAborted();
  }
}
