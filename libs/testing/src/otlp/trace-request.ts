import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

export type ReceivedAttributes = Readonly<Record<string, string | number | boolean>>;
/** A span as a collector sees it. Ids are hex, as in a traceparent. */
export type ReceivedSpan = {
  readonly name: string;
  readonly kind: 'unspecified' | 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root of a trace. */ readonly parentSpanId: string | null;
  readonly attributes: ReceivedAttributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly events: readonly { readonly name: string; readonly attributes: ReceivedAttributes }[];
  readonly status: 'unset' | 'ok' | 'error';
  readonly statusMessage: string;
  /** Nanoseconds since 1970. */ readonly startedAt: bigint;
  readonly endedAt: bigint;
  /** Name of the instrumentation scope. */ readonly scope: string;
  /** Attributes of the resource, `service.name` among them. */ readonly resource: ReceivedAttributes;
};

const REQUEST = 'opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest';
const RESPONSE = 'opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse';
const SERVICE = 'opentelemetry/proto/collector/trace/v1/trace_service.proto';

/** The official definitions (see proto/README.md), read as they are. */
const definitions = loadDefinitions();

function loadDefinitions(): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => fileURLToPath(new URL(`proto/${target}`, import.meta.url));
  root.loadSync(SERVICE).resolveAll();
  return root;
}

/** Reads the body of a POST to /v1/traces. Throws for bytes that are not a trace request. */
export function readTraceRequest(body: Uint8Array): readonly ReceivedSpan[] {
  const type = definitions.lookupType(REQUEST);
  const request = type.toObject(type.decode(body), { defaults: true, longs: String, enums: String }) as WireRequest;
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => spanOf(span, scope?.name ?? '', attributesOf(resource?.attributes ?? []))),
    ),
  );
}

/** A collector's answer when it took everything. */
export const encodeTraceResponse = (): Uint8Array => definitions.lookupType(RESPONSE).encode({}).finish();

type WireValue = {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
};
type WireAttributes = readonly { readonly key: string; readonly value: WireValue | null }[];
type WireSpan = {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: WireAttributes;
  readonly events: readonly { readonly name: string; readonly attributes: WireAttributes }[];
  readonly links: readonly { readonly traceId: Uint8Array; readonly spanId: Uint8Array }[];
  readonly status: { readonly code: string; readonly message: string } | null;
};
type WireRequest = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: WireAttributes } | null;
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string } | null;
      readonly spans: readonly WireSpan[];
    }[];
  }[];
};

function spanOf(span: WireSpan, scope: string, resource: ReceivedAttributes): ReceivedSpan {
  return {
    name: span.name,
    kind: span.kind.replace('SPAN_KIND_', '').toLowerCase() as ReceivedSpan['kind'],
    traceId: idOf(span.traceId, 16),
    spanId: idOf(span.spanId, 8),
    parentSpanId: span.parentSpanId.length === 0 ? null : idOf(span.parentSpanId, 8),
    attributes: attributesOf(span.attributes),
    links: span.links.map((link) => ({ traceId: idOf(link.traceId, 16), spanId: idOf(link.spanId, 8) })),
    events: span.events.map((event) => ({ name: event.name, attributes: attributesOf(event.attributes) })),
    status: (span.status?.code ?? 'STATUS_CODE_UNSET')
      .replace('STATUS_CODE_', '')
      .toLowerCase() as ReceivedSpan['status'],
    statusMessage: span.status?.message ?? '',
    startedAt: BigInt(span.startTimeUnixNano),
    endedAt: BigInt(span.endTimeUnixNano),
    scope,
    resource,
  };
}

/** OTLP fixes the lengths of ids; a collector refuses others. */
function idOf(bytes: Uint8Array, length: number): string {
  if (bytes.length !== length) throw new Error(`an id has ${bytes.length} bytes, not ${length}`);
  return Buffer.from(bytes).toString('hex');
}

function attributesOf(attributes: WireAttributes): ReceivedAttributes {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, scalarOf(key, value ?? {})]));
}

function scalarOf(
  key: string,
  { stringValue, boolValue, intValue, doubleValue }: WireValue,
): string | number | boolean {
  const value = stringValue ?? boolValue ?? doubleValue ?? (intValue === undefined ? undefined : Number(intValue));
  if (value === undefined) throw new Error(`attribute ${key} is not a text, number or boolean`);
  return value;
}
