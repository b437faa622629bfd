import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds } from '@carillon/adapter-system';
import { startProduct } from '@carillon/testing';
import { startCluster, type Cluster, type ClusterServices } from '@carillon/testing/cluster';
import { countIds, type TopicRecord } from '../peers/topic.ts';
import { configure, countEmbedded, processesOf, STREAM_PATH, streamFiles, type Files } from '../product.ts';
import type { HttpTarget } from './target.ts';

/** A mail server on loopback may be sent to. */
const SINK_IS_NEAR = { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };

const scratch = (): Promise<string> => mkdtemp(join(tmpdir(), 'carillon-bench-'));

/** `carillon run gateway` on a cluster. The other roles do not run: control made the configuration and was ended. */
export async function startGatewayOnKafka(services: ClusterServices): Promise<HttpTarget> {
  const dataDir = await scratch();
  const cluster = await startCluster({ services, dataDir, members: { engine: 0, delivery: 0 } });
  const headers = await configure(cluster, streamFiles);
  for (const control of cluster.of('control')) await control.stop();
  return targetOf(cluster, services, headers);
}

const PUBLIC_URL = 'https://notify.example.com';
const AUTH_TOKEN = '0123456789abcdef0123456789abcdef';
const ACCOUNT = `kind: twilio
account_sid: AC0123456789abcdef0123456789abcdef
auth_token: { secret: TWILIO }
from: "+4930123456"
`;
/** As long as the token of a real attempt, whose hash is looked at in the same way. */
const OF_ONE_MESSAGE = '/receipts/twilio/shop/sms/0123456789abcdefghjkmnpqrs-1-0000000000';

/** A gateway that takes events, and what Twilio tells of messages: of each that it answers, the receipt is on the log. */
export async function startGatewayWithCallbacks(
  services: ClusterServices,
): Promise<{ readonly events: HttpTarget; readonly callbacks: HttpTarget }> {
  const dataDir = await scratch();
  const env = { CARILLON_SECRET_SHOP__TWILIO: AUTH_TOKEN };
  const cluster = await startCluster({ services, dataDir, env, members: { engine: 0, delivery: 0 } });
  const headers = await configure(cluster, {
    ...streamFiles,
    'carillon.yaml': `public_url: ${PUBLIC_URL}\n`,
    'workspaces/shop/accounts/sms.yaml': ACCOUNT,
  });
  for (const control of cluster.of('control')) await control.stop();
  const events = targetOf(cluster, services, headers);
  const callbacks: HttpTarget = {
    ...events,
    url: `${cluster.gatewayUrl}${OF_ONE_MESSAGE}`,
    twilio: { publicUrl: PUBLIC_URL, authToken: AUTH_TOKEN },
    storedAs: (sid) => ids.derive('receipt', 'twilio', 'shop/sms', `${sid}:delivered`),
    stored: () => countIds(services.kafka.brokers, 'carillon.receipts', receiptIdOf),
  };
  return { events, callbacks };
}

/** The id stands as text in the record. */
const receiptIdOf = ({ value }: TopicRecord): string | undefined =>
  /rct_[0-9A-Z]{26}/.exec(value.toString('latin1'))?.[0];
/** Ids that are derived need no key. */
const ids = createIds(new Uint8Array(32));

/** Environment of the product, beside what it needs. */
type Environment = Readonly<Record<string, string>>;

/** All roles on a cluster, one process each. */
export async function startRolesOnKafka(
  services: ClusterServices,
  files: Files,
  env: Environment = {},
): Promise<HttpTarget> {
  const dataDir = await scratch();
  const cluster = await startCluster({ services, dataDir, env: { ...SINK_IS_NEAR, ...env } });
  return targetOf(cluster, services, await configure(cluster, files));
}

function targetOf(cluster: Cluster, services: ClusterServices, headers: Readonly<Record<string, string>>): HttpTarget {
  return {
    url: `${cluster.gatewayUrl}${STREAM_PATH}`,
    headers,
    processes: processesOf(cluster),
    stored: () => countIds(services.kafka.brokers, 'carillon.events', ({ header }) => header('event_id')),
    async stop() {
      await cluster.stop();
      await rm(cluster.dataDir, { recursive: true, force: true });
    },
  };
}

/** `carillon up` on the embedded backend: all roles in one process, over one file. */
export async function startUpEmbedded(files: Files = streamFiles, env: Environment = {}): Promise<HttpTarget> {
  const dataDir = await scratch();
  const product = await startProduct({ dataDir, cwd: dataDir, env: { ...SINK_IS_NEAR, ...env } });
  const headers = await configure(product, files);
  return {
    url: `${product.gatewayUrl}${STREAM_PATH}`,
    headers,
    processes: { carillon: product.pid },
    async stored() {
      // One process at a time may have the folder.
      await product.kill('SIGTERM');
      return countEmbedded(dataDir);
    },
    async stop() {
      await product.kill('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
