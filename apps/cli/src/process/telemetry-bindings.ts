import type { TokenVerifierOptions } from '@carillon/adapter-jwks';
import type { KafkaLogLine } from '@carillon/adapter-kafka';
import type { ControlPorts } from '@carillon/control';
import type { DeliveryPorts } from '@carillon/delivery';
import type { EngineWatch } from '@carillon/engine';
import type { ChannelName } from '@carillon/domain/channels';
import { LOCALITY_VARIABLES } from '@carillon/domain/configuration';
import type { ProviderVerdict } from '@carillon/domain/deliveries';
import { CUT_OFF_REASONS, RETURNED_MAIL, type GatewayTelemetry } from '@carillon/gateway';
import { ERRORS, formatInstant, isCarillonError, stopsPartition } from '@carillon/kernel';
import {
  createLogger,
  createTelemetry,
  type BatchBegun,
  type ConsumerWatch,
  type HttpLog,
  type Logger,
  type LogLevel,
  type ReadinessCheck,
  type Telemetry,
} from '@carillon/runtime';
import { systemClock } from '@carillon/adapter-system';
import { VERSION } from '../version.ts';
import type { ProcessSettings } from './settings.ts';
import { watchRuns } from './watch-runs.ts';
import { watchSources } from './watch-sources.ts';

const LEVELS: Readonly<Record<ProcessSettings['logLevel'], LogLevel>> = {
  debug: 'debug',
  info: 'info',
  warn: 'warning',
  error: 'error',
};

/** Connects the roles to logs, metrics and traces. No other file does. */
export function createWatches(config: ProcessSettings, serviceName: string) {
  const logger = createLogger({ level: LEVELS[config.logLevel] });
  const telemetry = createTelemetry({
    serviceName,
    serviceVersion: VERSION,
    otlpEndpoint: config.otlpEndpoint ?? undefined,
    sampleRatio: config.traceRatio,
  });
  const trouble = (where: string, error: unknown): void =>
    logger.error({ component: where, error }, 'work failed and will be tried again');
  // The client retries failures, and waiting callers report them, so these lines only help to find a cause.
  const kafkaSaid = ({ level, message }: KafkaLogLine): void => {
    const log = level === 'error' ? logger.info : logger.debug;
    log({ component: 'kafka client' }, message);
  };
  const passedOver = (position: number, detail: string): void =>
    logger.warn(
      { topic: 'carillon.config', partition: 0, position, detail },
      'skipped a record that Carillon did not write',
    );
  /** Partitions that stand still, by group and topic. */
  const stopped = new Map<string, Set<number>>();
  const facts: (() => ReadinessCheck)[] = [];
  const consumer = watchConsumer(telemetry, logger, stopped);
  const control: ControlPorts['watch'] = {
    ...consumer,
    trouble,
    sealed: ({ through, hash, mac }, contents) =>
      logger.info(
        { topic: 'carillon.audit', position: through, seal_hash: hash, seal_contents: contents, seal_mac: mac },
        'the audit is sealed',
      ),
  };
  const platforms = watchPlatforms(telemetry, logger);
  const engine: EngineWatch = {
    ...consumer,
    ...watchAsking(telemetry),
    ...watchSources(telemetry, logger, systemClock),
    ...platforms,
    trouble,
  };
  return {
    logger,
    telemetry,
    trouble,
    passedOver,
    kafkaSaid,
    // Made for the role that they belong to: a counter at 0 says that this process would count.
    delivery: (): DeliveryPorts['watch'] => ({
      ...consumer,
      ...watchAttempts(telemetry, logger),
      trouble,
      sends: (check) => void facts.push(check),
    }),
    engine,
    control,
    runs: () => watchRuns(telemetry),
    gateway: (): GatewayTelemetry => ({
      ...watchGateway(telemetry),
      ...platforms,
      trouble,
      takesMail: (check) => void facts.push(check),
    }),
    /** Readiness facts of the roles, for `/readyz`: a listener besides HTTP, whether sending has begun. */
    facts: (): readonly ReadinessCheck[] => facts.map((check) => check()),
    /**
     * Returns the stopped partitions, such as `engine:carillon.events/3`. They stay stopped until a person has acted.
     */
    stopped: (): readonly string[] =>
      [...stopped].flatMap(([group, partitions]) => [...partitions].map((partition) => `${group}/${partition}`)),
    tokens: watchTokens(telemetry, logger),
    httpLog: { warn: logger.warn, error: logger.error } satisfies HttpLog,
    close: () => telemetry.close(),
  };
}
export type Watches = ReturnType<typeof createWatches>;

