import { statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { ID_PREFIXES, type Duration, type Instant } from '@carillon/kernel';
import type { Clock, SchemaRegistry, Stores } from '@carillon/ports';
import { writeBackup } from './backup.ts';
import { dataFiles, makeFolder, makePrivateFile } from './data-folder.ts';
import { lockFolder } from './folder-lock.ts';
import { createEventLog, type EmbeddedLog } from './log/event-log.ts';
import { appendJoint } from './log/packed-records.ts';
import { openReader, type Reader } from './reader.ts';
import { readCalledOff } from './restore/call-off.ts';
import { applyRetention, DEFAULT_RETENTION, type Removed, type RetentionPolicy } from './retention.ts';
import { createCheckpointStore } from './stores/checkpoints.ts';
import { createCohortStore } from './stores/cohort-store.ts';
import { createConfigurationStore } from './stores/configuration-store.ts';
import { createDeliveryLedger } from './stores/delivery-ledger.ts';
import { createDueTasks } from './stores/due-tasks.ts';
import { createInbox } from './stores/inbox.ts';
import { createKeyUseStore } from './stores/key-uses.ts';
import { createLeaseStore } from './stores/leases.ts';
import { createLookupClaims } from './stores/lookup-claims.ts';
import { createReadModels } from './stores/read-models.ts';
import { createRuleStateStore } from './stores/rule-states.ts';
import { createSchemaRegistry } from './stores/schema-registry.ts';
import { createSuppressionList } from './stores/suppression-list.ts';
import type { WriterSettings } from './writing/protocol.ts';
import { createWriter, DEFAULT_QUEUE_BYTES, type Writer, type WriterStats } from './writing/writer.ts';

export type EmbeddedOptions = {
  readonly dataDir: string;
  readonly clock: Clock;
  /** Of every topic but `carillon.config`, fixed when the folder is made. Left out: as it was made, 8 for a new one. */
  readonly partitions?: number;
  /** What holds the folder, in the words that somebody who finds it locked should read. */
  readonly holder?: string;
  /** Bytes waiting to be written beyond which writes are refused as `overloaded`. */
  readonly maxQueueBytes?: number;
  /** Size that the data file may have at most; beyond it writes are refused as `log_unavailable` until there is room. */
  readonly maxFileBytes?: number;
  /** How long a write waits where some other program has locked the data file. */
  readonly busyTimeout?: Duration;
};

export type EmbeddedStats = WriterStats & {
  readonly fileBytes: number;
  /** The write-ahead log beside it: grows while a reader holds on to an old state. */
  readonly walBytes: number;
};

/** The backend of a single machine: log and stores in one file, for one process at a time. */
export type Embedded = Stores & {
  readonly log: EmbeddedLog;
  readonly registry: SchemaRegistry;
  /** Removes what is past its time. */
  applyRetention(now: Instant, policy?: RetentionPolicy): Promise<Removed>;
  /** By partition of `carillon.events`: what events below these offsets cause, a restore called off (restore.ts). */
  readonly calledOffBelow: ReadonlyMap<number, number>;
  /** The same by partition of `carillon.cohorts`: what messages below these offsets change. */
  readonly calledOffCohortsBelow: ReadonlyMap<number, number>;
  /** Writes a consistent copy with the keys, for its owner alone, while everything goes on. */
  backup(file: string): Promise<void>;
  readonly stats: () => EmbeddedStats;
  /** Ends the consumers, finishes what is queued, lets go of the folder. Safe to call twice. */
  close(): Promise<void>;
};

const BUSY_TIMEOUT = 5000;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const freshLogId = (): string =>
  ID_PREFIXES.log + Array.from(randomBytes(26), (byte) => ALPHABET.charAt(byte & 31)).join('');

/** The source as it stands in a checkout, or what a bundle made of it (tools/bundle.ts). */
const threadEntry = (): URL =>
  import.meta.url.endsWith('.ts')
    ? new URL('./writing/thread.ts', import.meta.url)
    : new URL('./embedded-writer.js', import.meta.url);

/**
 * Opens the data folder, making it if it is not there. Rejects with CarillonError `data_locked` where another process has
 * it and `data_version` where this program cannot read it.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const files = dataFiles(options.dataDir);
  makeFolder(options.dataDir);
  const lock = lockFolder(options.dataDir, options.holder ?? 'carillon', options.clock.now());
  const busyTimeout = options.busyTimeout ?? BUSY_TIMEOUT;
  try {
    makePrivateFile(files.database);
    const workerData: WriterSettings = {
      file: files.database,
      logId: freshLogId(),
      partitions: options.partitions ?? null,
      createdAt: options.clock.now(),
      busyTimeout,
      maxFileBytes: options.maxFileBytes ?? null,
    };
    const writer = createWriter({
      clock: options.clock,
      maxQueueBytes: options.maxQueueBytes ?? DEFAULT_QUEUE_BYTES,
      joints: { 'log.append': appendJoint },
      start: () => new Worker(threadEntry(), { workerData, execArgv: [], name: 'carillon-writer' }),
    });
    await writer.open();
    try {
      return assemble(options, writer, openReader(files.database, busyTimeout), lock);
    } catch (error) {
      await writer.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function assemble(options: EmbeddedOptions, writer: Writer, reader: Reader, lock: { release(): void }): Embedded {
  const { database, keys } = dataFiles(options.dataDir);
  const log = createEventLog(reader, writer.writes());
  let closed: Promise<void> | null = null;
  async function close(): Promise<void> {
    await log.stop();
    await writer.drain();
    // The writer is to be the last one at the file: then it leaves one file, without a write-ahead log beside it.
    reader.close();
    await writer.close();
    lock.release();
  }
  return {
    log,
    checkpoints: createCheckpointStore(reader, writer.writes()),
    ruleStates: createRuleStateStore(reader, writer.writes()),
    cohorts: createCohortStore(reader, writer.writes()),
    tasks: createDueTasks(reader, writer.writes()),
    claims: createLookupClaims(reader, writer.writes()),
    ledger: createDeliveryLedger(reader, writer.writes()),
    suppressions: createSuppressionList(reader, writer.writes()),
    configurationStore: createConfigurationStore(reader, writer.writes()),
    leases: createLeaseStore(writer.writes()),
    readModels: createReadModels(reader, writer.writes()),
    registry: createSchemaRegistry(reader, writer.writes()),
    inbox: createInbox(reader, writer.writes()),
    keyUses: createKeyUseStore(reader, writer.writes()),
    calledOffBelow: readCalledOff(reader, 'carillon.events'),
    calledOffCohortsBelow: readCalledOff(reader, 'carillon.cohorts'),
    applyRetention: (now, policy = DEFAULT_RETENTION) => applyRetention(log, writer.writes(), now, policy),
    backup: (file) => writeBackup(database, keys, file),
    stats: () => ({ ...writer.stats(), fileBytes: sizeOf(database), walBytes: sizeOf(`${database}-wal`) }),
    close() {
      closed ??= close();
      return closed;
    },
  };
}
