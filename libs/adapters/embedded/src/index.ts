export { restoreBackup } from './backup.ts';
export { openEmbedded, type Embedded, type EmbeddedOptions, type EmbeddedStats } from './embedded.ts';
export type { EmbeddedLog } from './log/event-log.ts';
export { DEFAULT_RETENTION, type Removed, type RetentionPolicy } from './retention.ts';
