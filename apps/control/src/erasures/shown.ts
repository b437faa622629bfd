import type { ActorBody, ErasureBody } from '@carillon/contracts';
import { SEALED_RESPONSES_KEPT, type Erasure } from '@carillon/domain/erasures';
import type { Actor } from '@carillon/domain/people';
import { formatInstant } from '@carillon/kernel';

/** Shows an erasure: the certificate once it has ended. */
export async function showErasure(erasure: Erasure, show: (actor: Actor) => Promise<ActorBody>): Promise<ErasureBody> {
  const { id, workspace, job, reason, by, requestedAt, erasedAt, erased, bytesUntil } = erasure;
  return {
    id,
    workspace,
    job,
    reason,
    requested_by: await show(by),
    requested_at: formatInstant(requestedAt),
    erased_at: erasedAt === null ? null : formatInstant(erasedAt),
    erased: { ...erased },
    remains: [...bytesOnLog(bytesUntil), ...(erasedAt === null ? [] : remainsOf(erasedAt))],
  };
}

const bytesOnLog = (until: Erasure['bytesUntil']): ErasureBody['remains'] =>
  until === undefined
    ? []
    : [
        {
          where: 'log',
          until: formatInstant(until),
          detail:
            'Bytes on Kafka, which no reader of the product shows. Retention removes them, later if it is made longer',
        },
      ];

const remainsOf = (erasedAt: number): ErasureBody['remains'] => [
  {
    where: 'backups',
    until: null,
    detail: 'Backups written before the erasure. Delete them, or restore them with --erasures',
  },
  {
    where: 'sealed_responses',
    until: formatInstant(erasedAt + SEALED_RESPONSES_KEPT),
    detail: 'Encrypted responses to requests with an Idempotency-Key',
  },
  {
    where: 'keyed_hashes',
    until: null,
    detail: 'Hashes by which opt-outs, suppressions and sent messages stay in force',
  },
];
