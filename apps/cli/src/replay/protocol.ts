import type { ResourceChange } from '@carillon/domain/configuration';
import type { MissingLookup, ReadCounts, Run, RunProgress } from '@carillon/domain/runs';
import type { ErrorCode } from '@carillon/kernel';
import type { ComparedSlot } from '@carillon/stages';
import type { HistorySource } from './history-source.ts';

/** What the child process needs for a run. It comes over the IPC channel, because arguments and environment can be read by others. */
export type CompareOrder = {
  readonly run: Run;
  readonly edit: readonly ResourceChange[];
  readonly source: HistorySource;
  /** Key from which ids are derived. */
  readonly ledgerKey: Uint8Array;
  readonly scratchFile: string;
  readonly pageRecords: number | undefined;
};

/** Exit code of a child whose scratch file another process writes. */
export const SCRATCH_FILE_TAKEN = 75;

export type ToChild =
  | { readonly kind: 'compare'; readonly order: CompareOrder }
  /** The slots or lookups sent last are stored. */
  | { readonly kind: 'stored' };

export type FromChild =
  /** The child is loaded and takes its order. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'progress';
      readonly progress: RunProgress;
      readonly counts: ReadCounts;
      /** Recorded lookups that were copied so far. */
      readonly copied: number;
    }
  /** Slots that differ. The child waits for `stored` before it sends more. */
  | { readonly kind: 'slots'; readonly slots: readonly ComparedSlot[] }
  /** Events and rules that need a lookup. The child waits for `stored` before it sends more. */
  | { readonly kind: 'lookups'; readonly lookups: readonly MissingLookup[] }
  | {
      readonly kind: 'done';
      readonly checksum: string;
      readonly counts: ReadCounts;
      /** Number of slots on which the sides agree, by rule. */
      readonly unchanged: readonly (readonly [rule: string, slots: number])[];
    }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly detail: string };
