import { join } from 'node:path';
import type { Delivery } from '@carillon/domain/deliveries';
import { untilFound } from '@carillon/testing';
import { startCluster, startClusterServices, type Cluster } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOutsideServers, type OutsideServers } from '../outside-servers.ts';
import { PUBLIC_URL } from '../providers.ts';
import { STREAM } from '../../harness/shop.ts';
import { openShop, SHOP_ENVIRONMENT, type ShopKeys } from '../shop.ts';
import { openClusterStores, type ClusterStores } from './stores.ts';
import { describeOnCluster } from './with-services.ts';

/*
 * Four processes send, and two gateways take events and clicks. Whoever opts out at one gateway hears that it is done; from
 * then on no process begins to send to that person, neither what comes later nor what it had put off.
 */

const START_TIMEOUT = 300_000;
const TAKES = 600_000;
const DELIVERIES = 4;
const PEOPLE = 30;
/** Orders of each person: so many are on their way when the click comes, and as many come when it was answered. */
const ORDERS = 4;
/** People whose mail server puts everything off, so that their messages are tried again and again. */
const PUT_OFF = 20;

const DATABASE = 'opt-outs';
const orders = (who: string): readonly string[] => Array.from({ length: ORDERS }, (_, at) => `${who}-${at}`);

describeOnCluster('An opt-out that was answered holds in every process', startClusterServices, (services) => {
  let servers: OutsideServers;
  let cluster: Cluster;
  let stores: ClusterStores;
  let keys: ShopKeys;

  beforeAll(async () => {
    // Slow, so that clicks come while messages are on their way.
    servers = await startOutsideServers({ seed: 1, smtp: { latency: 200 } });
    const { folder, providers, neighbours } = servers;
    cluster = await startCluster({
      services: services(),
      dataDir: join(folder, 'data'),
      members: { gateway: 2, delivery: DELIVERIES },
      env: { ...SHOP_ENVIRONMENT, ...providers.env, CARILLON_MONGODB_DATABASE: DATABASE },
    });
    stores = await openClusterStores(services(), DATABASE);
    keys = await openShop(folder, cluster.dataDir, neighbours);
  }, START_TIMEOUT);
  afterAll(async () => {
    await cluster?.stop();
    await stores?.close();
    await servers?.stop();
  }, START_TIMEOUT);

  /** Until the gateway takes it, which may not know the stream yet. */
  const send = async (orderId: string, email: string): Promise<void> => {
    const body = JSON.stringify({ order_id: orderId, status: 'paid', email });
    const headers = { authorization: `Bearer ${keys.stream}`, 'content-type': 'application/json' };
    const taken = async (): Promise<true | undefined> => {
      const answer = await fetch(`${cluster.gatewayUrl}/events/${STREAM}`, { method: 'POST', headers, body });
      return answer.status === 202 || undefined;
    };
    await untilFound(`${orderId} is taken`, taken, START_TIMEOUT);
  };
  const sendAll = (ids: readonly string[], email: string): Promise<unknown> =>
    Promise.all(ids.map((id) => send(id, email)));
  /** All messages to addresses that begin so. */
  const messagesTo = async (words: string): Promise<readonly Delivery[]> =>
    (await stores.ledger.list({}, 1_000)).items.filter(({ intent }) => intent.to?.startsWith(words));
  /** The same, once there are so many and none of them is on its way. */
  const ended = (words: string, count: number): Promise<readonly Delivery[]> =>
    untilFound(
      `${count} messages that have ended`,
      async () => {
        const found = await messagesTo(words);
        const open = found.some(({ state }) => state === 'WAITING' || state === 'SENDING');
        return found.length === count && !open ? found : undefined;
      },
      TAKES / 2,
    );
  const fates = (all: readonly Delivery[]): readonly string[] => [
    ...new Set(all.map(({ state, reason }) => `${state} ${reason}`)),
  ];

  it(
    'after a click at one of two gateways no message is sent later than the response',
    async () => {
      const addressOf = (n: number): string => `customer-${n}@example.org`;
      const people = Array.from({ length: PEOPLE }, (_, n) => n);
      await Promise.all(people.map((n) => send(`first-${n}`, addressOf(n))));
      await ended('customer-', PEOPLE);
      const links = new Map(
        (await servers.smtp.entries()).map(({ subject, headers }) => [
          subject,
          /<([^>]+)>/.exec(headers['list-unsubscribe'] ?? '')?.[1]?.slice(PUBLIC_URL.length),
        ]),
      );
      const [, otherGateway] = cluster.of('gateway');
      const optOut = async (n: number): Promise<void> => {
        const answer = await fetch(`${otherGateway?.address}${links.get(`first-${n}`)}`, {
          method: 'POST',
          body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
        });
        expect(answer.status).toBe(200);
      };
      await Promise.all(
        people.map(async (n) => {
          const underWay = sendAll(orders(`before-${n}`), addressOf(n));
          await optOut(n);
          await sendAll(orders(`behind-${n}`), addressOf(n));
          await underWay;
        }),
      );

      const all = await ended('customer-', PEOPLE * (1 + 2 * ORDERS));
      const behind = all.filter(({ slot }) => slot.uniqueId.startsWith('behind-'));
      expect(behind).toHaveLength(PEOPLE * ORDERS);
      expect(fates(behind)).toEqual(['SUPPRESSED opted_out']);
      const sent = (await servers.smtp.entries()).map(({ subject }) => subject);
      expect(sent.filter((subject) => subject.startsWith('behind-'))).toEqual([]);
      // Every process had a part in it.
      const worked = await Promise.all(
        cluster.of('delivery').map(async ({ health }) => {
          const metrics = await (await fetch(`${health}/metrics`)).text();
          return /^carillon_records_total\{[^}]*stage="deliver"[^}]*\} [1-9]/m.test(metrics);
        }),
      );
      expect(worked).toEqual(Array.from({ length: DELIVERIES }, () => true));
    },
    TAKES,
  );

  it(
    'a postponed delivery is not retried, except a call checked before the response',
    async () => {
      const addressOf = (n: number): string => `never-${n}@example.org`;
      const answered = new Map<string, number>();
      const tried = async (to: string): Promise<true | undefined> =>
        (await messagesTo(to)).some(({ attempts }) => attempts.length > 0) || undefined;
      await Promise.all(
        Array.from({ length: PUT_OFF }, async (_, n) => {
          const to = addressOf(n);
          await sendAll(orders(`put-off-${n}`), to);
          await untilFound(`a try for ${to}`, () => tried(to), START_TIMEOUT);
          const answer = await fetch(`${cluster.controlUrl}/v1/workspaces/shop/consents`, {
            method: 'POST',
            headers: { authorization: `Bearer ${cluster.token}`, 'content-type': 'application/json' },
            body: JSON.stringify({ person: to, target: 'all', opted_out: true }),
          });
          expect(answer.status).toBe(200);
          answered.set(to, Date.now());
        }),
      );

      const all = await ended('never-', PUT_OFF * ORDERS);
      const late = all.map(({ intent, attempts }) => {
        const since = answered.get(intent.to ?? '') ?? 0;
        return attempts.filter(({ startedAt }) => startedAt > since).length;
      });
      expect(Math.max(...late)).toBeLessThanOrEqual(1);
      // A machine so slow that all tries are used up before the answer would show nothing.
      expect(fates(all)).toContain('SUPPRESSED opted_out');
    },
    TAKES,
  );
});
