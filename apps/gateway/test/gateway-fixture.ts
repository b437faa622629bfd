import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:net';
import {
  CHANGED_BY_OWNER,
  deploymentRef,
  EMPTY_CONFIGURATION,
  foldConfiguration,
  type ApiKeyBody,
  type Configuration,
  type IntegrationBody,
  type ResourceChange,
  type AccountOf,
  type StreamBody,
} from '@carillon/domain/configuration';
import type { LogRecord, TopicName } from '@carillon/ports';
import type { HttpLogFacts } from '@carillon/runtime';
import { openGatewayBackend, type GatewayBackend } from '../../../test/support/gateway-backend.ts';
import {
  startGateway,
  type GatewayConfig,
  type GatewayPorts,
  type GatewayTelemetry,
  type RunningGateway,
} from '../src/index.ts';

/** Keys of the workspaces, by name: whole, as a client holds them. */
export type Keys = Readonly<Record<'backend' | 'other' | 'expired' | 'future' | 'blog' | 'revoked', string>>;

export type Fixture = {
  readonly backend: GatewayBackend;
  readonly keys: Keys;
  readonly configuration: { current: Configuration; readToEndAt: () => number; refresh: () => Promise<void> };
  /** What gateways report to by default. */
  readonly telemetry: GatewayTelemetry;
  /** What was logged, as text. */
  readonly logged: string[];
  /** What an operator was told of cohorts. */
  readonly alerts: string[];
  /** What became of mails that were brought to the bounce listener. */
  readonly returned: string[];
  start(config?: Partial<GatewayConfig>, ports?: Partial<GatewayPorts>): Promise<RunningGateway>;
  /** All records of the event log, or of another topic. */
  records(topic?: TopicName): Promise<readonly LogRecord[]>;
  /** Ends the gateways that were started since the last time. */
  stopGateways(): Promise<void>;
};

const stream = (name: string, body: StreamBody): ResourceChange => ({
  ref: { kind: 'stream', workspace: 'shop', name },
  based_on: null,
  body,
});

/** What `{ secret: NAME }` stands for. */
const secrets: Readonly<Record<string, string>> = {
  FIRST: 'first-secret',
  SECOND: 'second-secret',
  CREDENTIALS: 'user:pass',
  DEBEZIUM: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
};

const authorization = { key: { secret: 'FIRST' }, second_key: { secret: 'SECOND' } };
const integration = (name: string, body: IntegrationBody): ResourceChange => ({
  ref: { kind: 'integration', workspace: 'shop', name },
  based_on: null,
  body,
});
const INTEGRATIONS: readonly ResourceChange[] = [
  integration('mixpanel', { kind: 'mixpanel', authorization }),
  integration('by-email', { kind: 'mixpanel', authorization, user_id: 'email' }),
  integration('amplitude', { kind: 'amplitude', authorization }),
  integration('segment', { kind: 'segment', authorization, first_sync_lasts: '2h' }),
  integration('batches', { kind: 'segment', authorization, batches: true }),
  integration('generic', { kind: 'generic', authorization }),
  integration('unset', { kind: 'mixpanel', authorization: { key: { secret: 'UNSET' } } }),
  integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'FIRST' } } }),
  integration('shop-db', { kind: 'postgres', url: { secret: 'UNSET' } }),
];

const account = (name: string, receipts: NonNullable<AccountOf<'smtp'>['receipts']>): ResourceChange => ({
  ref: { kind: 'account', workspace: 'shop', name },
  based_on: null,
  body: { kind: 'smtp', host: 'smtp.example.com', port: 587, from: 'shop@example.com', receipts },
});
/** What SendGrid signs with. */
export const SENDGRID = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
/** How the world reaches this gateway. */
export const PUBLIC_URL = 'https://notify.example.com/carillon';
const twilio = (secret: string): AccountOf<'twilio'> => ({
  kind: 'twilio',
  account_sid: 'AC0123456789abcdef0123456789abcdef',
  auth_token: { secret },
  from: '+4915100000000',
});
const DEPLOYMENT: ResourceChange = {
  ref: deploymentRef,
  based_on: null,
  body: { public_url: `${PUBLIC_URL}/`, accounts: { sms: [{ name: 'main', ...twilio('FIRST') }] } },
};
const ownTwilio = (name: string, secret: string): ResourceChange => ({
  ref: { kind: 'account', workspace: 'shop', name },
  based_on: null,
  body: twilio(secret),
});
const ACCOUNTS: readonly ResourceChange[] = [
  DEPLOYMENT,
  ownTwilio('sms', 'FIRST'),
  ownTwilio('other', 'SECOND'),
  account('mailgun', { kind: 'mailgun', signing_key: { secret: 'FIRST' } }),
  account('other-mailgun', { kind: 'mailgun', signing_key: { secret: 'SECOND' } }),
  account('twin-mailgun', { kind: 'mailgun', signing_key: { secret: 'FIRST' } }),
  account('unset', { kind: 'mailgun', signing_key: { secret: 'UNSET' } }),
  account('postmark', { kind: 'postmark', credentials: { secret: 'CREDENTIALS' } }),
  account('ses', { kind: 'ses', topic: 'arn:aws:sns:eu-central-1:123456789012:carillon' }),
  account('sendgrid', {
    kind: 'sendgrid',
    public_key: SENDGRID.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  }),
];

