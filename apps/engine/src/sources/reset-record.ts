import { describeDoneReset, describeLeft, type PostgresPosition } from '@carillon/domain/changes';
import { SYSTEM_ACTOR, type Actor } from '@carillon/domain/people';
import type { Clock, Ids, NewRecord, RecordCodecs, ResetRequest, SourceRef, StoredSource } from '@carillon/ports';

type DoneReset = {
  readonly ref: SourceRef;
  readonly request: ResetRequest;
  readonly from: PostgresPosition;
  readonly to: PostgresPosition;
  /** Drops the slot of `from`. */
  readonly dropSql: string;
};

type RecordPorts = { readonly ids: Ids; readonly clock: Clock; readonly codecs: Pick<RecordCodecs, 'audit'> };

/** Returns the audit record of a reset that is done. It names what was not read, up to the position at which reading begins again. */
export function resetRecord({ ref, request, from, to, dropSql }: DoneReset, ports: RecordPorts): NewRecord {
  // Carillon does not know how to reach the old server any more.
  const left =
    from.systemId === to.systemId
      ? ''
      : `; the slot of the server with system id ${from.systemId} keeps WAL until somebody runs there: ${dropSql.replaceAll('\n', ' ')}`;
  return recordOf(ref, request.by, `${describeDoneReset(from, to)}${left}; ${request.reason}`, ports);
}

/** Returns the audit record of a stopped source that ends because its integration was removed. */
export function leftRecord({ position, reset, ...ref }: StoredSource, ports: RecordPorts): NewRecord {
  const reason = reset?.reason ?? 'the integration was removed';
  return recordOf(ref, reset?.by ?? SYSTEM_ACTOR, `${describeLeft(position)}; ${reason}`, ports);
}

function recordOf(ref: SourceRef, actor: Actor, detail: string, { ids, clock, codecs }: RecordPorts): NewRecord {
  const value = codecs.audit.encode({
    kind: 'entry',
    id: ids.random('audit'),
    at: clock.now(),
    actor,
    what: 'source.reset',
    target: ref.integration,
    workspace: ref.workspace,
    from: { address: null, userAgent: null },
    requestId: null,
    number: null,
    before: null,
    after: null,
    detail,
    outcome: 'done',
    code: null,
  });
  return { topic: 'carillon.audit', partition: 0, key: 'audit', value, headers: {} };
}
