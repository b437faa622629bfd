import { createErasureMatcher, type Erasure, type ErasureCounts, type ErasureSubject } from '@carillon/domain/erasures';
import { CarillonError } from '@carillon/kernel';
import type { ErasureWork, TopicName } from '@carillon/ports';
import { pause } from '@carillon/runtime';
import { createErasureWork, type RuleBook } from '@carillon/stages';
import { createRuleBook } from '@carillon/stages';
import type { JobKindPorts } from '../jobs/kind.ts';
import type { ControlPorts, ErasingPorts } from '../ports.ts';

/** How long an erasure waits for consumers and for messages that are being sent. A message is sent or in doubt after 30 s. */
const TIMEOUT_MS = 90_000;
const LOOK_EVERY_MS = 250;
/** An event can become a question, an answer and a message before it is in the ledger, each read from another topic. */
const READ_ROUNDS = 5;
/** A person whose events keep coming is found again at each pass. */
const MAX_PASSES = 10;

export type ErasureWorkPorts = Pick<ControlPorts, 'configuration' | 'codecs' | 'ids' | 'log'> & {
  readonly book: RuleBook;
};

/** Returns what says of everything whether it is of the person. */
export const workOf = (subject: ErasureSubject, ports: ErasureWorkPorts): ErasureWork =>
  createErasureWork(
    createErasureMatcher(subject, (...parts) => ports.ids.keyed(...parts)),
    ports,
  );

/**
 * Carries out an erasure. Each step is safe to repeat, so a process that starts after a kill begins again, and what was emptied is found no
 * more. The end is written last.
 */
export async function carryOut(id: string, ports: JobKindPorts, stop: AbortSignal): Promise<void> {
  const erasure = await ports.erasures.get(id);
  if (!erasure) throw new Error(`there is no erasure ${id}`);
  if (erasure.erasedAt !== null) return;
  const { erasing } = ports;
  await erasing.alone(async () => {
    for (let round = 0; round < READ_ROUNDS; round += 1) await untilRead(erasing, ports, stop);
    await untilEmpty(erasure, erasing, ports, stop);
    for (const run of await ports.runChild.known())
      await ports.runChild.forget({ id: run as Parameters<typeof ports.runChild.forget>[0]['id'] });
    await erasing.eraser.finish();
    await finish(erasure, erasing.eraser, ports);
  });
}

/** Waits until consumers have read what is on the log now, so that nobody else misses what an overwritten record says. */
async function untilRead(
  { readTopics, unreadOffsets }: ErasingPorts,
  { log }: Pick<JobKindPorts, 'log'>,
  stop: AbortSignal,
): Promise<void> {
  const ends: { readonly topic: TopicName; readonly partition: number; readonly end: number }[] = [];
  for (const topic of readTopics) {
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const { start, end } = await log.bounds(topic, partition);
      if (end > start) ends.push({ topic, partition, end });
    }
  }
  for (const until = performance.now() + TIMEOUT_MS; ;) {
    const unread = await unreadOffsets();
    const behind = ends.find(({ topic, partition, end }) => unread(topic, partition) < end);
    if (!behind) return;
    if (performance.now() > until) {
      const place = `${behind.topic}/${behind.partition}`;
      throw new CarillonError(
        'wrong_state',
        `${place} has records that are not read: look at carillon doctor, then erase again`,
      );
    }
    await pause(LOOK_EVERY_MS, stop);
    stop.throwIfAborted();
  }
}

async function untilEmpty(
  erasure: Erasure,
  { eraser, unreadOffsets }: ErasingPorts,
  ports: JobKindPorts,
  stop: AbortSignal,
): Promise<void> {
  const work = workOf(erasure, { ...ports, book: createRuleBook(ports.compileRule, ports.templates) });
  const until = performance.now() + TIMEOUT_MS;
  let passes = 0;
  for (;;) {
    const resume = await eraser.pauseConsumers();
    try {
      const moment = { now: ports.clock.now(), derive: ports.ids.derive };
      const { counts, undecided } = await eraser.erase(work, await unreadOffsets(), moment);
      const found = Object.values(counts).reduce((sum, count) => sum + count, 0);
      if (found === 0) return;
      if (found > undecided.length) {
        passes += 1;
        if (passes === MAX_PASSES) throw stillComing(counts);
      } else if (performance.now() > until) throw stillUndecided(undecided);
    } finally {
      resume();
    }
    await pause(LOOK_EVERY_MS, stop);
    stop.throwIfAborted();
  }
}

const stillComing = (counts: ErasureCounts): CarillonError =>
  new CarillonError(
    'wrong_state',
    `${MAX_PASSES} passes each found something of the person (${Object.keys(counts).join(', ')}): stop sending events about the person, then erase again`,
  );

export const stillUndecided = (ids: readonly string[]): CarillonError =>
  new CarillonError(
    'wrong_state',
    `it is unknown whether a message was sent: decide about ${ids.slice(0, 3).join(', ')}, then erase again`,
  );

async function finish(
  erasure: Erasure,
  eraser: ErasingPorts['eraser'],
  { clock, erasures }: JobKindPorts,
): Promise<void> {
  for (let known: Erasure | null = erasure; known && known.erasedAt === null; known = await erasures.get(erasure.id)) {
    const erasedAt = clock.now();
    // Counted from the end, because records of the person may be appended until then.
    const bytesUntil = await eraser.bytesUntil(erasedAt);
    const ended = { ...known, erasedAt, ...(bytesUntil !== null && { bytesUntil }), version: known.version + 1 };
    if ((await erasures.replace(ended)) === 'done') return;
  }
}
