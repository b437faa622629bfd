import { untilFound } from '@carillon/testing';
import { expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { order } from '../product/shop.ts';
import { TIMEOUT, useShopOnCluster } from './shop-on-cluster.ts';

describeWith(['kafka', 'mongodb', 'registry'], 'Topics that somebody changes under a running process', () => {
  const running = useShopOnCluster();

  it(
    'and partitions that are added are not used: all goes on, and doctor says what differs',
    async () => {
      const { shop, foreign } = running();
      await shop.delivered(await shop.send(order('before')), 'SENT');
      await foreign.admin.createPartitions({ topicPartitions: [{ topic: 'carillon.intents', count: 9 }] });
      const { code, stdout } = await shop.run(['doctor']);
      expect(code).toBe(1);
      expect(stdout).toContain('FAIL  Kafka topics: carillon.intents: partitions is 9, wanted 8');
      const events = await Promise.all(Array.from({ length: 24 }, (_, at) => shop.send(order(`after-${at}`))));
      for (const event of events) await shop.delivered(event, 'SENT');
      const offsets = await foreign.admin.fetchTopicOffsets('carillon.intents');
      expect(offsets.find(({ partition }) => partition === 8)?.high).toBe('0');
    },
    TIMEOUT,
  );

  it(
    'and a topic that is recreated ends the process with code 1 and an instruction',
    async () => {
      const { shop, foreign } = running();
      const topic = 'carillon.events';
      const {
        topics: [described],
      } = await foreign.admin.fetchTopicMetadata({ topics: [topic] });
      await foreign.admin.deleteTopics({ topics: [topic] });
      await untilFound('it is made anew', async () => {
        const made = await foreign.admin
          .createTopics({
            topics: [{ topic, numPartitions: described?.partitions.length ?? 8, replicationFactor: 1 }],
          })
          .catch(() => false);
        return made || undefined;
      });
      const ended = shop.product.exited;
      // Whatever comes now would be taken for something old, or be read twice.
      const posting = untilFound(
        'the process has ended',
        async () => {
          await shop.post('shop/orders', order('anew')).catch(() => undefined);
          return Promise.race([ended, new Promise<undefined>((later) => void setTimeout(() => later(undefined), 200))]);
        },
        120_000,
      );
      expect(await posting).toEqual({ code: 1, signal: null });
      expect(shop.product.stderr()).toMatch(
        /Stored positions belong to another log: carillon\.events\/\d .*was deleted and made again/,
      );
      expect(shop.product.stderr()).toContain('Stop all roles; restore the topic, or begin a new log');
    },
    TIMEOUT,
  );
});
