import { describeDoneReset, type SourcePosition } from '@carillon/domain/changes';
import type { Clock, Ids, NewRecord, RecordCodecs, ResetRequest, SourceRef } from '@carillon/ports';

type DoneReset = {
  readonly ref: SourceRef;
  readonly request: ResetRequest;
  readonly from: SourcePosition;
  readonly to: SourcePosition;
  /** Drops the slot of `from`. */
  readonly dropSql: string;
};

/** Returns the audit record of a reset that is done. It names what was not read, up to the position at which reading begins again. */
export function resetRecord(
  { ref, request, from, to, dropSql }: DoneReset,
  { ids, clock, codecs }: { readonly ids: Ids; readonly clock: Clock; readonly codecs: Pick<RecordCodecs, 'audit'> },
): NewRecord {
  // Carillon does not know how to reach the old server any more.
  const left =
    from.systemId === to.systemId
      ? ''
      : `; the slot of the server with system id ${from.systemId} keeps WAL until somebody runs there: ${dropSql.replaceAll('\n', ' ')}`;
  const value = codecs.audit.encode({
    kind: 'entry',
    id: ids.random('audit'),
    at: clock.now(),
    actor: request.by,
    what: 'source.reset',
    target: ref.integration,
    workspace: ref.workspace,
    from: { address: null, userAgent: null },
    requestId: null,
    number: null,
    before: null,
    after: null,
    detail: `${describeDoneReset(from, to)}${left}; ${request.reason}`,
    outcome: 'done',
    code: null,
  });
  return { topic: 'carillon.audit', partition: 0, key: 'audit', value, headers: {} };
}
