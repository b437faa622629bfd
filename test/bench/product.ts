import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import type { Cluster } from '@carillon/testing/cluster';

/** Where the management API of a running product is, and what opens it. */
export type Management = { readonly controlUrl: string; readonly token: string };
export type Files = Readonly<Record<string, string>>;

/** The workspace and the stream of every bench; events go to `/events/shop/orders`. */
const WORKSPACE = 'shop';
export const STREAM_PATH = '/events/shop/orders';

/** A stream behind an API key, and no rule: what arrives is stored. */
export const streamFiles: Files = {
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'security: { api_keys: [backend] }\n',
};

async function ask<T>({ controlUrl, token }: Management, path: string, body: unknown): Promise<T> {
  const answer = await fetch(`${controlUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Applies the configuration to the running product and answers the headers that its stream asks for. */
export async function configure(
  product: Management,
  files: Files,
  keyName = 'backend',
): Promise<Readonly<Record<string, string>>> {
  const applied = await ask<{ faults: readonly unknown[] }>(product, '/v1/configuration/apply', {
    files,
    prune: false,
  });
  if (applied.faults.length > 0) throw new Error(`not applied: ${JSON.stringify(applied.faults)}`);
  const { key } = await ask<{ key: string }>(product, `/v1/workspaces/${WORKSPACE}/api-keys`, { name: keyName });
  return { authorization: `Bearer ${key}` };
}

/** CPU is counted for each of these. */
export const processesOf = (cluster: Cluster): Readonly<Record<string, number>> =>
  Object.fromEntries(cluster.members.filter(({ running }) => running).map(({ name, pid }) => [name, pid]));

const READ = 5000;

/** How often each event id stands in the log of a data folder that no process has open any more. */
export async function countEmbedded(dataDir: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const embedded = await openEmbedded({ dataDir, clock: systemClock });
  const { log } = embedded;
  try {
    for (let partition = 0; partition < log.partitions('carillon.events'); partition += 1) {
      for (let from = 0; ;) {
        const records = await log.read('carillon.events', partition, from, READ);
        for (const { headers } of records) {
          const id = headers['event_id'];
          if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
        }
        const last = records.at(-1);
        if (!last) break;
        from = last.offset + 1;
      }
    }
  } finally {
    await embedded.close();
  }
  return counts;
}
