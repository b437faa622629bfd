import { describeDoneReset, describeLeft, type SourcePosition } from '@carillon/domain/changes';
import { SYSTEM_ACTOR, type Actor } from '@carillon/domain/people';
import type { Clock, Ids, NewRecord, RecordCodecs, ResetRequest, SourceRef, StoredSource } from '@carillon/ports';

type DoneReset = {
  readonly ref: SourceRef;
  readonly request: ResetRequest;
  readonly from: SourcePosition;
  readonly to: SourcePosition;
  /** Names a slot that stays behind. Empty if there is none. */
  readonly left: string;
};

type RecordPorts = { readonly ids: Ids; readonly clock: Clock; readonly codecs: Pick<RecordCodecs, 'audit'> };

/** Returns the audit record of a reset that is done. It names what was not read, up to the position at which reading begins again. */
export function resetRecord({ ref, request, from, to, left }: DoneReset, ports: RecordPorts): NewRecord {
  const parts = [describeDoneReset(from, to), left, request.reason].filter((part) => part !== '');
  return recordOf(ref, request.by, parts.join('; '), ports);
}

/** Returns the audit record of a stopped source that ends because its integration was removed or has another kind. */
export function leftRecord({ position, reset, ...ref }: StoredSource, ports: RecordPorts): NewRecord {
  const reason = reset?.reason ?? 'the integration was removed or has another kind now';
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
