import { createCorpus } from '../corpus.ts';

/** A row of the table `orders`, made of an event of the corpus. */
export type OrderRow = {
  readonly id: number;
  readonly order_id: string;
  readonly status: string;
  readonly total: number;
  readonly currency: string;
  readonly email: string;
  readonly country: string;
  readonly items: number;
  readonly note: string;
};

/** Returns rows with the numbers from 1 on, always the same ones. */
export function createRows(): (count: number) => readonly OrderRow[] {
  const corpus = createCorpus();
  let id = 0;
  return (count) =>
    Array.from({ length: count }, () => {
      const { order_id, status, total, currency, customer, items } = corpus.next();
      const { email, country } = customer;
      id += 1;
      return { id, order_id, status, total, currency, email, country, items: items.length, note: 'n'.repeat(100) };
    });
}

/** The row as it was before its update. */
export const rowBefore = (row: OrderRow): OrderRow => ({ ...row, status: 'created', total: row.total + 1 });

export type RowRule = {
  readonly name: string;
  readonly when: string;
  /** The same, written by hand: what has to come out. */
  readonly fires: (row: OrderRow) => boolean;
};

/** Two rules of each shape of the bench `rules`. About one row in fifty fires one. */
export const ROW_RULES: readonly RowRule[] = [0, 1].flatMap((n): readonly RowRule[] => [
  {
    name: `threshold-${n}`,
    when: `event.status == "paid" && event.total > ${495 + n}.0`,
    fires: ({ status, total }) => status === 'paid' && total > 495 + n,
  },
  {
    name: `listed-${n}`,
    when: `event.country in ["DE", "FR"] && event.items > ${5 + n}`,
    fires: ({ country, items }) => ['DE', 'FR'].includes(country) && items > 5 + n,
  },
  {
    name: `ending-${n}`,
    when: `event.email.endsWith("-${n * 7 + 3}@example.com") || event.currency == "USD"`,
    fires: ({ email, currency }) => email.endsWith(`-${n * 7 + 3}@example.com`) || currency === 'USD',
  },
  {
    name: `sum-${n}`,
    when: `event.total * 2.0 > ${990 + n}.0 && event.items >= 4`,
    fires: ({ total, items }) => total * 2 > 990 + n && items >= 4,
  },
  { name: `absent-${n}`, when: `has(event.refund) && event.refund > ${n}`, fires: () => false },
]);
