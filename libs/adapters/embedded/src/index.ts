export { mendFolder, type Mended } from './damage/mend.ts';
export type { PageState } from './damage/page-check.ts';
export {
  openEmbedded,
  type Embedded,
  type EmbeddedHealth,
  type EmbeddedOptions,
  type EmbeddedStats,
  type FoundWal,
} from './embedded.ts';
export { openHistory } from './history.ts';
export type { EmbeddedLog } from './log/event-log.ts';
export type { CarriedOver } from './restore/carry-over.ts';
export type { Outstanding, Span } from './restore/outstanding.ts';
export type { MetEntity, Unanswered } from './scratch-states.ts';
export { openScratchFile, removeScratchFile, ScratchFileTaken, type ScratchFile } from './scratch-file.ts';
export { restoreBackup, type Restored, type RestoreOptions } from './restore/restore.ts';
export { intakeUntil, WAL_BOUNDS, type WalBounds } from './wal/bounds.ts';
export { keptLonger, type Removed, type RetentionPolicy } from './retention.ts';
