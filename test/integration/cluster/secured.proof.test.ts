import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, selfSigned, startProduct } from '@carillon/testing';
import { startFerretDb, startKafka, startRegistry, type Service } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { openShop, order, scratch, shopOf, writeFiles } from '../product/shop.ts';

const TIMEOUT = 300_000;
const SCRAM = { CARILLON_KAFKA_SASL_MECHANISM: 'scram-sha-512' };

describeWith(['kafka', 'mongodb', 'registry'], 'A cluster that asks who comes', () => {
  const services: Service[] = [];
  let folder = '';
  let remove: () => Promise<void>;
  let settings: Readonly<Record<string, string>>;
  beforeAll(async () => {
    ({ folder, remove } = await scratch());
    const certificate = selfSigned('localhost');
    const credentials = { username: 'carillon', password: 'mongo-secret-word' };
    const [kafka, mongodb, registry] = await Promise.all([
      startKafka({ security: { ...certificate, users: { carillon: 'kafka-secret-word' } } }),
      startFerretDb({ credentials }),
      startRegistry({ security: certificate }),
    ]);
    services.push(kafka, mongodb, registry);
    await writeFile(join(folder, 'ca.pem'), certificate.cert);
    settings = {
      CARILLON_BROKERS: kafka.securedBrokers.join(','),
      CARILLON_SINGLE_BROKER: 'true',
      CARILLON_KAFKA_CA_FILE: join(folder, 'ca.pem'),
      CARILLON_KAFKA_SASL_MECHANISM: 'plain',
      CARILLON_KAFKA_USERNAME: 'carillon',
      CARILLON_KAFKA_PASSWORD: 'kafka-secret-word',
      CARILLON_MONGODB_URL: mongodb.url,
      CARILLON_MONGODB_USERNAME: credentials.username,
      CARILLON_MONGODB_PASSWORD: credentials.password,
      CARILLON_SCHEMA_REGISTRY_URL: registry.url,
      CARILLON_SCHEMA_REGISTRY_CA_FILE: join(folder, 'ca.pem'),
    };
  }, TIMEOUT);
  afterAll(async () => {
    await Promise.all(services.map((one) => one.stop()));
    await remove();
  }, TIMEOUT);

  it.each([
    ['Kafka password', { CARILLON_KAFKA_PASSWORD: 'wrong-word' }, /Kafka refused: .*[Aa]uthentication/],
    ['SCRAM password', { ...SCRAM, CARILLON_KAFKA_PASSWORD: 'wrong-word' }, /Kafka refused: .*[Aa]uthentication/],
    ['certificate authority', { CARILLON_KAFKA_CA_FILE: '', CARILLON_KAFKA_TLS: 'true' }, /self-signed certificate/],
    [
      'certificate authority of the registry',
      { CARILLON_SCHEMA_REGISTRY_CA_FILE: '' },
      /schema registry.*self-signed certificate/,
    ],
    ['database password', { CARILLON_MONGODB_PASSWORD: 'wrong-word' }, /refuses these credentials/],
  ])(
    'refuses a wrong %s, without printing it',
    async (_what, wrong, words) => {
      const env = { ...settings, ...wrong, CARILLON_MONGODB_DATABASE: 'refused' };
      const { code, stderr } = await cli(['up', '--gateway-port', '0', '--control-port', '0'], {
        env,
        cwd: folder,
        dataDir: join(folder, 'refused'),
      });
      expect(code, stderr).toBeGreaterThan(0);
      expect(stderr).toMatch(words);
      expect(stderr).not.toMatch(/wrong-word|secret-word/);
    },
    TIMEOUT,
  );

  it(
    'lets the product in, by the environment or by carillon.yaml, and a message goes its way',
    async () => {
      const shop = await openShop({ env: { ...settings, ...SCRAM } });
      await shop.delivered(await shop.send(order('A-1')), 'SENT');
      const again = { dataDir: shop.dataDir, folder: shop.folder, key: shop.key };
      expect(await shop.product.kill('SIGTERM')).toMatchObject({ code: 0 });

      const { CARILLON_BROKERS: brokers, CARILLON_MONGODB_URL: url, CARILLON_SCHEMA_REGISTRY_URL: registry } = settings;
      writeFiles(folder, {
        'carillon.yaml': `backend: cluster
brokers: [${brokers}]
single_broker: true
kafka:
  tls: { ca_file: ${join(folder, 'ca.pem')} }
  sasl: { mechanism: scram-sha-512, username: carillon, password: { secret: KAFKA_WORD } }
stores: { url: "${url}", username: carillon, password: { secret: MONGO_WORD } }
schema_registry: { url: "${registry}", tls: { ca_file: ${join(folder, 'ca.pem')} } }
`,
      });
      const env = { KAFKA_WORD: 'kafka-secret-word', MONGO_WORD: 'mongo-secret-word' };
      const product = await startProduct({ ...again, env, args: ['--config', join(folder, 'carillon.yaml')] });
      try {
        const second = shopOf(product, again.folder, again.dataDir, again.key);
        await second.delivered(await second.send(order('A-2')), 'SENT');
        expect((await second.run(['doctor'])).stdout).not.toMatch(/secret-word/);
        expect(product.stderr()).not.toMatch(/secret-word/);
      } finally {
        // The shop knows of its first process only.
        await product.kill('SIGTERM');
        await shop.close();
      }
    },
    TIMEOUT,
  );
});
