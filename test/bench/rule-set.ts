import type { OrderEvent } from './corpus.ts';
import { type Files, streamFiles } from './product.ts';

export const OF_EACH_SHAPE = 20;

type BenchRule = {
  readonly name: string;
  readonly when: string;
  /** The same, written by hand: what has to come out. */
  readonly fires: (event: OrderEvent) => boolean;
};

/** A hundred rules of the five shapes of the bench `rules`; `peers/kafka-streams` has the same. About one event in five fires one. */
export const RULES: readonly BenchRule[] = Array.from({ length: OF_EACH_SHAPE }, (_, n): readonly BenchRule[] => {
  const total = 495 + n * 0.2;
  const sku = `sku-${100 + n}`;
  const ending = `-${n * 7 + 3}@example.com`;
  const doubled = 990 + n;
  return [
    {
      name: `threshold-${n}`,
      when: `event.status == "paid" && event.total > ${total.toFixed(1)}`,
      fires: (event) => event.status === 'paid' && event.total > Number(total.toFixed(1)),
    },
    {
      name: `item-${n}`,
      when: `event.customer.country in ["DE", "FR"] && event.items.exists(item, item.sku == "${sku}")`,
      fires: (event) => ['DE', 'FR'].includes(event.customer.country) && event.items.some((item) => item.sku === sku),
    },
    {
      name: `ending-${n}`,
      when: `event.customer.email.endsWith("${ending}") || event.currency == "USD"`,
      fires: (event) => event.customer.email.endsWith(ending) || event.currency === 'USD',
    },
    {
      name: `sum-${n}`,
      when: `event.total * 2.0 > ${doubled}.0 && size(event.items) >= 4`,
      fires: (event) => event.total * 2 > doubled && event.items.length >= 4,
    },
    {
      name: `absent-${n}`,
      when: `has(event.refund) && event.refund.amount > ${n}.0`,
      fires: () => false,
    },
  ];
}).flat();

/** How many intents an event gives. */
export const countFired = (event: OrderEvent): number => RULES.filter(({ fires }) => fires(event)).length;

const ruleText = ({ name, when }: BenchRule): string => `  ${name}:
    stream: orders
    when: ${when}
    recipients:
      from: event
      to: { email: event.customer.email }
      unique_id: event_id + "/${name}"
`;

/** The stream with all of these rules on it. */
export const ruleFiles: Files = {
  ...streamFiles,
  'workspaces/shop/notifications/order-news.yaml': `name: Order news
channels:
  email: { template: order-news }
rules:
${RULES.map(ruleText).join('')}`,
  'workspaces/shop/templates/order-news/email.yaml': 'subject: Order {{ order_id }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/order-news/email.txt': 'Hello {{ customer.name }}, there is news of {{ order_id }}.\n',
};
