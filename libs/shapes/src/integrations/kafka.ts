import { z } from 'zod';
import { broker, saslOf, urlOf } from '../broker-shapes.ts';
import { keys, said, secret, text } from '../shape-parts.ts';
import { defineIntegration } from './integration.ts';

const MAX_BROKERS = { error: 'one to 20 brokers' };

export const kafka = defineIntegration({
  kind: 'kafka',
  role: 'topics',
  title: 'Kafka topics',
  summary: 'Carillon reads the records of your topics: events as JSON, or changes from Debezium.',
  description:
    'A Kafka cluster whose topics streams read (`from`). Carillon keeps its own positions and joins no consumer group.',
  setup: null,
  checkNote: 'Carillon connects and looks at the cluster, the topics and the schema registry. It changes nothing.',
  keys: {
    brokers: said(z.array(broker).min(1, MAX_BROKERS).max(20, MAX_BROKERS), {
      description:
        'Brokers to begin with; the others are learned from them. A private address, also 127.0.0.1, counts only where `allowed_private_addresses` of the deployment lists it.',
      example: ['kafka-1:9092', 'kafka-2:9092'],
      form: { label: 'Brokers', note: 'host:port, one per line. Carillon finds the other brokers by itself.' },
    }),
    sasl: said(
      saslOf('Reference to the password; never the password itself.', {
        mechanism: {
          label: 'Sign-in',
          note: 'How Carillon signs in to the brokers.',
          options: {
            '': 'No sign-in',
            plain: 'PLAIN',
            'scram-sha-256': 'SCRAM-SHA-256',
            'scram-sha-512': 'SCRAM-SHA-512',
          },
        },
        username: { label: 'User name' },
        password: { label: 'Password', ending: 'PASSWORD' },
      }).exactOptional(),
      { description: 'How Carillon proves who it is.' },
    ),
    tls: said(
      keys({
        ca: said(secret.exactOptional(), {
          description: 'Reference to the certificate of the authority that signed the brokers’ certificates, as PEM.',
          otherwise: 'the public authorities',
          example: { secret: 'BUS_CA' },
          form: {
            label: 'Certificate authority',
            ending: 'CA',
            isLong: true,
            isRare: true,
            note: 'PEM. Needed if no public authority signed the certificates of the brokers.',
          },
        }),
      }).exactOptional(),
      {
        description:
          'Reach the brokers by TLS: `tls: {}`, or with an authority of your own. Outside private addresses the connection always uses TLS.',
      },
    ),
    registry: said(
      keys({
        url: said(urlOf(/^https?:\/\/[^\s?#]+$/i, 'https://registry.example.com'), {
          description: 'Address of the schema registry.',
          example: 'https://registry.example.com',
          form: { label: 'Schema registry', isRare: true, note: 'Needed for Avro.' },
        }),
        username: said(text(256).exactOptional(), {
          description: 'User name, if the broker requires one.',
          form: { label: 'User name at the registry', isRare: true },
        }),
        password: said(secret.exactOptional(), {
          description: 'Reference to the password; never the password itself.',
          form: { label: 'Password at the registry', ending: 'REGISTRY_PASSWORD', isRare: true },
        }),
      }).exactOptional(),
      { description: 'Schema registry, from which Carillon takes the schemas of Avro records.' },
    ),
  },
  secrets: ({ sasl, tls, registry }) =>
    [sasl?.password, tls?.ca, registry?.password].filter((reference) => reference !== undefined),
});
