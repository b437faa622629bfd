import { startProduct, untilFound, type Product } from '@carillon/testing';
import { configure, type Files } from '../product.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createOrderDatabase, type OrderDatabase } from './order-database.ts';
import { openLogEnds, type LogEnds } from './read-log.ts';

export const PRODUCT = 'carillon up, embedded';
export const PRODUCT_SYNCS = 'each commit (SQLite, WAL, synchronous = FULL), and then it acknowledges';

const FILES: Files = {
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/integrations/shop-db.yaml': 'kind: postgres\nurl: { secret: SHOP_DB }\n',
  'workspaces/shop/streams/orders.yaml': 'from: { integration: shop-db, tables: { public.orders: event.id } }\n',
};

/** One rule whose condition every update to `paid` meets. */
export const RULE_FILES: Files = {
  'workspaces/shop/notifications/order-paid.yaml': `name: Order paid
channels:
  email: { template: order-paid }
rules:
  paid:
    stream: orders
    changes: [update]
    when: changedTo(event.status, "paid")
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
`,
  'workspaces/shop/templates/order-paid/email.yaml': 'subject: Order {{ order_id }}\nfrom: Shop <shop@example.com>\n',
  'workspaces/shop/templates/order-paid/email.txt': 'Your order is paid.\n',
};

/** The product while it reads a table of orders. */
export type ReadingProduct = {
  readonly product: Product;
  readonly orders: OrderDatabase;
  readonly ends: LogEnds;
  readonly dataDir: string;
  readonly close: () => Promise<void>;
};

export async function startReadingProduct(more: Files = {}): Promise<ReadingProduct> {
  const orders = await createOrderDatabase();
  const folder = await temporaryFolder();
  const product = await startProduct({
    dataDir: folder.path,
    cwd: folder.path,
    env: { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1', CARILLON_SECRET_SHOP__SHOP_DB: orders.database.url },
  });
  await configure(product, { ...FILES, ...more });
  await untilFound('the slot', async () => {
    const rows = await orders.database.run(
      'SELECT 1 FROM pg_replication_slots WHERE database = current_database() AND active',
    );
    return rows.length > 0 ? true : undefined;
  });
  const ends = openLogEnds(folder.path);
  return {
    product,
    orders,
    ends,
    dataDir: folder.path,
    async close() {
      ends.close();
      await product.kill('SIGTERM');
      await orders.close();
      await folder.remove();
    },
  };
}
