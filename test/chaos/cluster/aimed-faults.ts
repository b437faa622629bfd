import { setTimeout as pause } from 'node:timers/promises';
import { untilFound } from '@carillon/testing';
import { KAFKA_API, type KafkaProxy } from '@carillon/testing/faults';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import type { Site } from './faults.ts';

/** Longer than a send is repeated inside the client (about 15 s), so that it is rejected in the end. */
const BEYOND_A_SEND = 25_000;
const BEYOND_SESSION = 15_000;
const SHARE_LOST = 0.2;
const LOSING = 12_000;
const TOPIC = 'carillon.events';

const begun = ({ taken }: Site, events = 100): Promise<true> =>
  untilFound(`${events} events before the fault`, async () => taken() >= events || undefined, 60_000);

/** The broker stores one more batch of each connection, nobody hears of it, and no repetition comes through until the send is rejected. */
export async function rejectSends(site: Site, proxy: KafkaProxy): Promise<void> {
  await begun(site);
  const until = Date.now() + BEYOND_A_SEND;
  let passed = 0;
  proxy.decide = ({ apiKey }) => {
    if (apiKey !== KAFKA_API.produce) return 'pass';
    // The first ones of every role: later ones are repetitions.
    passed += 1;
    return passed <= 4 ? 'lose-answer' : 'cut-before';
  };
  site.supervisor.note('answers to appends are lost');
  await pause(until - Date.now());
  proxy.decide = () => 'pass';
  site.supervisor.note('appends are answered again');
}

/** Every now and then the answer to an append is lost. */
export async function loseAnswers(site: Site, proxy: KafkaProxy): Promise<void> {
  await begun(site);
  proxy.decide = ({ apiKey }) => (apiKey === KAFKA_API.produce && site.chance() < SHARE_LOST ? 'lose-answer' : 'pass');
  site.supervisor.note('answers to appends are lost');
  await pause(LOSING);
  proxy.decide = () => 'pass';
  site.supervisor.note('all answers come');
}

/** A sender is held still until another one has its work, and goes on with what it had in mind. */
export async function freezeSender(site: Site): Promise<void> {
  await begun(site);
  const [sender] = site.cluster.of('delivery');
  if (sender) await site.supervisor.freeze(sender, BEYOND_SESSION);
}

/** Deletes the topic of events and makes it again as it was. */
export async function recreateTopic(site: Site): Promise<void> {
  await begun(site);
  const admin = new Kafka({
    clientId: 'crash-test',
    brokers: [...site.services.kafka.brokers],
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  const { topics } = await admin.fetchTopicMetadata({ topics: [TOPIC] });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: TOPIC }],
  });
  const configEntries = (resources[0]?.configEntries ?? [])
    .filter(({ isDefault, readOnly }) => !isDefault && !readOnly)
    .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
  const numPartitions = topics[0]?.partitions.length ?? 1;
  await admin.deleteTopics({ topics: [TOPIC] });
  await untilFound(
    'the topic to be gone',
    async () => !(await admin.listTopics()).includes(TOPIC) || undefined,
    20_000,
  );
  await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions, replicationFactor: 1, configEntries }] });
  site.supervisor.note(`${TOPIC} was made anew`);
  await admin.disconnect();
}
