import { setTimeout as pause } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';

const WITHIN = 60_000;

/** Deletes every topic whose name begins so, and waits until nobody can see them: the broker is as good as new. */
export async function forgetTopics(brokers: readonly string[], prefix: string): Promise<void> {
  const admin = new Kafka({ clientId: 'carillon-test', brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  const named = async (): Promise<string[]> => (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  await admin.connect();
  try {
    const topics = await named();
    if (topics.length === 0) return;
    await admin.deleteTopics({ topics });
    for (const deadline = Date.now() + WITHIN; (await named()).length > 0; await pause(50)) {
      if (Date.now() > deadline) throw new Error(`topics were deleted and are still there after ${WITHIN} ms`);
    }
  } finally {
    await admin.disconnect();
  }
}
