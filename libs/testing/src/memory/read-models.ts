import type { DeadLetterRow, DuplicateRow, EvaluationRow, EventRow, FieldRow, ReadModels } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

type Rows = Parameters<ReadModels['put']>[0];
type At = { readonly at: number; readonly id: string };

/** So that texts compare as their numbers do. */
const padded = (number: number): string => String(number).padStart(16, '0');
const placeOf = ({ partition, offset }: EventRow): string => `${padded(partition)}/${padded(offset)}`;
const byAge = (a: At, b: At): number => a.at - b.at || (a.id < b.id ? -1 : 1);
const isWithin = (at: number, { since, before }: { readonly since?: number; readonly before?: number }): boolean =>
  at >= (since ?? Number.NEGATIVE_INFINITY) && at < (before ?? Number.POSITIVE_INFINITY);
const fits = (wanted: string | undefined, is: string | null): boolean => wanted === undefined || wanted === is;

/** Rows that people look up, each under the name of what it describes. */
export function createMemoryReadModels() {
  const events = new Map<string, EventRow>();
  const duplicates = new Map<string, DuplicateRow>();
  const deadLetters = new Map<string, DeadLetterRow>();
  const evaluations = new Map<string, EvaluationRow>();
  const fields = new Map<string, FieldRow>();

  function put(rows: Rows): void {
    for (const row of rows.events ?? []) events.set(placeOf(row), row);
    for (const row of rows.duplicates ?? []) duplicates.set(row.id, row);
    // Projecting again must not forget that somebody has sent it on its way since.
    for (const row of rows.deadLetters ?? []) if (!deadLetters.has(row.id)) deadLetters.set(row.id, row);
    for (const row of rows.evaluations ?? []) {
      evaluations.set(JSON.stringify([row.partition, row.from, row.to, row.workspace, row.rule]), row);
    }
    for (const row of rows.fields ?? []) {
      const name = JSON.stringify([row.stream, row.partition, row.path]);
      if ((fields.get(name)?.offset ?? -1) < row.offset) fields.set(name, row);
    }
  }

  const placesOf = (id: string): EventRow[] =>
    [...events.values()]
      .filter((row) => row.id === id)
      .toSorted((a, b) => a.at - b.at || (placeOf(a) < placeOf(b) ? -1 : 1));

  return {
    connect: (wire: Wire): ReadModels => ({
      put: (rows) => wire.ask('readModels.put', () => put(rows), { writes: true }),
      fields: (stream, partition) =>
        wire.ask('readModels.fields', () =>
          [...fields.values()]
            .filter((row) => row.stream === stream && (partition === undefined || row.partition === partition))
            .toSorted((a, b) => (a.path === b.path ? a.partition - b.partition : a.path < b.path ? -1 : 1)),
        ),
      event: (id) => wire.ask('readModels.event', () => placesOf(id)),
      eventsWithIds: (ids, mostOfEach) =>
        wire.ask('readModels.eventsWithIds', () =>
          [...new Set(ids)].flatMap((id) => placesOf(id).slice(0, mostOfEach)),
        ),
      events: (filter, limit, cursor) =>
        wire.ask('readModels.events', () =>
          pageOf(
            [...events.values()].filter(
              (row) =>
                fits(filter.workspace, row.workspace) &&
                fits(filter.stream, row.stream) &&
                fits(filter.traceId, row.traceId) &&
                isWithin(row.at, filter),
            ),
            (row) => [row.at, placeOf(row)],
            (row) => row,
            limit,
            cursor,
          ),
        ),
      ...duplicatesOf(wire, duplicates),
      ...deadLettersOf(wire, deadLetters),
      evaluations: (workspace, rule, limit) =>
        wire.ask('readModels.evaluations', () =>
          [...evaluations.values()]
            .filter((row) => row.workspace === workspace && row.rule === rule)
            .toReversed()
            .toSorted((a, b) => Number(b.failed > 0) - Number(a.failed > 0))
            .slice(0, limit),
        ),
    }),
  };
}

function duplicatesOf(
  wire: Wire,
  duplicates: ReadonlyMap<string, DuplicateRow>,
): Pick<ReadModels, 'duplicatesOfEvent' | 'duplicatesOfDelivery' | 'duplicates'> {
  const duplicatesWhere = (holds: (row: DuplicateRow) => boolean): DuplicateRow[] =>
    [...duplicates.values()].filter(holds).toSorted(byAge);

  return {
    duplicatesOfEvent: (eventId) =>
      wire.ask('readModels.duplicatesOfEvent', () => duplicatesWhere((row) => row.eventId === eventId)),
    duplicatesOfDelivery: (deliveryId) =>
      wire.ask('readModels.duplicatesOfDelivery', () => duplicatesWhere((row) => row.deliveryId === deliveryId)),
    duplicates: (filter, limit, cursor) =>
      wire.ask('readModels.duplicates', () =>
        pageOf(
          [...duplicates.values()].filter(
            (row) =>
              fits(filter.workspace, row.workspace) &&
              fits(filter.eventId, row.eventId) &&
              (filter.deliveryIds?.includes(row.deliveryId) ?? true) &&
              isWithin(row.at, filter),
          ),
          (row) => [row.at, row.id],
          (row) => row,
          limit,
          cursor,
        ),
      ),
  };
}

const deadLettersOf = (
  wire: Wire,
  deadLetters: Map<string, DeadLetterRow>,
): Pick<ReadModels, 'deadLetters' | 'deadLetter' | 'markRedriven' | 'markDismissed' | 'markReopened'> => ({
  deadLetters: (filter, limit, cursor) =>
    wire.ask('readModels.deadLetters', () =>
      pageOf(
        [...deadLetters.values()].filter(
          (row) =>
            fits(filter.workspace, row.workspace) &&
            (filter.ofReceipts === undefined || filter.ofReceipts === (row.stage === 'receipts')) &&
            (!filter.open || (row.redrivenAt === null && row.dismissedAt === null)) &&
            isWithin(row.at, filter),
        ),
        (row) => [row.at, row.id],
        (row) => row,
        limit,
        cursor,
      ),
    ),
  deadLetter: (id) => wire.ask('readModels.deadLetter', () => deadLetters.get(id) ?? null),
  markRedriven: (id, at, by) => {
    const mark = (): void => {
      const row = deadLetters.get(id);
      if (row) deadLetters.set(id, { ...row, redrivenAt: at, redrivenBy: by });
    };
    return wire.ask('readModels.markRedriven', mark, { writes: true });
  },
  markDismissed: (id, at, by) => {
    const mark = (): void => {
      const row = deadLetters.get(id);
      if (row?.dismissedAt === null) deadLetters.set(id, { ...row, dismissedAt: at, dismissedBy: by });
    };
    return wire.ask('readModels.markDismissed', mark, { writes: true });
  },
  markReopened: (id) => {
    const mark = (): void => {
      const row = deadLetters.get(id);
      if (row) deadLetters.set(id, { ...row, dismissedAt: null, dismissedBy: null });
    };
    return wire.ask('readModels.markReopened', mark, { writes: true });
  },
});
