import { describe, expect, test } from 'vitest';
import { readStartSettings } from '../src/index.ts';

const faultsOf = (text: string) =>
  readStartSettings('carillon.yaml', text).faults.map(({ line, path, message, expected }) => ({
    line,
    path,
    told: `${message}; ${expected}`,
  }));

describe('carillon.yaml at the start of a process', () => {
  test('gives log and stores', () => {
    const text = `backend: cluster
brokers: [kafka-1:9092, kafka-2:9092]
kafka:
  tls: { ca_file: /etc/ca.pem }
  sasl: { mechanism: scram-sha-256, username: carillon, password: { secret: KAFKA_PASSWORD } }
stores: { url: "mongodb://mongo-1:27017/?replicaSet=rs0", database: carillon }
schema_registry: { url: "http://registry:8080/apis/ccompat/v7" }
`;
    expect(readStartSettings('carillon.yaml', text)).toMatchObject({
      faults: [],
      settings: {
        backend: 'cluster',
        brokers: ['kafka-1:9092', 'kafka-2:9092'],
        kafka: { sasl: { mechanism: 'scram-sha-256', password: { secret: 'KAFKA_PASSWORD' } } },
        stores: { database: 'carillon' },
      },
    });
  });

  test('that is empty means the embedded backend', () => {
    expect(readStartSettings('carillon.yaml', '')).toEqual({ settings: {}, faults: [] });
  });

  test('reports all mistakes at once, with their lines', () => {
    const text = `backend: clustered
brokers: [kafka-1]
stores: { url: "mongodb://carillon:hunter2@mongo-1" }
schema_registry: { url: "registry:8081" }
`;
    const faults = faultsOf(text);
    expect(faults.map(({ line, path }) => [line, path])).toEqual([
      [1, 'backend'],
      [2, 'brokers[0]'],
      [3, 'stores.url'],
      [4, 'schema_registry.url'],
    ]);
    expect(faults[2]?.told).toContain('username and password: { secret: NAME }');
  });

  test('with a password in an address is refused without showing it', () => {
    const [fault] = faultsOf('stores: { url: "mongodb://carillon:hunter2@mongo-1" }\n');
    expect(JSON.stringify(fault)).not.toContain('hunter2');
  });
});
