import type { CarillonError, EventId } from '@carillon/kernel';
import type { PreparedAppend } from '@carillon/stages';

/** Bytes of records that may wait while others are appended. */
const MAX_WAITING_BYTES = 256 * 1024;

/** An event of a batch that waits for its append. */
export type WaitingAppend = PreparedAppend & {
  readonly done: (result: EventId | CarillonError) => void;
};

export type AppendGroups = {
  add(event: WaitingAppend): void;
  /** Appends what waits, unless an append is under way: its end starts the next one. */
  flush(): void;
  /** Returns true while nothing more may be added, because the log has not yet taken the waiting records. */
  isFull(): boolean;
  /** Resolves when there is room for more. */
  room(): Promise<void>;
  /** Resolves when each event is appended or has failed. */
  drain(): Promise<void>;
};

/**
 * Appends the events of a batch in groups. Events that arrive during an append are the next group, so a batch keeps its order, and a
 * fast batch needs few appends. After a failed append `failed` is called, and the events that wait fail too.
 */
export function createAppendGroups(
  append: (events: readonly WaitingAppend[]) => Promise<void>,
  failed: (error: CarillonError) => void,
): AppendGroups {
  let waiting: WaitingAppend[] = [];
  let waitingBytes = 0;
  let underWay: Promise<void> | null = null;
  let failure: CarillonError | null = null;

  function flush(): void {
    if (underWay !== null || waiting.length === 0) return;
    const group = waiting;
    waiting = [];
    waitingBytes = 0;
    underWay = appendGroup(group).finally(() => {
      underWay = null;
      flush();
    });
  }

  async function appendGroup(group: readonly WaitingAppend[]): Promise<void> {
    try {
      if (failure) throw failure;
      await append(group);
      for (const event of group) event.done(event.id);
    } catch (error) {
      failure = error as CarillonError;
      for (const event of group) event.done(failure);
      failed(failure);
    }
  }

  const isFull = (): boolean => underWay !== null && waitingBytes >= MAX_WAITING_BYTES;

  async function drain(): Promise<void> {
    flush();
    while (underWay !== null) await underWay;
  }

  return {
    add(event) {
      waiting.push(event);
      waitingBytes += event.record.value.length;
    },
    flush,
    isFull,
    async room() {
      while (isFull()) await underWay;
    },
    drain,
  };
}