function watchConsumer(
  { metrics, spans }: Telemetry,
  logger: Logger,
  stopped: Map<string, Set<number>>,
): ConsumerWatch {
  return {
    // Counters start at zero, because Prometheus does not see the first increment of a new counter.
    consumes({ group, topic, stage }) {
      metrics.consumerFailures.with({ group }).inc(0);
      metrics.deadLetters.with({ stage }).inc(0);
      metrics.partitionsStopped.with({ group: `${group}:${topic}` }).set(0);
    },
    begun(batch: BatchBegun) {
      const startedAt = performance.now();
      const span = spans.start('stage.batch', {
        kind: 'consumer',
        links: batch.records.map((record) => record.headers['traceparent']),
        attributes: {
          'carillon.stage': batch.stage,
          'messaging.destination.name': batch.topic,
          'messaging.destination.partition.id': String(batch.partition),
          'messaging.batch.message_count': batch.records.length,
        },
      });
      return (ended) => {
        if ('error' in ended) span.fail(ended.error);
        else {
          for (const [result, count] of Object.entries(ended.fates)) {
            metrics.records.with({ stage: batch.stage, result }).inc(count);
            if (result === 'parked') metrics.deadLetters.with({ stage: batch.stage }).inc(count);
          }
          if (ended.ruleErrors > 0) metrics.ruleErrors.inc(ended.ruleErrors);
          for (const { workspace, rule, reason, count } of ended.dropped) {
            metrics.recipientsDropped.with({ rule: `${workspace}/${rule}`, reason }).inc(count);
          }
          for (const { workspace, rule, decision, count } of ended.decided) {
            metrics.ruleDecisions.with({ rule: `${workspace}/${rule}`, decision }).inc(count);
          }
          const group = `${batch.group}:${batch.topic}`;
          if (ended.lag !== null) {
            metrics.consumerLagRecords.with({ group, partition: String(batch.partition) }).set(ended.lag);
          }
        }
        metrics.stageBatchSeconds.with({ stage: batch.stage }).observe((performance.now() - startedAt) / 1000);
        span.end();
      };
    },
    failed({ group, partition, error }) {
      metrics.consumerFailures.with({ group }).inc();
      // Failures that need a person are errors. Failures that end by themselves are warnings.
      const needsPerson = stopsPartition(error) || (isCarillonError(error) && error.code === 'wrong_key');
      const log = needsPerson ? logger.error : logger.warn;
      log(
        { group, partition, error },
        needsPerson ? 'partition stopped: it needs a person' : 'batch failed, trying again',
      );
    },
    stopped({ group, topic, partition }) {
      const name = `${group}:${topic}`;
      const gauge = metrics.partitionsStopped.with({ group: name });
      const partitions = stopped.get(name) ?? new Set();
      stopped.set(name, partitions.add(partition));
      gauge.set(partitions.size);
      return () => {
        partitions.delete(partition);
        gauge.set(partitions.size);
      };
    },
    left: ({ group, topic, partition }) =>
      metrics.consumerLagRecords.with({ group: `${group}:${topic}`, partition: String(partition) }).remove(),
    skipped({ group, partition, records }) {
      logger.error({ group, partition, count: records }, 'records left the log (retention) before they were read');
    },
  };
}

const CHANNELS = Object.keys({ email: 0, sms: 0, push: 0 } satisfies Record<ChannelName, 0>);
const VERDICTS = Object.keys({
  accepted: 0,
  refused_recipient: 0,
  refused_content: 0,
  refused_account: 0,
  throttled: 0,
  transient: 0,
  ambiguous: 0,
} satisfies Record<ProviderVerdict, 0>);

type AttemptWatch = Pick<DeliveryPorts['watch'], 'attempt' | 'queued' | 'alert' | 'accountState'>;

function watchAttempts({ metrics, spans }: Telemetry, logger: Logger): AttemptWatch {
  for (const channel of CHANNELS) for (const verdict of VERDICTS) metrics.attempts.with({ channel, verdict }).inc(0);
  for (const variable of LOCALITY_VARIABLES) metrics.wrongLocality.with({ variable }).inc(0);
  return {
    attempt({ id, slot, intent, attempts }) {
      const { channel } = slot;
      const span = spans.start('delivery.attempt', {
        kind: 'client',
        traceparent: intent.traceparent,
        attributes: {
          'carillon.workspace': slot.workspace,
          'carillon.notification': intent.notification,
          'carillon.rule': intent.rule,
          'carillon.event_id': intent.eventId,
          'carillon.trigger_id': intent.triggerId,
          'carillon.intent_id': intent.id,
          'carillon.delivery_id': id,
          'carillon.attempt': attempts.length + 1,
          'carillon.channel': channel,
        },
      });
      return ({ attemptId, account, verdict, seconds, missing, wrongLocality }) => {
        if (attemptId !== null) span.setAttribute('carillon.attempt_id', attemptId);
        span.setAttribute('carillon.verdict', verdict);
        span.end();
        metrics.attempts.with({ channel, verdict }).inc();
        if (account !== null) {
          const notification = `${slot.workspace}/${intent.notification}`;
          metrics.accountCalls.with({ account, notification, verdict }).inc();
        }
        metrics.attemptSeconds.with({ channel }).observe(seconds);
        if (missing > 0) metrics.templateMissingVariables.inc(missing);
        for (const variable of wrongLocality) metrics.wrongLocality.with({ variable }).inc();
      };
    },
    queued: (bytes) => metrics.queueBytes.set(bytes),
    alert: (account, code, detail) => logger.error({ account, code, detail }, 'a provider account needs attention'),
    accountState(account, is, detail) {
      for (const state of ['suspended', 'failing'] as const)
        metrics.accountState.with({ account, state }).set(state === is ? 1 : 0);
      if (is === 'good') logger.info({ account }, 'a provider account takes messages again');
      else if (is === 'failing') logger.warn({ account, detail }, 'a provider account keeps failing and is paused');
      else
        logger.error(
          { account, detail },
          'a provider account is suspended because it refuses us; it is tried once a minute',
        );
    },
  };
}

