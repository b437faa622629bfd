import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cli } from '@carillon/testing';

export const WORKSPACE = 'shop';
export const STREAM = 'shop/orders';
/** Calls that the mail account allows at once, so the most that one kill can leave in doubt for each dispatcher. */
export const CONNECTIONS = 5;

/** One notification for every order, retried quickly; its subject is the unique id, so that the mail names its slot. */
const files = (smtpPort: number): Readonly<Record<string, string>> => ({
  'carillon.yaml': `accounts:
  email: { kind: smtp, host: 127.0.0.1, port: ${smtpPort}, tls: none, connections: ${CONNECTIONS}, from: "Shop <shop@example.com>" }
`,
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': `security: { api_keys: [backend] }
`,
  'workspaces/shop/notifications/order-paid.yaml': `channels:
  email: { template: order-paid }
rules:
  paid:
    stream: orders
    when: event.status == "paid"
    recipients:
      from: event
      to: { email: event.email }
      unique_id: event.order_id
retry: { attempts: 8, first: 1s, max: 2s }
in_doubt: hold
`,
  'workspaces/shop/templates/order-paid/email.yaml': 'subject: "{{ order_id }}"\n',
  'workspaces/shop/templates/order-paid/email.txt': 'Order {{ order_id }} is paid.\n',
});

async function succeed(args: readonly string[], dataDir: string): Promise<string> {
  const { code, stdout, stderr } = await cli(args, { dataDir });
  if (code !== 0) throw new Error(`carillon ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** Applies the shop's configuration to the running product, as an operator would, and answers a key for its stream. */
export async function openShop(folder: string, dataDir: string, smtpPort: number): Promise<string> {
  const configuration = join(folder, 'configuration');
  for (const [path, text] of Object.entries(files(smtpPort))) {
    const file = join(configuration, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  await succeed(['apply', '-f', configuration], dataDir);
  const made = await succeed(['api-key', 'create', 'backend', '--workspace', WORKSPACE, '--json'], dataDir);
  return (JSON.parse(made) as { key: string }).key;
}

/** Where the management API of a running product is, and what opens it. */
export type Management = { readonly controlUrl: string; readonly token: string };

/** How many deliveries are in each state, as the management API tells. */
export async function countDeliveries(product: Management): Promise<Readonly<Record<string, number>>> {
  const answer = await fetch(`${product.controlUrl}/v1/status`, {
    headers: { authorization: `Bearer ${product.token}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`/v1/status answered ${answer.status}`);
  return ((await answer.json()) as { deliveries: Record<string, number> }).deliveries;
}
