import { context, trace } from '@opentelemetry/api';
import { type OtlpReceiver, startOtlpReceiver } from '@carillon/testing';
import { CarillonError, parseTraceparent } from '@carillon/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpanAttributes } from './span-names.ts';
import { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${SPAN}-01`;
const UNSAMPLED = `00-${TRACE}-${SPAN}-00`;

let receiver: OtlpReceiver;
let opened: Telemetry[] = [];
const telemetry = (options: Partial<TelemetryOptions> = {}): Telemetry => {
  const made = createTelemetry({ serviceName: 'carillon-test', otlpEndpoint: receiver.endpoint, ...options });
  opened.push(made);
  return made;
};
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(async () => {
  for (const one of opened) await one.close();
  opened = [];
  await receiver.close();
});

describe('spans sent to a collector', () => {
  it('carry ids, parents, names, kinds, attributes, links and status', async () => {
    const { spans, close } = telemetry({ serviceVersion: '1.2.3' });
    const request = spans.start('http.request', {
      traceparent: SAMPLED,
      kind: 'server',
      attributes: { 'http.request.method': 'POST', 'http.response.status_code': 202 },
    });
    const append = spans.start('log.append', { traceparent: request.traceparent(), kind: 'producer' });
    append.setAttribute('carillon.stream', 'shop/orders');
    append.fail(new CarillonError('log_unavailable', 'secret words'));
    append.end();
    request.end();
    const batch = spans.start('stage.batch', {
      kind: 'consumer',
      attributes: { 'carillon.stage': 'evaluate', 'messaging.batch.message_count': 3 },
      links: [append.traceparent(), UNSAMPLED, null, 'nonsense', SAMPLED],
    });
    batch.end();
    await close();

    expect(receiver.refused).toEqual([]);
    expect(receiver.spans).toHaveLength(3);
    const found = Object.fromEntries(receiver.spans.map((span) => [span.name, span]));
    const ids = (text: string) => parseTraceparent(text);
    expect(found['http.request']).toMatchObject({
      traceId: TRACE,
      spanId: ids(request.traceparent())?.spanId,
      parentSpanId: SPAN,
      kind: 'server',
      status: 'unset',
      scope: 'carillon',
      attributes: { 'http.request.method': 'POST', 'http.response.status_code': 202 },
      resource: { 'service.name': 'carillon-test', 'service.version': '1.2.3', 'telemetry.sdk.language': 'nodejs' },
    });
    expect(found['log.append']).toMatchObject({
      traceId: TRACE,
      spanId: ids(append.traceparent())?.spanId,
      parentSpanId: ids(request.traceparent())?.spanId,
      kind: 'producer',
      status: 'error',
      statusMessage: 'log_unavailable',
      attributes: { 'carillon.stream': 'shop/orders', 'error.type': 'log_unavailable' },
      events: [],
    });
    expect(found['stage.batch']).toMatchObject({
      parentSpanId: null,
      kind: 'consumer',
      links: [
        { traceId: TRACE, spanId: ids(append.traceparent())?.spanId },
        { traceId: TRACE, spanId: SPAN },
      ],
    });
    for (const { startedAt, endedAt } of receiver.spans) {
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
      expect(Math.abs(Number(startedAt / 1_000_000n) - Date.now())).toBeLessThan(60_000);
    }
  });

  it('are compressed if the standard variable says so', async () => {
    process.env['OTEL_EXPORTER_OTLP_COMPRESSION'] = 'gzip';
    try {
      const { spans, close } = telemetry();
      spans.start('http.request').end();
      await close();
    } finally {
      delete process.env['OTEL_EXPORTER_OTLP_COMPRESSION'];
    }
    expect(receiver.requests.map(({ contentEncoding, spans }) => [contentEncoding, spans.length])).toEqual([
      ['gzip', 1],
    ]);
  });

  it('hold no address, secret or text of an error', async () => {
    const { spans, close } = telemetry();
    const careless = {
      'carillon.rule': 'for anna@example.com',
      body: 'Dear Anna',
      'carillon.attempt': 1,
    } as SpanAttributes;
    const span = spans.start('delivery.attempt', { attributes: careless });
    span.setAttribute('carillon.event_id', `cln_${'k'.repeat(40)}`);
    span.fail(Object.assign(new Error('550 <anna@example.com>'), { code: 'EENVELOPE' }));
    span.end();
    span.setAttribute('carillon.rule', 'late');
    span.end();
    await close();
    expect(receiver.spans[0]).toMatchObject({
      attributes: {
        'carillon.rule': 'for [address]',
        'carillon.event_id': '[key]',
        'carillon.attempt': 1,
        'error.type': 'EENVELOPE',
      },
      statusMessage: 'EENVELOPE',
    });
    expect(Object.keys(receiver.spans[0]?.attributes ?? {})).toHaveLength(4);
    expect(receiver.spans).toHaveLength(1);
  });

  it('are counted, both accepted and refused ones', async () => {
    const taken = telemetry();
    taken.spans.start('http.request').end();
    await taken.close();
    expect(await taken.metricsText()).toContain('carillon_span_exports_total{result="ok"} 1');
    receiver.answer(400);
    const refused = telemetry();
    refused.spans.start('http.request').end();
    await refused.close();
    expect(await refused.metricsText()).toContain('carillon_span_exports_total{result="failed"} 1');
  });

  it('are awaited only briefly on close, which never fails because of them', async () => {
    receiver.answer(503);
    const { spans, close } = telemetry();
    spans.start('http.request').end();
    const started = performance.now();
    await close();
    expect(performance.now() - started).toBeLessThan(60_000);
  });
});

describe('sampling', () => {
  it('passes an unsampled trace through unchanged and sends nothing of it', async () => {
    const { spans, close } = telemetry();
    const odd = `01-${TRACE}-${SPAN}-02-future`;
    for (const traceparent of [UNSAMPLED, odd]) {
      const span = spans.start('http.request', { traceparent, attributes: { 'carillon.stage': 'x' } });
      span.setAttribute('carillon.stage', 'y');
      span.fail(new Error('x'));
      span.end();
      expect(span.recording).toBe(false);
      expect(span.traceparent()).toBe(traceparent);
    }
    spans.start('stage.batch', { links: [UNSAMPLED, null] }).end();
    spans.start('stage.batch', { links: [] }).end();
    await close();
    expect(receiver.spans).toEqual([]);
  });

  it('decides about new traces by ratio, and starts a new one for an invalid traceparent', () => {
    const all = telemetry().spans.start('http.request', { traceparent: 'nonsense' });
    expect(parseTraceparent(all.traceparent())?.sampled).toBe(true);
    const { spans: none } = telemetry({ sampleRatio: 0 });
    expect(parseTraceparent(none.start('http.request').traceparent())?.sampled).toBe(false);
    expect(none.start('http.request', { traceparent: SAMPLED }).recording).toBe(true);
    const { spans: half } = telemetry({ sampleRatio: 0.5 });
    const recorded = Array.from({ length: 1000 }, () => half.start('http.request').recording).filter(Boolean).length;
    expect(recorded).toBeGreaterThan(400);
    expect(recorded).toBeLessThan(600);
  });

  it('without a collector passes on the incoming traceparent, or a valid unsampled one', async () => {
    const { spans, close } = telemetry({ otlpEndpoint: undefined });
    expect(spans.start('http.request', { traceparent: SAMPLED }).traceparent()).toBe(SAMPLED);
    for (const traceparent of [undefined, null, '', 'nonsense']) {
      const span = spans.start('http.request', { traceparent });
      expect(parseTraceparent(span.traceparent())?.sampled).toBe(false);
      expect(span.traceparent()).toBe(span.traceparent());
      expect(span.recording).toBe(false);
    }
    await close();
    expect(receiver.requests).toEqual([]);
  });

  it('registers nothing globally', () => {
    telemetry().spans.start('http.request').end();
    expect(trace.getTracer('x').startSpan('x').isRecording()).toBe(false);
    expect(context.active().getValue(Symbol('x'))).toBeUndefined();
  });
});
