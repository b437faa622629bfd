import { createByteBudget } from '@carillon/kernel';
import type { Added, UnderWay } from '@carillon/runtime';
import { expireTask, publishVerdict, type AskTask, type VerdictPorts } from '@carillon/stages';

type VerdictsPorts = {
  readonly verdicts: VerdictPorts;
  readonly underWay: UnderWay;
  /** Returns true if the trigger waits for its call or is being called. */
  readonly isAsked: (id: string) => boolean;
  /** Called when there is room for more tasks from the store. */
  readonly hasRoom: () => void;
};

/** Maximum results that are appended concurrently, with their bytes. The rest stays in the store. */
const MOST = 64;
const MAX_BYTES = 32 * 1024 * 1024;

/** Settles triggers without a call: their result is stored but not on the log, or their time is over. */
export function createVerdicts({ verdicts, underWay, isAsked, hasRoom }: VerdictsPorts) {
  const budget = createByteBudget(MAX_BYTES);
  const publishing = new Set<string>();

  return {
    /** Publishes the result of a trigger, or parks it as too late without one. A single trigger is always accepted. */
    take(askTask: AskTask): Added {
      const { id, data } = askTask.task;
      const isDecided = askTask.asking.verdict !== null;
      if (publishing.has(id) || (isDecided && isAsked(id))) return 'known';
      const room = budget.open();
      const fits = publishing.size < MOST && room.take(data.length * 2);
      if (!fits && publishing.size > 0) return 'full';
      publishing.add(id);
      const done = isDecided ? publishVerdict(askTask, verdicts) : expireTask(askTask, verdicts);
      underWay.begin(
        'put a verdict on the log',
        done.finally(() => {
          publishing.delete(id);
          room.close();
          if (publishing.size === MOST / 2) hasRoom();
        }),
      );
      return 'taken';
    },
  };
}
