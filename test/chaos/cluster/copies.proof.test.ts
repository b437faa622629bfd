import { join } from 'node:path';
import { createRecordCodecs } from '@carillon/contracts';
import type { Delivery, Intent } from '@carillon/domain/deliveries';
import type { IntentId } from '@carillon/kernel';
import { untilFound } from '@carillon/testing';
import { startCluster, startClusterServices } from '@carillon/testing/cluster';
import { deviceOf, phoneOf } from '@carillon/testing/providers';
import { expect, it } from 'vitest';
import { readEvidence } from '../../harness/evidence.ts';
import { startOutsideServers } from '../outside-servers.ts';
import { readBooks } from '../providers.ts';
import { STREAM, ORDER_FIELDS } from '../../harness/shop.ts';
import { openShop, SHOP_ENVIRONMENT } from '../shop.ts';
import { openClusterStores } from './stores.ts';
import { describeOnCluster } from './with-services.ts';

const TAKEN_WITHIN = 180_000;
const TAKES = 600_000;
const COPIES = 1_000;
const ADDRESSES = {
  email: 'customer-1@example.org',
  sms: phoneOf('customer', 1),
  push: deviceOf('customer', 1),
} as const;

describeOnCluster('Many copies of one unique id over four consumers', startClusterServices, (services) => {
  it(
    'reach the provider of each channel once, and the others are recorded as duplicates',
    async () => {
      const servers = await startOutsideServers({ seed: 1 });
      const { smtp, providers } = servers;
      const cluster = await startCluster({
        services: services(),
        dataDir: join(servers.folder, 'data'),
        members: { delivery: 4 },
        env: { ...SHOP_ENVIRONMENT, ...providers.env, CARILLON_MONGODB_DATABASE: 'copies' },
      });
      const stores = await openClusterStores(services(), 'copies');
      try {
        const keys = await openShop(servers.folder, cluster.dataDir, servers.neighbours);
        // One of each, so that there is an intent to be copied.
        for (const [channel, { status, address }] of Object.entries(ORDER_FIELDS)) {
          const body = {
            order_id: `first-${channel}`,
            status,
            [address]: ADDRESSES[channel as keyof typeof ADDRESSES],
          };
          const taken = async (): Promise<true | undefined> => {
            const answer = await fetch(`${cluster.gatewayUrl}/events/${STREAM}`, {
              method: 'POST',
              headers: { authorization: `Bearer ${keys.stream}`, 'content-type': 'application/json' },
              body: JSON.stringify(body),
            });
            return answer.status === 202 || undefined;
          };
          await untilFound(`the first for ${channel}`, taken, TAKEN_WITHIN);
        }
        const codecs = await createRecordCodecs(stores.registry, Date.now);
        const deliveriesTo = async (uniqueId: (channel: string) => string): Promise<readonly Delivery[]> => {
          const { items } = await stores.ledger.list({ states: ['SENT'] }, 1000);
          return items.filter(({ slot }) => slot.uniqueId === uniqueId(slot.channel));
        };
        const firsts = await untilFound(
          'one message on each channel',
          async () => {
            const found = await deliveriesTo((channel) => `first-${channel}`);
            return found.length >= 3 ? found : undefined;
          },
          TAKEN_WITHIN,
        );

        // Next to each other on all partitions, so that all four take them into custody at once.
        const partitions = stores.log.partitions('carillon.intents');
        const copyOf = ({ intent }: Delivery, at: number) => {
          const slot = { ...intent.slot, uniqueId: 'copies' };
          const copy: Intent = { ...intent, id: `int_copy_${intent.slot.channel}_${at}` as IntentId, slot };
          const value = codecs.intent.encode(copy);
          return {
            topic: 'carillon.intents',
            partition: at % partitions,
            key: `copies-${at}`,
            value,
            headers: {},
          } as const;
        };
        await stores.log.append(
          Array.from({ length: COPIES }, (_, at) => firsts.map((first) => copyOf(first, at))).flat(),
        );

        const told = await untilFound(
          'all copies are judged',
          async () => {
            const found = await deliveriesTo(() => 'copies');
            return found.length === 3 && found.every(({ duplicates }) => duplicates >= COPIES - 1) ? found : undefined;
          },
          TAKES / 2,
        );
        expect(
          told
            .map(({ slot, state, duplicates, attempts }) => [slot.channel, state, duplicates, attempts.length])
            .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
        ).toEqual([
          ['email', 'SENT', COPIES - 1, 1],
          ['push', 'SENT', COPIES - 1, 1],
          ['sms', 'SENT', COPIES - 1, 1],
        ]);
        const { mail } = await readBooks(smtp, providers, await readEvidence(stores));
        // Its subject is made of what the event said, which is that of the first.
        const taken = (channel: string): number => mail.filter(({ subject }) => subject === `first-${channel}`).length;
        expect(['email', 'sms', 'push'].map(taken)).toEqual([2, 2, 2]);
      } finally {
        await cluster.stop();
        await stores.close();
        await servers.stop();
      }
    },
    TAKES,
  );
});