type AskingWatch = Pick<EngineWatch, 'call' | 'asking' | 'partnerState'>;

function watchAsking({ metrics, spans }: Telemetry): AskingWatch {
  return {
    call({ partner, workspace, eventId, triggerId, traceparent, linked }) {
      const span = spans.start('partner.call', {
        kind: 'client',
        traceparent,
        links: linked,
        attributes: {
          'carillon.workspace': workspace,
          ...(eventId !== null && { 'carillon.event_id': eventId }),
          ...(triggerId !== null && { 'carillon.trigger_id': triggerId }),
        },
      });
      return ({ outcome, status, seconds }) => {
        span.setAttribute('carillon.result', outcome);
        if (status !== null) span.setAttribute('http.response.status_code', status);
        span.end();
        metrics.lookupCalls.with({ partner, outcome }).inc();
        metrics.lookupSeconds.with({ partner }).observe(seconds);
      };
    },
    partnerState(partner, is) {
      for (const state of ['suspended', 'failing'] as const)
        metrics.partnerState.with({ partner, state }).set(state === is ? 1 : 0);
    },
    asking(bytes, openCalls) {
      metrics.lookupQueueBytes.set(bytes);
      metrics.lookupOpenCalls.set(openCalls);
    },
  };
}

const watchPlatforms = ({ metrics }: Telemetry, logger: Logger) => ({
  partnerAlert: (partner: string, detail: string): void =>
    logger.error({ partner, detail }, 'a partner needs attention'),
  membersSkipped: (integration: string, count: number): void => metrics.membersSkipped.with({ integration }).inc(count),
  callsPassedOver: (integration: string, count: number): void =>
    metrics.callsPassedOver.with({ integration }).inc(count),
});

type RequestWatch = Omit<
  GatewayTelemetry,
  'takesMail' | 'trouble' | 'partnerAlert' | 'membersSkipped' | 'callsPassedOver'
>;

function watchGateway({ metrics, spans }: Telemetry): RequestWatch {
  for (const [code, { status }] of Object.entries(ERRORS))
    if (status >= 500) metrics.eventsRefused.with({ code }).inc(0);
  for (const reason of CUT_OFF_REASONS) metrics.intakeCutOff.with({ reason }).inc(0);
  for (const result of RETURNED_MAIL) metrics.returnedMails.with({ result }).inc(0);
  return {
    startRequest(traceparent, route) {
      const span = spans.start('http.request', {
        kind: 'server',
        traceparent,
        attributes: { 'http.request.method': 'POST', 'http.route': route },
      });
      return {
        traceparent: span.traceparent(),
        event({ id, workspace, stream }) {
          span.setAttribute('carillon.event_id', id);
          span.setAttribute('carillon.workspace', workspace);
          span.setAttribute('carillon.stream', stream);
        },
        end(status) {
          span.setAttribute('http.response.status_code', status);
          span.end();
        },
      };
    },
    cutOff: (reason) => metrics.intakeCutOff.with({ reason }).inc(),
    returned: (result) => metrics.returnedMails.with({ result }).inc(),
    accepted: (stream, count) => metrics.eventsAccepted.with({ stream }).inc(count),
    envelope: (stream, result) => metrics.envelopes.with({ stream, result }).inc(),
    refused: (code) => metrics.eventsRefused.with({ code }).inc(),
    appended: (span) => metrics.appendSeconds.observe(span / 1000),
    answered({ route, problem }) {
      if (problem !== null && route.startsWith('/events/')) metrics.eventsRefused.with({ code: problem }).inc();
    },
  };
}

function watchTokens({ metrics }: Telemetry, logger: Logger): NonNullable<TokenVerifierOptions['watch']> {
  return {
    judged({ workspace, provider, result, stale }) {
      const label = `${workspace}/${provider}`;
      metrics.tokens.with({ provider: label, result }).inc();
      if (stale) metrics.tokensByStaleKeys.with({ provider: label }).inc();
    },
    fetched({ workspace, provider, failure, turned, servesUntil, span }) {
      metrics.keySetFetches
        .with({ provider: `${workspace}/${provider}`, result: failure === null ? 'ok' : 'failed' })
        .inc();
      // An outage is told at its begin and at its end; in between the counters tell.
      if (!turned) return;
      const facts = { workspace, resource: `jwt_provider ${provider}`, duration_ms: span };
      if (failure === null) return logger.info(facts, 'the key set is fetched again');
      const until =
        servesUntil === null ? 'no older keys are known' : `the old keys are used until ${formatInstant(servesUntil)}`;
      logger.warn({ ...facts, detail: `${failure}; ${until}` }, 'the keys of a JWT provider cannot be fetched');
    },
  };
}
