import type { DeadLetterRow } from '@carillon/ports';

type Told = { readonly workspace: string; readonly at: number; readonly reason: string };

/** A dead letter of a workspace as the read models hold it; `at`: which of them. */
export const letterRow = ({ workspace, at, reason }: Told): DeadLetterRow => ({
  id: `ddl_${String(at).padStart(26, '0')}`,
  workspace,
  stage: 'evaluate',
  topic: 'carillon.events',
  partition: 0,
  offset: 1_000 + at,
  reason,
  at: Date.now() - at * 1_000,
  ownPartition: 0,
  ownOffset: 1_000_000 + at,
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
  receipt: null,
});

type Report = Pick<NonNullable<DeadLetterRow['receipt']>, 'account' | 'code' | 'detail' | 'address'>;

/** A report of a provider that nobody could place. */
export const receiptRow = (told: Told, report: Report): DeadLetterRow => ({
  ...letterRow(told),
  stage: 'receipts',
  topic: 'carillon.receipts',
  receipt: {
    source: 'ses',
    verdict: 'bounced',
    suppress: null,
    deliveryId: null,
    attempt: null,
    wish: null,
    receivedAt: Date.now(),
    ...report,
  },
});
