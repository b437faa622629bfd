import type { ChangeSources } from '@carillon/ports';

/** `before` the append, `after` append and position (one commit), or once the position is `acknowledged`. */
export const READING_PLACES = ['before', 'after', 'acknowledged'] as const;
export type ReadingPlace = (typeof READING_PLACES)[number];
/** Kills at the nth batch with changes. */
export type ReadingOrder = { readonly place: ReadingPlace; readonly nth: number };

const ACKNOWLEDGED_MS = 20;

/** Sources of a process that kills itself (SIGKILL) at a batch of changes. */
export function killedReading(sources: ChangeSources, text: string | undefined): ChangeSources {
  if (!text) return sources;
  const { place, nth } = JSON.parse(text) as ReadingOrder;
  const die = (): void => void process.kill(process.pid, 'SIGKILL');
  let batches = 0;
  return {
    ...sources,
    open: (target, tables, from, handlers) =>
      sources.open(target, tables, from, {
        ...handlers,
        async take(batch) {
          if (batch.changes.length > 0) batches += 1;
          const isDue = batch.changes.length > 0 && batches === nth;
          if (isDue && place === 'before') die();
          await handlers.take(batch);
          if (isDue && place === 'after') die();
          // The reader acknowledges as soon as this has returned.
          if (isDue) setTimeout(die, ACKNOWLEDGED_MS);
        },
      }),
  };
}
