import type { BatchReports, RunOrder, RunResult, RunWork } from '@carillon/control';
import type { RunKindName, RunOf, RunProgress } from '@carillon/domain/runs';
import type { ErrorCode } from '@carillon/kernel';
import type { ErasedList } from '../process/erased-records.ts';
import type { HistorySource } from './history-source.ts';

/**
 * Order of a run for its child process. Sent over the IPC channel, because other processes can read arguments and
 * environment.
 */
export type ChildOrder<Kind extends RunKindName = RunKindName> = {
  readonly run: RunOf<Kind>;
  /** Fields that only this kind of run needs. */
  readonly order: RunOrder<Kind>;
  readonly source: HistorySource;
  /** Key from which ids are derived. */
  readonly ledgerKey: Uint8Array;
  /** Records that the child reads as erased. Null: the log itself has them erased. */
  readonly erased: ErasedList | null;
  readonly scratchFile: string;
  readonly pageRecords: number | undefined;
};

/** Exit code of a child whose scratch file another process writes. */
export const SCRATCH_FILE_TAKEN = 75;

export type ToChild =
  | { readonly kind: 'execute'; readonly order: ChildOrder }
  /** The batch sent last is stored. */
  | { readonly kind: 'stored'; readonly answer: never };

export type FromChild<Kind extends RunKindName = RunKindName> =
  /** The child process has loaded and is ready for its order. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'progress';
      readonly progress: RunProgress;
      readonly counts: RunWork[Kind]['counts'];
      /** Records of other topics that were copied so far. */
      readonly copied: number;
    }
  /** A part of the result. The child waits for `stored` before it sends more. */
  | { readonly kind: 'batch'; readonly name: keyof RunWork[Kind]['batches']; readonly items: never }
  | { readonly kind: 'done'; readonly result: RunResult<Kind> }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly detail: string };

/** How the work in a child reports to its parent. */
export type ChildReports<Kind extends RunKindName> = BatchReports<Kind> & {
  /** `copied`: records of other topics that were copied so far. */
  progress(progress: RunProgress, counts: RunWork[Kind]['counts'], copied: number): void;
};
