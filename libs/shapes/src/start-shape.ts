import { z } from 'zod';
import { broker, saslOf, urlOf } from './broker-shapes.ts';
import { keys, said, secret, text } from './shape-parts.ts';

/** `tls` of a connection. Files are read when a process starts. */
const tls = keys({
  ca_file: said(text(4096).exactOptional(), {
    description: 'File with the authorities that may have signed the other side (PEM).',
    otherwise: 'those that Node trusts',
    example: '/etc/carillon/ca.pem',
  }),
  cert_file: said(text(4096).exactOptional(), {
    description: 'File with the client certificate, if the broker requires one.',
  }),
  key_file: said(text(4096).exactOptional(), { description: 'File with the key of our own certificate.' }),
});

/** An address of this machine and a port: `127.0.0.1:7425`, `[::1]:7425`, `mail.internal:25`. */
export const LISTEN = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):(\d{1,5})$/;

const username = said(text(256).exactOptional(), { description: 'User name, if the broker requires one.' });
const password = said(secret.exactOptional(), { description: 'Reference to the password: an environment variable.' });

/**
 * Keys of carillon.yaml with the location of log and stores. A process reads them when it starts (`--config`), after
 * the environment variables. `apply` ignores them.
 */
export const startKeys = {
  backend: said(z.enum(['embedded', 'cluster']).exactOptional(), {
    description:
      'Where log and stores are: `embedded` is one SQLite file in the data folder; `cluster` is Kafka, MongoDB and a schema registry.',
    otherwise: '`cluster` where brokers are named, else `embedded`',
  }),
  brokers: said(z.array(broker).min(1, { error: 'at least one broker' }).exactOptional(), {
    description: 'Kafka brokers to begin with; the others are learned from them.',
    example: ['kafka-1:9092', 'kafka-2:9092', 'kafka-3:9092'],
  }),
  single_broker: said(z.boolean().exactOptional(), {
    description: 'Accept topics with one copy: a lost disk loses the log. `doctor` reports it.',
    default: false,
  }),
  kafka: said(
    keys({
      tls: said(tls.exactOptional(), { description: 'Reach brokers by TLS; `tls: { ca_file: … }`.' }),
      sasl: said(saslOf('Reference to the password: an environment variable.').exactOptional(), {
        description: 'How we prove who we are.',
      }),
    }).exactOptional(),
    { description: 'How brokers are reached.' },
  ),
  stores: said(
    keys({
      url: said(urlOf(/^mongodb(?:\+srv)?:\/\/\S+$/, 'mongodb://mongo-1:27017/?replicaSet=rs0'), {
        description: 'MongoDB, or what speaks its protocol.',
        example: 'mongodb://mongo-1:27017,mongo-2:27017,mongo-3:27017/?replicaSet=rs0',
      }),
      database: said(
        z
          .string()
          .regex(/^[A-Za-z0-9_-]{1,63}$/, { error: 'a name of A-Z, a-z, 0-9, _ and -' })
          .exactOptional(),
        {
          description: 'Name of the database; it holds nothing but this deployment.',
          default: 'carillon',
        },
      ),
      username,
      password,
      tls: said(tls.exactOptional(), { description: 'Reach it by TLS.' }),
    }).exactOptional(),
    { description: 'Where the stores are.' },
  ),
  allowed_private_addresses: said(
    z
      .array(z.string().regex(/^[0-9a-fA-F.:]+(?:\/\d{1,3})?$/, { error: 'a range such as 10.0.0.0/8' }))
      .exactOptional(),
    {
      description:
        'Private addresses that workspaces may reach: partners, key sets, mail servers, databases. Partners and key sets there may use `http` and any port.',
      default: [],
      example: ['10.0.0.0/8', 'fd00::/8'],
    },
  ),
  trusted_proxies: said(
    z
      .array(z.string().regex(/^[0-9a-fA-F.:]+(?:\/\d{1,3})?$/, { error: 'an address, or a range such as 10.0.0.0/8' }))
      .exactOptional(),
    {
      description:
        'Addresses of the proxies in front of gateway and control, whose `X-Forwarded-For` and `X-Forwarded-Proto` count. List proxies only, because a listed host can claim any address.',
      default: [],
      example: ['127.0.0.1', '10.1.0.0/16'],
    },
  ),
  workspace_secrets: said(
    z
      .array(
        z.string().regex(/^(?:[a-z0-9-]+\/)?[A-Z][A-Z0-9_]*$/, { error: 'NAME, or workspace/NAME for one workspace' }),
      )
      .exactOptional(),
    {
      description:
        'Variables that workspaces read by `{ secret: NAME }`, for all of them or as `workspace/NAME` for one. `CARILLON_SECRET_SHOP__CRM_KEY` needs no listing.',
      default: [],
      example: ['SHARED_SMTP_PASSWORD', 'shop/CRM_KEY'],
    },
  ),
  bounces: said(
    keys({
      listen: said(z.string().regex(LISTEN, { error: 'host:port, such as 127.0.0.1:7425' }), {
        description: 'Listener of the gateway for bounce mail.',
        example: '127.0.0.1:7425',
      }),
      protocol: said(z.enum(['lmtp', 'smtp']).exactOptional(), {
        description:
          '`lmtp` behind a mail server of yours, such as Postfix; `smtp` where an MX record names the gateway.',
        default: 'lmtp',
      }),
    }).exactOptional(),
    { description: 'Delivery reports by mail. Without it none are accepted.' },
  ),
  schema_registry: said(
    keys({
      url: said(urlOf(/^https?:\/\/\S+$/, 'http://registry:8081'), {
        description: 'Interface of a registry that speaks Confluent’s; Apicurio has it at `/apis/ccompat/v7`.',
        example: 'http://registry:8080/apis/ccompat/v7',
      }),
      username,
      password,
      tls: said(tls.exactOptional(), { description: 'Certificates, where the address is https.' }),
    }).exactOptional(),
    { description: 'Where the schemas of derived records are.' },
  ),
};
