import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ChangeSources, TopicSources } from '@carillon/ports';
import { planting, type Change } from '../harness/planting.ts';

/**
 * `before` the append; `during` append and position, at a random time; `appended`, with the position not durable; `saved`, with
 * the position durable, before a database gets its acknowledgement; and `acknowledged`.
 */
export const READING_STEPS = ['before', 'during', 'appended', 'saved', 'acknowledged'] as const;
export type ReadingStep = (typeof READING_STEPS)[number];
/** Kills at the nth batch with changes or records. */
export type ReadingOrder = { readonly step: ReadingStep; readonly nth: number };

const ACKNOWLEDGED_MS = 20;
const HERE = JSON.stringify(import.meta.url);

/** Makes the product kill itself at a step of the reader. */
export const KILLED_READING: readonly Change[] = [
  {
    file: 'apps/cli/src/process/foundation.ts',
    from: 'return createPostgresSources({ guard });',
    to: `return (await import(${HERE})).killedReading(createPostgresSources({ guard }));`,
  },
  {
    file: 'apps/cli/src/process/foundation.ts',
    from: 'return createTopicSources({ guard });',
    to: `return (await import(${HERE})).killedReading(createTopicSources({ guard }));`,
  },
  {
    // Embedded: the thread that writes, before it commits records and position.
    file: 'libs/adapters/embedded/src/stores/documents-with-records.ts',
    from: "if (answer === 'done') appendRecords(transaction, records);",
    to: `if (answer === 'done') {
      appendRecords(transaction, records);
      passReading('appended');
    }`,
  },
  {
    file: 'libs/adapters/embedded/src/stores/documents-with-records.ts',
    from: "import { appendRecords } from '../log/log-writes.ts';",
    to: `import { appendRecords } from '../log/log-writes.ts';
import { passReading } from ${HERE};`,
  },
  {
    file: 'libs/stores/src/sources.ts',
    from: 'await log.append(records);',
    to: `await log.append(records);
  (await import(${HERE})).passReading('appended');`,
  },
];

/** The environment of a product that kills itself when the file of `KillOrders` says so. */
export const killableReading = (file: string): Readonly<Record<string, string>> => ({
  KILL_READING: file,
  ...planting(KILLED_READING),
});

/** Orders for a product that runs, or is started afterwards. One product at a time reads, so one carries an order out. */
export class KillOrders {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  give(order: ReadingOrder): void {
    writeFileSync(this.file, JSON.stringify(order));
  }

  /** Takes the order back. Returns when a product carried it out, or null if none did. */
  takeBack(): number | null {
    const text = readText(this.file);
    rmSync(this.file, { force: true });
    return /^\d+$/.test(text) ? Number(text) : null;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const ownFile = (): string => process.env['KILL_READING'] ?? '';

function currentOrder(): ReadingOrder | null {
  const text = readText(ownFile());
  return text.endsWith('}') ? (JSON.parse(text) as ReadingOrder) : null;
}

/** Leaves the time in place of the order. */
function die(): void {
  writeFileSync(ownFile(), String(Date.now()));
  process.kill(process.pid, 'SIGKILL');
}

let passes = 0;
/** Called at a step. Kills the process (SIGKILL) if the order names this step and batch. */
export function passReading(step: ReadingStep): void {
  const order = currentOrder();
  if (order?.step !== step) return;
  passes += 1;
  if (passes >= order.nth) die();
}

/** How long the last batch took from the reader to the store. */
let tookMs = 20;
/** Kills the process at a random time while a batch is taken, if the order says so. */
function passDuring(): void {
  const order = currentOrder();
  if (order?.step !== 'during') return;
  passes += 1;
  if (passes >= order.nth) setTimeout(die, Math.random() * tookMs);
}

type Batch = { readonly changes?: readonly unknown[]; readonly records?: readonly unknown[] };
type Take<Of> = (batch: Of) => Promise<void>;
type Sources = Pick<ChangeSources, 'open'> | Pick<TopicSources, 'open'>;

/** Sources of a process that kills itself at a batch with changes or records. */
export function killedReading<Of extends Sources>(sources: Of): Of {
  const killed =
    (take: Take<Batch>): Take<Batch> =>
    async (batch) => {
      const isFull = (batch.changes ?? batch.records ?? []).length > 0;
      if (!isFull) return take(batch);
      passReading('before');
      passDuring();
      const began = performance.now();
      await take(batch);
      tookMs = performance.now() - began;
      passReading('saved');
      // The reader of a database acknowledges as soon as this has returned.
      setTimeout(() => passReading('acknowledged'), ACKNOWLEDGED_MS);
    };
  const open = sources.open.bind(sources) as (...order: unknown[]) => unknown;
  return {
    ...sources,
    open: (target: unknown, names: unknown, from: unknown, handlers: { readonly take: Take<Batch> }) =>
      open(target, names, from, { ...handlers, take: killed((batch) => handlers.take(batch)) }),
  };
}
