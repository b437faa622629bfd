import { createRequire } from 'node:module';
import { CarillonError, formatTraceparent, isSampled, parseTraceparent, type TraceContext } from '@carillon/kernel';
import type * as Api from '@opentelemetry/api';
import type * as Exporter from '@opentelemetry/exporter-trace-otlp-proto';
import type * as Resources from '@opentelemetry/resources';
import type * as Sdk from '@opentelemetry/sdk-trace';
import { typeOf } from './error-notes.ts';
import { cut, scrub } from './scrub.ts';
import {
  SPAN_ATTRIBUTES,
  type SpanAttributeName,
  type SpanAttributes,
  type SpanAttributeValue,
  type SpanName,
} from './span-names.ts';
import { newTraceContext } from './new-trace.ts';

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';
export type SpanOptions = {
  /** The traceparent that came with the work. A valid one is continued, and recorded only if its sampled flag is set. */
  readonly traceparent?: string | null | undefined;
  readonly kind?: SpanKind | undefined;
  readonly attributes?: SpanAttributes | undefined;
  /**
   * Traceparents of a batch's records, because a batch has no single parent. With links, the span is recorded only if
   * one is sampled.
   */
  readonly links?: readonly (string | null | undefined)[] | undefined;
};

/** One unit of work in a trace. Every span has a traceparent to pass on, whether it is recorded or not. */
export type Span = {
  readonly recording: boolean;
  /** Value for subsequent calls and records. An unrecorded span returns the incoming value. */
  traceparent(): string;
  setAttribute(name: SpanAttributeName, value: SpanAttributeValue): void;
  /** Marks it as failed with the kind of the error. Its text stays out: it may hold what a trace must not. */
  fail(error: unknown): void;
  /** Once; later calls change nothing. */
  end(): void;
};
export type Spans = { start(name: SpanName, options?: SpanOptions): Span };

/**
 * Spans without a collector: nothing is recorded, incoming traces pass through, and new work gets an unsampled
 * traceparent.
 */
export const passingSpans: Spans = {
  start: (_name, options) => passing(parseTraceparent(options?.traceparent) ? options?.traceparent : undefined),
};

function passing(incoming: string | null | undefined): Span {
  let own = incoming;
  return {
    recording: false,
    traceparent: () => (own ??= formatTraceparent(newTraceContext(false))),
    setAttribute() {},
    fail() {},
    end() {},
  };
}

export type CollectorOptions = {
  readonly serviceName: string;
  readonly serviceVersion?: string | undefined;
  /** Base address of an OTLP/HTTP collector; `/v1/traces` is appended. */ readonly otlpEndpoint: string;
  /** Part of new traces that is recorded, 0 to 1. */ readonly sampleRatio: number;
  /** Told of every export: whether the collector took it. */ readonly exported: (succeeded: boolean) => void;
};
export type Collector = { readonly spans: Spans; close(): Promise<void> };

const LINKS = 128;
const EXPORT_TIMEOUT_MS = 5000;

/** Spans that are sent in batches, OTLP/HTTP protobuf, to a collector. Nothing is registered globally. */
export function collectorSpans(options: CollectorOptions): Collector {
  const { api, sdk, exporter, resources } = loadSdk();
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        'service.name': options.serviceName,
        ...(options.serviceVersion === undefined ? {} : { 'service.version': options.serviceVersion }),
      }),
    ),
    // We decide before we call the SDK, because asking it costs more than parsing a flag.
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: counted(
          new exporter.OTLPTraceExporter({ url: tracesUrl(options.otlpEndpoint), timeoutMillis: EXPORT_TIMEOUT_MS }),
          options.exported,
        ),
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('carillon', options.serviceVersion);
  const contextOf = ({ traceId, spanId, sampled }: TraceContext) => ({
    traceId,
    spanId,
    traceFlags: sampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
    isRemote: true,
  });

  return {
    spans: {
      start(name, { traceparent, kind = 'internal', attributes = {}, links } = {}) {
        const parent = parseTraceparent(traceparent);
        if (parent && !parent.sampled) return passing(traceparent);
        const linked = links?.filter(isSampled).slice(0, LINKS);
        if (!parent && (linked ? linked.length === 0 : Math.random() >= options.sampleRatio)) return passing(undefined);
        const root = api.ROOT_CONTEXT;
        const span = tracer.startSpan(
          name,
          {
            kind: api.SpanKind[kind.toUpperCase() as keyof typeof Api.SpanKind],
            attributes: safeAttributes(attributes),
            links: (linked ?? []).flatMap((text) => {
              const context = parseTraceparent(text);
              return context ? [{ context: contextOf(context) }] : [];
            }),
          },
          parent ? api.trace.setSpanContext(root, contextOf(parent)) : root,
        );
        return recorded(span, api.SpanStatusCode.ERROR);
      },
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, EXPORT_TIMEOUT_MS);
      });
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      clearTimeout(timer);
    },
  };
}

function recorded(span: Api.Span, failed: Api.SpanStatusCode.ERROR): Span {
  let ended = false;
  const { traceId, spanId } = span.spanContext();
  return {
    recording: true,
    traceparent: () => formatTraceparent({ traceId, spanId, sampled: true }),
    setAttribute(name, value) {
      if (!ended) span.setAttributes(safeAttributes({ [name]: value }));
    },
    fail(error) {
      if (ended) return;
      const type = typeOf(error);
      span.setAttribute('error.type', type);
      span.setStatus({ code: failed, message: type });
    },
    end() {
      if (!ended) span.end();
      ended = true;
    },
  };
}

/** Only names of the table, and values without addresses or secrets. */
function safeAttributes(attributes: SpanAttributes): Record<string, SpanAttributeValue> {
  const safe: Record<string, SpanAttributeValue> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (Object.hasOwn(SPAN_ATTRIBUTES, name)) safe[name] = typeof value === 'string' ? cut(scrub(value), 200) : value;
  }
  return safe;
}

function tracesUrl(endpoint: string): string {
  const base = URL.parse(endpoint);
  if (!base || !/^https?:$/.test(base.protocol)) {
    throw new CarillonError(
      'invalid_configuration',
      'The OTLP endpoint must be an address such as http://127.0.0.1:4318 (OTEL_EXPORTER_OTLP_ENDPOINT)',
    );
  }
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/v1/traces`;
  return base.href;
}

/**
 * Counts exports. Otherwise an unavailable collector would go unnoticed, because the SDK reports it only in its own
 * diagnostics.
 */
function counted(exporter: Sdk.SpanExporter, exported: (succeeded: boolean) => void): Sdk.SpanExporter {
  return {
    export(spans: Sdk.ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        exported((result.code as number) === 0);
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The SDK takes a tenth of a second to load. It is loaded only when there is a collector, and without making every caller wait on a promise. */
function loadSdk() {
  const load = createRequire(import.meta.url);
  return {
    api: load('@opentelemetry/api') as typeof Api,
    sdk: load('@opentelemetry/sdk-trace') as typeof Sdk,
    exporter: load('@opentelemetry/exporter-trace-otlp-proto') as typeof Exporter,
    resources: load('@opentelemetry/resources') as typeof Resources,
  };
}
