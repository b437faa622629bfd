import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError, messageOf } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { isRefusal, isTooLarge } from '../connection/faults.ts';
import type { Watermarks } from '../watermarks.ts';
import { type Entry, placeOf, takeSend } from './appending.ts';
import type { DisposableProducer } from './disposable-producer.ts';
import type { ReadyRecord } from './record-batch.ts';

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

/** Sends what is queued, one send at a time, each with all that came meanwhile (group commit). */
export type Lane = {
  add(entries: readonly Entry[]): void;
  /** Ends its connections; what is queued is refused. */
  close(): void;
};

export function createLane(makeProducer: () => DisposableProducer, watermarks: Watermarks): Lane {
  const queue: Entry[] = [];
  let producer: DisposableProducer | null = null;
  let running = false;
  const closing = new AbortController();

  async function run(): Promise<void> {
    while (queue.length > 0) {
      const batch = takeSend(queue);
      if (batch.length > 0) await deliver(batch);
    }
  }

  /** Resolves when every entry stands on the log or its call was refused. */
  async function deliver(batch: readonly Entry[]): Promise<void> {
    let waiting = batch;
    let delay = FIRST_PAUSE_MS;
    let failure: unknown = null;
    for (;;) {
      waiting = waiting.filter(({ call }) => !call.refused());
      if (waiting.length === 0) return;
      if (closing.signal.aborted) return refuse(waiting, new CarillonError('stopping', 'the log is closed'));
      const until = Math.max(...waiting.map(({ call }) => call.until));
      if (Date.now() >= until) return refuse(waiting, refusal(failure));
      try {
        waiting = await attempt(waiting, until);
        failure = 'a broker confirmed only a part';
      } catch (error) {
        failure = error;
      }
      if (waiting.length === 0) return;
      producer?.discard();
      producer = null;
      if (isRefusal(failure) || isTooLarge(failure)) return refuse(waiting, refusal(failure));
      await pause(Math.min(delay, Math.max(0, until - Date.now())), undefined, { signal: closing.signal }).catch(
        () => undefined,
      );
      delay = Math.min(delay * 2, MAX_PAUSE_MS);
    }
  }

  /** Sends once. Returns unconfirmed entries; as after a rejection, the producer must then not be used again. */
  async function attempt(entries: readonly Entry[], until: number): Promise<readonly Entry[]> {
    if (!producer) {
      producer = makeProducer();
      await inTime(producer.connect(), until);
    }
    const known = new Map(entries.map(({ topic, message }) => [placeOf(topic, message.partition), 0]));
    for (const place of known.keys()) known.set(place, watermarks.end(place));
    const firsts = new Map(
      (await inTime(producer.send(messagesOf(entries)), until)).map(({ topic, partition, first }) => [
        placeOf(topic, partition),
        first,
      ]),
    );
    const unconfirmed: Entry[] = [];
    for (const entry of entries) {
      const place = placeOf(entry.topic, entry.message.partition);
      const offset = firsts.get(place);
      if (offset === undefined) {
        unconfirmed.push(entry);
        continue;
      }
      firsts.set(place, offset + 1);
      if (offset < (known.get(place) ?? 0)) entry.call.refuse(watermarks.receded(place, offset));
      else entry.call.appended(entry.index, offset);
    }
    for (const [place, end] of firsts) watermarks.saw(place, end);
    return unconfirmed;
  }

  return {
    add(entries) {
      queue.push(...entries);
      if (running) return;
      running = true;
      // Later in this turn, so that what other requests of the same turn append goes along.
      setImmediate(() => {
        run()
          .catch((error: unknown) => refuse(queue.splice(0), refusal(error)))
          .finally(() => {
            running = false;
            if (queue.length > 0) this.add([]);
          });
      });
    },
    close() {
      closing.abort();
      producer?.discard();
      producer = null;
    },
  };

  function refuse(entries: readonly Entry[], error: CarillonError): void {
    for (const { call } of entries) call.refuse(error);
  }

  /** Rejects at the deadline whatever kafkajs still waits for. */
  function inTime<T>(work: Promise<T>, until: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error('no Kafka broker confirmed the records in time'));
      const timer = setTimeout(late, Math.max(0, until - Date.now()));
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

export const refusal = (cause: unknown): CarillonError =>
  new CarillonError(
    'log_unavailable',
    `Kafka did not confirm the records (${messageOf(cause)}); they may or may not be on the log`,
    { retryAfter: 1000 },
    { cause },
  );

function messagesOf(entries: readonly Entry[]): ReadonlyMap<TopicName, readonly ReadyRecord[]> {
  const messages = new Map<TopicName, ReadyRecord[]>();
  for (const { topic, message } of entries) {
    const list = messages.get(topic);
    if (list) list.push(message);
    else messages.set(topic, [message]);
  }
  return messages;
}
