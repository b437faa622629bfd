import type { NotificationBody, Configuration } from '@carillon/domain/configuration';
import { configurationOf, notification, ORDERS, PAID_MAIL, stream, template } from '@carillon/testing/given';
import type { OrderEvent } from '../corpus.ts';
import type { Files } from '../product.ts';
import { RULES } from '../rule-set.ts';

/** Events of the log that is compared. CARILLON_BENCH_EVENTS makes it shorter, to try the bench. */
export const EVENTS = Number(process.env['CARILLON_BENCH_EVENTS'] ?? 1_000_000);

const [BEFORE, AFTER] = [495, 490];
/** The first rule is edited. */
const TEN_RULES = RULES.slice(0, 10);
const [EDITED] = TEN_RULES;
export const EDITED_NAME = `news-${EDITED?.name}`;

const bodyOf = (when: string): NotificationBody => ({
  channels: { email: { template: 'order-news' } },
  rules: {
    fires: {
      stream: 'orders',
      when,
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
    },
  },
});
const paidOver = (least: number): string => `event.status == "paid" && event.total > ${least}.0`;

/** Ten rules on a stream, each of its own notification, and the same with one of them edited. */
export function editedConfigurations(): { readonly before: Configuration; readonly after: Configuration } {
  const rules = TEN_RULES.map(({ name, when }) => notification(`news-${name}`, bodyOf(when)));
  const published = [stream('orders', ORDERS), template('order-news', PAID_MAIL), ...rules];
  return {
    before: configurationOf([...published, notification(EDITED_NAME, bodyOf(paidOver(BEFORE)))]),
    after: configurationOf([...published, notification(EDITED_NAME, bodyOf(paidOver(AFTER)))]),
  };
}

/** True if only the edited rule fires. */
export const isAdded = ({ status, total }: OrderEvent): boolean =>
  status === 'paid' && total > AFTER && total <= BEFORE;

/** The largest total of the corpus is below it, so a rule with this threshold sends nothing. */
const OUT_OF_REACH = 1_000;
const FILE = 'workspaces/shop/notifications/big-order.yaml';
const bigOrder = (least: number): Files => ({
  [FILE]: JSON.stringify({ name: 'Big order', ...bodyOf(`event.total > ${least}.0`) }),
});
/** A workspace whose only rule fires for no event of the corpus. */
export const QUIET_FILES: Files = {
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/templates/order-news/email.yaml': 'subject: Order {{ order_id }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/order-news/email.txt': 'Hello {{ customer.name }}, there is news of {{ order_id }}.\n',
  ...bigOrder(OUT_OF_REACH),
};
/** An edit after which the rule fires for one event in fifty. */
export const FEW_ADDED = bigOrder(490);
/** An edit after which the rule fires for one event in five. */
export const MANY_ADDED = bigOrder(400);
