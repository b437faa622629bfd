import { existsSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { SINGLE_SEQUENCES, TOPIC_DEFINITIONS, TOPICS, type TopicRetention } from '@carillon/contracts';
import { CarillonError, ID_PREFIXES, isCarillonError, type Duration, type Instant, type JobId } from '@carillon/kernel';
import type {
  BackendStores,
  Clock,
  AnyCollection,
  ErasureSteps,
  SchemaRegistry,
  EventLoopSlice,
  WriteWithRecords,
} from '@carillon/ports';
import { writeBackup } from './backup.ts';
import { createPageCheck, type PageCheck, type PageState } from './damage/page-check.ts';
import { createErasureSteps } from './erasure/erasure-steps.ts';
import { cutShort } from './damage/look-at-file.ts';
import { refuseDamagedWal } from './damage/look-at-wal.ts';
import { dataFiles, makeFolder, makePrivateFile } from './data-folder.ts';
import { lockFolder, type FolderLock } from './folder-lock.ts';
import { createEventLog, type EmbeddedLog } from './log/event-log.ts';
import { appendJoint } from './log/packed-records.ts';
import { openReader, type Reader } from './reader.ts';
import { readCalledOff, readCalledOffJobs } from './restore/call-off.ts';
import { applyRetention, readDefaultRetention, type Removed, type RetentionPolicy } from './retention.ts';
import { documentTable } from './schema/document-tables.ts';
import { createCheckpointStore } from './stores/checkpoints.ts';
import { createCohortStore } from './stores/cohort-store.ts';
import { createConfigurationStore } from './stores/configuration-store.ts';
import { createDeliveryLedger } from './stores/delivery-ledger.ts';
import { createKeptSums } from './stores/kept-sums.ts';
import { createDocuments } from './stores/documents.ts';
import { createWriteWithRecords } from './stores/documents-with-records.ts';
import { createDueTasks } from './stores/due-tasks.ts';
import { createKeyUseStore } from './stores/key-uses.ts';
import { createLeaseStore } from './stores/leases.ts';
import { createLookupClaims } from './stores/lookup-claims.ts';
import { createReadModels } from './stores/read-models.ts';
import { createRuleStateStore } from './stores/rule-states.ts';
import { createSchemaRegistry } from './stores/schema-registry.ts';
import { createSuppressionList } from './stores/suppression-list.ts';
import { intakeUntil, littleOf, logIsFull, WAL_BOUNDS, type WalBounds } from './wal/bounds.ts';
import { createWalCopier, type CopySettings, type WalCopier } from './wal/copier.ts';
import type { WriterSettings } from './writing/protocol.ts';
import { createWriter, DEFAULT_QUEUE_BYTES, type Writer, type WriterStats } from './writing/writer.ts';

export type EmbeddedOptions = {
  readonly dataDir: string;
  readonly clock: Clock;
  /** Collections of `documents`. */
  readonly collections?: readonly AnyCollection[];
  /** Event loop slice of the process, shared by its consumers of the log. Defaults to one for each consumer. */
  readonly slice?: Pick<EventLoopSlice, 'yield'>;
  /**
   * How many each topic has but `carillon.config` and `carillon.audit`, fixed when the folder is made. Left out: as it
   * was made, 8 for a new one.
   */
  readonly partitions?: number;
  /** Description of the holder, shown to a person who finds the folder locked. */
  readonly holder?: string;
  /** Bytes waiting to be written beyond which writes are refused as `overloaded`. */
  readonly maxQueueBytes?: number;
  /** Size that the data file may have at most; beyond it writes are refused as `log_unavailable` until there is room. */
  readonly maxFileBytes?: number;
  /**
   * How long opening waits for the look at all pages that follows anything but a clean stop, 5 s by default. A larger file is looked at on, while
   * work goes on; damage that is found then ends all reading and writing.
   */
  readonly pageCheckPatience?: Duration;
  /** How long the write-ahead log may be. */
  readonly walBounds?: WalBounds;
  /** How long a write waits where some other program has locked the data file. */
  readonly busyTimeout?: Duration;
  /** Is told when opening begins to bring the data of an older version forward, which may take minutes. */
  readonly migrating?: (from: number, to: number) => void;
};

export type EmbeddedStats = WriterStats & {
  readonly fileBytes: number;
  /** The write-ahead log beside it: grows while a reader holds on to an old state. */
  readonly walBytes: number;
  /** Bytes of the log that are not yet copied into the data file. */
  readonly walLeft: number;
  /** How often it was copied into the data file beside the writer. */
  readonly copyings: number;
  /** Why it could not be copied the last time; null where it could. */
  readonly notCopied: string | null;
};

/** The write-ahead log that was found when the folder was opened, of a process that did not stop in order. */
export type FoundWal = { readonly bytes: number; readonly tookMs: Duration };

export type EmbeddedHealth = {
  readonly pages: PageState;
  /**
   * Description of the damage with its remedy. The data file is then neither read nor written. Null if it is intact.
   */
  readonly damaged: string | null;
  /** Why the last write failed, or nothing new is taken in; null while writing works. */
  readonly failing: string | null;
};

/** The backend of a single machine: log and stores in one file, for one process at a time. */
export type Embedded = BackendStores & {
  readonly log: EmbeddedLog;
  readonly registry: SchemaRegistry;
  readonly erasure: ErasureSteps;
  readonly writeWithRecords: WriteWithRecords;
  /** Retention of topics that the configuration does not name. */
  readonly defaultRetention: TopicRetention;
  /** Removes what is past its time. Defaults to the retention of the folder. */
  applyRetention(now: Instant, policy?: RetentionPolicy): Promise<Removed>;
  /** Offsets by partition of `carillon.events`. A restore cancels messages of events below them (restore.ts). */
  readonly calledOffBelow: ReadonlyMap<number, number>;
  /** Offsets by partition of `carillon.cohorts`. A restore cancels the effects of messages below them. */
  readonly calledOffCohortsBelow: ReadonlyMap<number, number>;
  /** Sending jobs that the backup of a restore held: what they send is called off. */
  readonly calledOffJobs: ReadonlySet<JobId>;
  /** Null after a clean stop. */
  readonly foundWal: FoundWal | null;
  /** Writes a consistent copy with the keys, for its owner alone, while everything goes on. */
  backup(file: string): Promise<void>;
  readonly stats: () => EmbeddedStats;
  /** Looks at all pages of the data file; answers what is known after `patience` at the latest, and goes on by itself. */
  lookAtPages(patience: Duration): Promise<PageState>;
  /** What is known of the pages, and whether reading and writing work. */
  health(): EmbeddedHealth;
  /** Writes a little, to see whether writing works again. Never rejects. */
  probe(): Promise<void>;
  /** Ends the consumers, finishes what is queued, lets go of the folder. Safe to call twice. */
  close(): Promise<void>;
};

const NEXT_TURN = { yield: () => nextTurn() };
const BUSY_TIMEOUT_MS = 5000;
const PAGE_CHECK_TIMEOUT_MS = 5000;
const PROBE = 'data file';
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const freshLogId = (): string =>
  ID_PREFIXES.log + Array.from(randomBytes(26), (byte) => ALPHABET.charAt(byte & 31)).join('');

/** The source as it stands in a checkout, or what a bundle made of it (tools/bundle.ts). */
const threadEntry = (source: string, bundled: string): URL =>
  new URL(import.meta.url.endsWith('.ts') ? source : bundled, import.meta.url);

/**
 * Opens the data folder, making it if it is not there. Rejects with CarillonError `data_locked` where another process has
 * it, `data_version` where another version wrote it, and `data_damaged` where file or write-ahead log are damaged; then
 * nothing of it was changed.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const files = dataFiles(options.dataDir);
  makeFolder(options.dataDir);
  const missing = cutShort(files.database, files.keys);
  if (missing !== null) throw damage(options.dataDir, missing);
  const hadLog = existsSync(`${files.database}-wal`);
  const found = { bytes: sizeOf(`${files.database}-wal`), since: performance.now() };
  const lock = lockFolder(options.dataDir, options.holder ?? 'carillon', options.clock.now());
  const busyTimeout = options.busyTimeout ?? BUSY_TIMEOUT_MS;
  const walBounds = options.walBounds ?? WAL_BOUNDS;
  let damaged: string | null = null;
  try {
    refuseDamagedWal(options.dataDir, files.database);
    makePrivateFile(files.database);
    const workerData: WriterSettings = {
      file: files.database,
      logId: freshLogId(),
      topics: TOPICS.map((name) => ({
        name,
        isSingleSequence: SINGLE_SEQUENCES.has(name),
        retention: TOPIC_DEFINITIONS[name].retention,
      })),
      partitions: options.partitions ?? null,
      createdAt: options.clock.now(),
      documentTables: (options.collections ?? []).map(documentTable),
      busyTimeout,
      maxFileBytes: options.maxFileBytes ?? null,
      walBounds,
    };
    const copySettings: CopySettings = { file: files.database, busyTimeout, little: littleOf(walBounds) };
    const copier = createWalCopier({
      bounds: walBounds,
      start: () =>
        new Worker(threadEntry('./wal/copy-thread.ts', './embedded-wal-copier.js'), {
          workerData: copySettings,
          execArgv: [],
          name: 'carillon-wal-copier',
        }),
      found: foundDamage,
    });
    const writer = createWriter({
      clock: options.clock,
      maxQueueBytes: options.maxQueueBytes ?? DEFAULT_QUEUE_BYTES,
      joints: { 'log.append': appendJoint },
      start: () =>
        new Worker(threadEntry('./writing/thread.ts', './embedded-writer.js'), {
          workerData,
          execArgv: [],
          name: 'carillon-writer',
        }),
      damage: { known: () => damaged, found: foundDamage },
      copier,
      migrating: options.migrating ?? (() => undefined),
    });
    const pages = createPageCheck(
      options.clock,
      () =>
        new Worker(threadEntry('./damage/check-thread.ts', './embedded-page-check.js'), {
          workerData: files.database,
          execArgv: [],
          name: 'carillon-page-check',
        }),
      foundDamage,
    );
    try {
      await writer.open();
      const foundWal =
        found.bytes > 0 ? { bytes: found.bytes, tookMs: Math.round(performance.now() - found.since) } : null;
      if (hadLog || !lock.afterCleanStop) await pages.look(options.pageCheckPatience ?? PAGE_CHECK_TIMEOUT_MS);
      if (damaged !== null) throw new CarillonError('data_damaged', damaged);
      const reader = openReader(files.database, busyTimeout, { known: () => damaged, found: foundDamage });
      return assemble(options, { writer, copier, reader, lock, pages, foundWal, damaged: () => damaged });
    } catch (error) {
      await pages.close();
      await copier.close();
      await writer.close();
      throw isCarillonError(error) && error.code === 'data_damaged' && damaged === null
        ? damage(options.dataDir, error.detail)
        : error;
    }
  } catch (error) {
    // The next start is to look at the pages again.
    if (isCarillonError(error) && error.code === 'data_damaged') lock.abandon();
    else lock.release();
    throw error;
  }

  /** The first words stay: what fails later fails because of it. */
  function foundDamage(what: string): string {
    damaged ??= damage(options.dataDir, what).detail;
    return damaged;
  }
}

