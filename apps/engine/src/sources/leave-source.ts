import { postgresPosition, stoppedReasonOf, type SourceState } from '@carillon/domain/changes';
import type { SourceTarget, StoredSource } from '@carillon/ports';
import { leftRecord } from './reset-record.ts';
import { createSavedSource } from './saved-source.ts';
import type { SourcePorts } from './source-ports.ts';
import { resolveTarget } from './database-source.ts';

/**
 * Drops slot and publication of a source whose integration was removed or has another kind, then forgets the source.
 * Resolves to null if it is forgotten, or to the source that is still being removed. `lastTarget`: target that this
 * process read. The audit keeps where a stopped source was.
 */
export async function leaveSource(
  stored: StoredSource,
  lastTarget: SourceTarget | null,
  ports: SourcePorts,
): Promise<StoredSource | null> {
  const position = postgresPosition(stored.position);
  // A source in a Kafka cluster needs no clean-up, because Carillon creates nothing in the customer's cluster.
  if (position === null || stored.secrets === null || stored.reset?.gone === true) {
    return forget(stored, ports);
  }
  const adapter = await ports.changeSources();
  const resolved = await resolveTarget(stored, stored.secrets, ports.secrets);
  const target = resolved.ok ? resolved.value : lastTarget;
  let detail = resolved.ok ? null : `The secret ${resolved.error} is not set.`;
  if (target !== null) {
    const dropped = await adapter.drop(target, position);
    if (dropped.ok) return forget(stored, ports);
    detail = dropped.error.detail ?? dropped.error.reason;
  }
  const stopped = stoppedReasonOf(stored.state);
  const state: SourceState = {
    kind: 'leaving',
    detail,
    fix: adapter.dropSql(position),
    ...(stopped === null ? {} : { stopped }),
  };
  if (stored.reset === null && JSON.stringify(state) === JSON.stringify(stored.state)) return stored;
  const saved = createSavedSource(stored, ports);
  // A request that was made before the source was removed asks for something else.
  await saved.save({ state, reset: null });
  return saved.current();
}

/** The record is written first, so that a crash repeats it and loses none. */
async function forget(stored: StoredSource, ports: SourcePorts): Promise<StoredSource | null> {
  const saved = createSavedSource(stored, ports);
  if (stoppedReasonOf(stored.state) !== null) await saved.save({}, [leftRecord(stored, ports)]);
  const current = saved.current();
  return (await ports.sources.remove(current, current.version)) === 'done' ? null : current;
}
