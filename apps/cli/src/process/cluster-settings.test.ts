import { expect, it } from 'vitest';
import { clusterSettings } from './cluster-settings.ts';

const PLACES = {
  CARILLON_BROKERS: 'kafka-1:9092',
  CARILLON_MONGODB_URL: 'mongodb://mongo-1:27017',
  CARILLON_SCHEMA_REGISTRY_URL: 'http://registry:8081',
};

function read(env: Readonly<Record<string, string>>) {
  const faults: string[] = [];
  const settings = clusterSettings({ ...PLACES, ...env }, {}, faults);
  return { settings, faults };
}

it.each(['CARILLON_MONGODB', 'CARILLON_SCHEMA_REGISTRY'])(
  'refuses a user name without password, or a password without user name, for %s',
  (prefix) => {
    const fault = `${prefix}_USERNAME and ${prefix}_PASSWORD: one is given without the other`;
    expect(read({ [`${prefix}_USERNAME`]: 'carillon' }).faults).toEqual([fault]);
    expect(read({ [`${prefix}_PASSWORD`]: 'word' }).faults).toEqual([fault]);
    expect(read({ [`${prefix}_USERNAME`]: 'carillon', [`${prefix}_PASSWORD`]: 'word' }).faults).toEqual([]);
    expect(read({}).faults).toEqual([]);
  },
);

it('uses TLS to Kafka only if CARILLON_KAFKA_TLS is true', () => {
  expect(read({}).settings.kafka.tls).toBeUndefined();
  expect(read({ CARILLON_KAFKA_TLS: 'true' }).settings.kafka.tls).toBe(true);
  expect(read({ CARILLON_KAFKA_TLS: 'false' }).settings.kafka.tls).toBeUndefined();
});