const STREAMS: readonly ResourceChange[] = [
  stream('changes', { from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } } }),
  stream('orders', { security: { api_keys: ['backend', 'expired', 'future'] } }),
  stream('signed', { format: 'debezium', key: 'event.id', security: { webhook_secret: { secret: 'DEBEZIUM' } } }),
  stream('envelopes', { format: 'debezium', key: 'event.id', security: { api_keys: ['backend'] } }),
  stream('unset', { format: 'debezium', key: 'event.id', security: { webhook_secret: { secret: 'UNSET' } } }),
  stream('short', { format: 'debezium', key: 'event.id', security: { webhook_secret: { secret: 'FIRST' } } }),
  stream('private', { security: { api_keys: ['other'] } }),
  stream('keyed', { key: 'event.customer.id', time: 'event.at', security: { api_keys: ['backend'] } }),
  stream('slow', { rate: { per_second: 0.5, burst: 2 }, security: { api_keys: ['backend'] } }),
  stream('pages', { cors_origins: ['https://shop.example'], security: { api_keys: ['backend'] } }),
];

/** Telemetry that records nothing. */
export const SILENT_TELEMETRY: GatewayTelemetry = {
  startRequest: (traceparent) => ({ traceparent, event: () => undefined, end: () => undefined }),
  accepted: () => undefined,
  envelope: () => undefined,
  refused: () => undefined,
  appended: () => undefined,
  answered: () => undefined,
  cutOff: () => undefined,
  takesMail: () => undefined,
  returned: () => undefined,
  trouble: () => undefined,
  partnerAlert: () => undefined,
  membersSkipped: () => undefined,
  callsPassedOver: () => undefined,
};

/** A real log, a configuration with every kind of stream and key, and gateways over both. */
export async function prepareFixture(): Promise<Fixture> {
  const backend = await openGatewayBackend();
  const { apiKeys, codecs, tokens, keyUses, log, clock, ids, receipts, cohortReaders, bounceMail } = backend;
  const running: RunningGateway[] = [];
  const logged: string[] = [];
  const alerts: string[] = [];
  const returned: string[] = [];
  const changes: ResourceChange[] = [...STREAMS, ...INTEGRATIONS, ...ACCOUNTS];
  const addKey = (workspace: string, name: string, more: Partial<ApiKeyBody> = {}): string => {
    const { key, keyId, digest } = apiKeys.make();
    const body = { key_id: keyId, digest, created_at: '2026-01-01T00:00:00.000Z', ...more };
    changes.push({ ref: { kind: 'api_key', workspace, name }, based_on: null, body });
    return key;
  };
  const keys: Keys = {
    backend: addKey('shop', 'backend'),
    other: addKey('shop', 'other'),
    expired: addKey('shop', 'expired', { expires_at: '2026-01-02T00:00:00.000Z' }),
    future: addKey('shop', 'future', { expires_at: '2999-01-01T00:00:00.000Z' }),
    blog: addKey('blog', 'backend'),
    revoked: apiKeys.make().key,
  };
  const record = { id: 'req_1', at: '2026-01-01T00:00:00.000Z', by: CHANGED_BY_OWNER, changes };
  const configuration: Fixture['configuration'] = {
    current: foldConfiguration(EMPTY_CONFIGURATION, record, 0).configuration,
    readToEndAt: () => clock.now(),
    refresh: async () => undefined,
  };
  const telemetry: GatewayTelemetry = {
    ...SILENT_TELEMETRY,
    returned: (what) => void returned.push(what),
    trouble: (where, error) => void logged.push(`${where} ${String(error)}`),
    partnerAlert: (partner, detail) => void alerts.push(`${partner} ${detail}`),
    membersSkipped: (name, count) => void alerts.push(`${name} skipped ${count}`),
    callsPassedOver: (name, count) => void alerts.push(`${name} passed over ${count}`),
  };
  const httpLog = (facts: HttpLogFacts): void => void logged.push(`${JSON.stringify(facts)} ${String(facts.error)}`);

  return {
    backend,
    keys,
    configuration,
    telemetry,
    logged,
    alerts,
    returned,
    async start(config = {}, ports = {}) {
      const gateway = await startGateway(
        { host: '127.0.0.1', port: 0, closeDeadline: 2000, ...config },
        {
          log,
          clock,
          ids,
          apiKeys,
          codecs,
          secrets: { resolve: async (_workspace, name) => secrets[name] ?? null },
          tokens,
          keyUses,
          bounceMail,
          consents: backend.consents,
          links: backend.links,
          cohortReaders,
          receipts,
          httpLog: { warn: httpLog, error: httpLog },
          telemetry,
          configuration: {
            current: () => configuration.current,
            readToEndAt: () => configuration.readToEndAt(),
            refresh: async () => {
              await configuration.refresh();
              return configuration.current;
            },
          },
          ...ports,
        },
      );
      running.push(gateway);
      return gateway;
    },
    async records(topic = 'carillon.events') {
      const all = Array.from({ length: log.partitions(topic) }, (_, partition) =>
        log.read(topic, partition, 0, 10_000),
      );
      return (await Promise.all(all)).flat();
    },
    async stopGateways() {
      await Promise.all(running.splice(0).map((gateway) => gateway.close()));
    },
  };
}

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
};

export async function post(
  gateway: RunningGateway,
  path: string,
  key: string | null,
  body: string | Uint8Array = '{}',
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await fetch(`${gateway.address}/events/${path}`, {
    method: 'POST',
    body: body as string,
    headers: {
      'content-type': 'application/json',
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as Answer['body'] };
}

/** A connection on which a test says byte by byte what is sent; `answer` is all that came back until it closed. */
export function rawConnection(port: number): {
  send(text: string): void;
  end(): void;
  readonly answer: Promise<string>;
} {
  const socket = connect(port, '127.0.0.1');
  const answer = new Promise<string>((resolve) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
  return { send: (text) => void socket.write(text, 'latin1'), end: () => void socket.destroy(), answer };
}
