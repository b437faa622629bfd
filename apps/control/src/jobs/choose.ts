import {
  DECISION_STATES,
  MOST_JOB_ITEMS,
  type Delivery,
  type DeliveryState,
  type OperatorDecision,
} from '@carillon/domain';
import type { DeadLetterRow, DeliveryFilter } from '@carillon/ports';
import type { ControlPorts } from '../ports.ts';

const PAGE = 500;

type Page<Row> = { readonly items: readonly Row[]; readonly next: string | null };

/** All rows of a list, or the first {@link MOST_JOB_ITEMS} of them. */
async function upToTheCeiling<Row>(
  read: (limit: number, cursor?: string) => Promise<Page<Row>>,
): Promise<{ readonly rows: readonly Row[]; readonly more: boolean }> {
  const rows: Row[] = [];
  let next: string | null | undefined = undefined;
  do {
    const page: Page<Row> = await read(PAGE, next);
    rows.push(...page.items);
    ({ next } = page);
  } while (next !== null && rows.length <= MOST_JOB_ITEMS);
  return { rows: rows.slice(0, MOST_JOB_ITEMS), more: next !== null || rows.length > MOST_JOB_ITEMS };
}

export type ChosenDeliveries = {
  readonly ids: readonly string[];
  readonly people: number;
  readonly byState: Readonly<Partial<Record<DeliveryState, number>>>;
  /** Whether the ceiling left some out. */
  readonly more: boolean;
};

/** The deliveries that match a filter and that a decision fits as they are now, the newest first. */
export async function chooseDeliveries(
  filter: DeliveryFilter,
  decision: OperatorDecision,
  { ledger }: Pick<ControlPorts, 'ledger'>,
): Promise<ChosenDeliveries> {
  const fitting: readonly DeliveryState[] = DECISION_STATES[decision];
  const states = filter.states ? fitting.filter((one) => filter.states?.includes(one)) : fitting;
  const { rows, more } = await upToTheCeiling<Delivery>((limit, cursor) =>
    ledger.list({ ...filter, states }, limit, cursor),
  );
  const byState: Partial<Record<DeliveryState, number>> = {};
  for (const { state } of rows) byState[state] = (byState[state] ?? 0) + 1;
  // Whom a rule named by no word of its own is known by the address.
  const people = new Set(rows.map(({ intent }) => intent.person ?? intent.to));
  return { ids: rows.map(({ id }) => id), people: people.size, byState, more };
}

/** The dead letters of a workspace that nobody has redriven or dismissed, the newest first. */
export async function chooseDeadLetters(
  filter: Pick<Parameters<ControlPorts['readModels']['deadLetters']>[0], 'since' | 'before'> & { workspace: string },
  { readModels }: Pick<ControlPorts, 'readModels'>,
): Promise<{ readonly ids: readonly string[]; readonly more: boolean }> {
  const { rows, more } = await upToTheCeiling<DeadLetterRow>((limit, cursor) =>
    readModels.deadLetters({ ...filter, open: true }, limit, cursor),
  );
  return { ids: rows.map(({ id }) => id), more };
}
