import { CarillonError } from '@carillon/kernel';
import { Registry } from 'prom-client';
import { createMetrics, type Metrics } from './metrics.ts';
import { collectorSpans, passingSpans, type Spans } from './spans.ts';

export type TelemetryOptions = {
  /** `carillon-gateway` and so on: the service name of spans. */ readonly serviceName: string;
  readonly serviceVersion?: string | undefined;
  /** Base address of an OTLP/HTTP collector (OTEL_EXPORTER_OTLP_ENDPOINT). Without it no span is recorded. */
  readonly otlpEndpoint?: string | undefined;
  /** Part of new traces that is recorded, 0 to 1; default 1. A trace that came in is recorded if its sampled flag says so. */
  readonly sampleRatio?: number | undefined;
  /** Where metrics are registered; default one of its own. One telemetry per registry. */ readonly registry?:
    | Registry
    | undefined;
};

/** Telemetry of a process besides its log. The roles of `carillon up` share one. */
export type Telemetry = {
  readonly spans: Spans;
  readonly metrics: Metrics;
  /** Prometheus text, for `/metrics`. */ readonly metricsText: () => Promise<string>;
  readonly metricsContentType: string;
  /** Sends what is left of the spans, waiting at most 5 s. Never rejects. */ readonly close: () => Promise<void>;
};

export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { serviceName, serviceVersion, otlpEndpoint, sampleRatio = 1, registry = new Registry() } = options;
  if (!(sampleRatio >= 0 && sampleRatio <= 1)) {
    throw new CarillonError('invalid_configuration', `The sample ratio must be from 0 to 1, found ${sampleRatio}`);
  }
  const { metrics, text } = createMetrics(registry);
  const exports = {
    true: metrics.spanExports.with({ result: 'ok' }),
    false: metrics.spanExports.with({ result: 'failed' }),
  };
  const collector = otlpEndpoint
    ? collectorSpans({
        serviceName,
        serviceVersion,
        otlpEndpoint,
        sampleRatio,
        exported: (succeeded) => exports[`${succeeded}`].inc(),
      })
    : undefined;
  return {
    spans: collector?.spans ?? passingSpans,
    metrics,
    metricsText: text,
    metricsContentType: registry.contentType,
    close: async () => collector?.close(),
  };
}