const damage = (dataDir: string, what: string): CarillonError =>
  new CarillonError(
    'data_damaged',
    `the data file in ${dataDir} is damaged (${what}). Carillon no longer takes, sends or changes anything. Check the disk, keep the folder, and restore a ` +
      'backup into a new one: npx carillon restore FILE --data-dir NEW',
  );

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

type Opened = {
  readonly writer: Writer;
  readonly copier: WalCopier;
  readonly reader: Reader;
  readonly lock: FolderLock;
  readonly pages: PageCheck;
  readonly foundWal: FoundWal | null;
  readonly damaged: () => string | null;
};

function assemble(options: EmbeddedOptions, opened: Opened): Embedded {
  const { writer, copier, reader, lock, pages, damaged } = opened;
  const { database, keys } = dataFiles(options.dataDir);
  const log = createEventLog(reader, writer.writes(), options.slice ?? NEXT_TURN, fullForIntake);
  let closed: Promise<void> | null = null;
  async function close(): Promise<void> {
    await log.stop();
    await pages.close();
    await writer.drain();
    await copier.close();
    // The writer is to be the last one at the file: then it leaves one file, without a write-ahead log beside it.
    reader.close();
    await writer.close();
    // Damage is no clean end: the next start is to look at the pages again.
    if (damaged() === null) lock.release();
    else lock.abandon();
  }
  const leases = createLeaseStore(writer.writes());
  const defaultRetention = readDefaultRetention(reader);
  const sums = createKeptSums();
  let probing: Promise<void> | null = null;
  async function probe(): Promise<void> {
    const now = options.clock.now();
    // A lease that has expired at its start: a row is written as a test, and blocks nobody.
    await leases.acquire(PROBE, PROBE, now, now).catch(() => undefined);
  }
  function fullForIntake(): CarillonError | null {
    const { bytes } = copier.stats().log;
    if (bytes < intakeUntil(options.walBounds ?? WAL_BOUNDS)) return null;
    // Only a commit begins the log anew, and where nothing is taken in there may be no other.
    copier.again();
    probing ??= probe().finally(() => (probing = null));
    return logIsFull(bytes);
  }
  return {
    log,
    documents: createDocuments(reader, writer.writes()),
    writeWithRecords: createWriteWithRecords(writer.writes(), log, fullForIntake),
    checkpoints: createCheckpointStore(reader, writer.writes()),
    ruleStates: createRuleStateStore(reader, writer.writes()),
    cohorts: createCohortStore(reader, writer.writes()),
    tasks: createDueTasks(reader, writer.writes()),
    claims: createLookupClaims(reader, writer.writes()),
    ledger: createDeliveryLedger(reader, writer.writes(), log, sums),
    suppressions: createSuppressionList(reader, writer.writes()),
    configurationStore: createConfigurationStore(writer.writes()),
    leases,
    readModels: createReadModels(reader, writer.writes()),
    registry: createSchemaRegistry(reader, writer.writes()),
    erasure: createErasureSteps(log, reader, writer.writes(), {
      sums,
      pause: () => (options.slice ?? NEXT_TURN).yield(),
    }),
    keyUses: createKeyUseStore(reader, writer.writes()),
    calledOffBelow: readCalledOff(reader, 'carillon.events'),
    calledOffCohortsBelow: readCalledOff(reader, 'carillon.cohorts'),
    calledOffJobs: readCalledOffJobs(reader),
    defaultRetention,
    applyRetention: (now, policy = { topics: defaultRetention }) =>
      applyRetention(log, reader, writer.writes(), now, policy),
    foundWal: opened.foundWal,
    backup: (file) => writeBackup(database, keys, file),
    stats() {
      const { log: written, ...copied } = copier.stats();
      const bytes = { fileBytes: sizeOf(database), walBytes: sizeOf(`${database}-wal`), walLeft: written.left };
      return { ...writer.stats(), ...bytes, ...copied };
    },
    lookAtPages: (patience) => pages.look(patience),
    health: () => ({
      pages: pages.state(),
      damaged: damaged(),
      failing: writer.stats().failing ?? fullForIntake()?.detail ?? null,
    }),
    probe,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
