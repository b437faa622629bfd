import { createByteBudget } from '@carillon/kernel';
import type { Added, UnderWay } from '@carillon/runtime';
import { expireTask, publishVerdict, type AskTask, type VerdictPorts } from '@carillon/stages';

type VerdictsPorts = {
  readonly verdicts: VerdictPorts;
  readonly underWay: UnderWay;
  /** Whether it waits to be asked, or is being asked. */
  readonly isAsked: (id: string) => boolean;
  /** There is room for more of what the store has. */
  readonly hasRoom: () => void;
};

/** Put on the log at once: so many, and so many bytes. The rest stays in the store. */
const MOST = 64;
const MAX_BYTES = 32 * 1024 * 1024;

/** Triggers that need no partner: their verdict stands in the store and has to get onto the log, or their time is over. */
export function createVerdicts({ verdicts, underWay, isAsked, hasRoom }: VerdictsPorts) {
  const budget = createByteBudget(MAX_BYTES);
  const publishing = new Set<string>();

  return {
    /** Publishes the verdict, or parks the trigger as too late where it has none. One alone is always taken, however large. */
    take(one: AskTask): Added {
      const { id, data } = one.task;
      const isDecided = one.asking.verdict !== null;
      if (publishing.has(id) || (isDecided && isAsked(id))) return 'known';
      const room = budget.open();
      const fits = publishing.size < MOST && room.take(data.length * 2);
      if (!fits && publishing.size > 0) return 'full';
      publishing.add(id);
      const done = isDecided ? publishVerdict(one, verdicts) : expireTask(one, verdicts);
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
