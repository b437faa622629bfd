import type { ChangeSources, TopicSources } from '@carillon/ports';

/** `before` the append, `after` append and position (one commit), or a moment later, when a database got its acknowledgement. */
export const READING_PLACES = ['before', 'after', 'acknowledged'] as const;
export type ReadingPlace = (typeof READING_PLACES)[number];
/** Kills at the nth batch with changes or records. */
export type ReadingOrder = { readonly place: ReadingPlace; readonly nth: number };

const ACKNOWLEDGED_MS = 20;

type Take<Batch> = (batch: Batch) => Promise<void>;

/** Kills the process (SIGKILL) at a batch that `isFull`. */
function killedTaking<Batch>(order: string, isFull: (batch: Batch) => boolean): (take: Take<Batch>) => Take<Batch> {
  const { place, nth } = JSON.parse(order) as ReadingOrder;
  const die = (): void => void process.kill(process.pid, 'SIGKILL');
  let batches = 0;
  return (take) => async (batch) => {
    if (isFull(batch)) batches += 1;
    const isDue = isFull(batch) && batches === nth;
    if (isDue && place === 'before') die();
    await take(batch);
    if (isDue && place === 'after') die();
    // The reader of a database acknowledges as soon as this has returned.
    if (isDue) setTimeout(die, ACKNOWLEDGED_MS);
  };
}

/** Databases of a process that kills itself at a batch of changes. */
export function killedReading(sources: ChangeSources, order: string | undefined): ChangeSources {
  if (!order) return sources;
  const killed = killedTaking<Parameters<Parameters<ChangeSources['open']>[3]['take']>[0]>(
    order,
    ({ changes }) => changes.length > 0,
  );
  return {
    ...sources,
    open: (target, tables, from, handlers) =>
      sources.open(target, tables, from, { ...handlers, take: killed((batch) => handlers.take(batch)) }),
  };
}

/** Topics of a process that kills itself at a batch of records. */
export function killedTopics(sources: TopicSources, order: string | undefined): TopicSources {
  if (!order) return sources;
  const killed = killedTaking<Parameters<Parameters<TopicSources['open']>[3]['take']>[0]>(
    order,
    ({ records }) => records.length > 0,
  );
  return {
    ...sources,
    open: (target, topics, from, handlers) =>
      sources.open(target, topics, from, { ...handlers, take: killed((batch) => handlers.take(batch)) }),
  };
}
