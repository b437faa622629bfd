import type { ScratchFile } from '@carillon/adapter-embedded';
import type { CompareRun } from '@carillon/domain/runs';
import type { EventHistory, Ids, RecordCodecs } from '@carillon/ports';
import type { CompareContext } from '@carillon/stages';
import type { Pace } from './pace.ts';

/** Inputs of a comparison. */
export type CompareParts = {
  readonly run: CompareRun;
  readonly history: EventHistory;
  readonly scratch: ScratchFile;
  readonly lookups: RecordCodecs['lookup'];
  readonly deadLetters: RecordCodecs['deadLetter'];
  readonly pace: Pace;
  readonly comparing: Omit<CompareContext, 'findAnswer' | 'ids'> & { readonly ids: Ids };
  /** Records of a page. Defaults to 500. */
  readonly pageRecords?: number | undefined;
};
