import { connect } from 'node:net';
import { METRICS } from '@carillon/runtime';
import {
  startOtlpReceiver,
  startScriptedSmtp,
  untilFound,
  type OtlpReceiver,
  type ScriptedSmtp,
} from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, shopFiles, smtpDeployment, type Shop } from './shop.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

let smtp: ScriptedSmtp;
let otlp: OtlpReceiver;
let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  smtp = await startScriptedSmtp();
  otlp = await startOtlpReceiver();
  shop = await openShop({
    files: shopFiles({ deployment: smtpDeployment(smtp.port) }),
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint },
  });
});
afterAll(async () => {
  await shop.close();
  await otlp.close();
  await smtp.stop();
});

const metrics = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();
/** Sum of the series of a name whose labels contain these. */
const sum = (text: string, name: string, ...labels: string[]): number =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0);

describe('A trace', () => {
  it("goes from the client's request to the call of the provider", async () => {
    const event = await shop.send(order('T-1'), { traceparent: `00-${TRACE}-${PARENT}-01` });
    const { id } = await shop.delivered(event, 'SENT');
    const attempt = await otlp.waitFor((span) => span.name === 'delivery.attempt' && span.traceId === TRACE);
    const received = await otlp.waitFor((span) => span.name === 'http.request' && span.traceId === TRACE);
    expect(received).toMatchObject({
      parentSpanId: PARENT,
      kind: 'server',
      attributes: { 'http.request.method': 'POST', 'http.response.status_code': 202 },
      resource: { 'service.name': 'carillon' },
    });
    expect(attempt).toMatchObject({
      parentSpanId: received.spanId,
      kind: 'client',
      attributes: { 'carillon.delivery_id': id, 'carillon.channel': 'email', 'carillon.verdict': 'accepted' },
    });
    expect(attempt.startedAt).toBeGreaterThanOrEqual(received.startedAt);
    expect(received.attributes).toMatchObject({ 'carillon.event_id': event, 'carillon.stream': 'shop/orders' });
    expect(attempt.attributes).toMatchObject({ 'carillon.event_id': event, 'carillon.attempt': 1 });
    for (const said of [TRACE, `00-${TRACE}-${PARENT}-01`]) {
      const { stdout } = await shop.run(['trace', said]);
      expect(stdout).toContain(event);
      expect(stdout).toContain(`trace ${TRACE}`);
    }
    const story = await shop.run(['trace', id, '--json']);
    expect(JSON.parse(story.stdout)).toMatchObject({ kind: 'delivery', trace_id: TRACE });
    const batch = await otlp.waitFor(
      (span) =>
        span.name === 'stage.batch' &&
        span.links.some((link) => link.traceId === TRACE && link.spanId === received.spanId),
    );
    expect(batch).toMatchObject({ kind: 'consumer' });
    expect(otlp.refused).toEqual([]);
  });

  it('starts here if the client sends no valid traceparent', async () => {
    const sent = ['', 'junk', `00-${'0'.repeat(32)}-${PARENT}-01`].map(async (traceparent, at) => {
      const event = order(`T-2-${at}`, { email: `t2-${at}@example.com` });
      return shop.delivered(await shop.send(event, traceparent === '' ? {} : { traceparent }), 'SENT');
    });
    for (const { id } of await Promise.all(sent)) {
      const attempt = await otlp.waitFor((span) => span.attributes['carillon.delivery_id'] === id);
      const received = await otlp.waitFor((span) => span.spanId === attempt.parentSpanId);
      expect(received).toMatchObject({ name: 'http.request', parentSpanId: null, traceId: attempt.traceId });
      expect(attempt.traceId).not.toBe(TRACE);
    }
  });

  it('that the client does not sample is not exported, and everything else works', async () => {
    const unsampled = 'a'.repeat(32);
    const event = await shop.send(order('T-3', { email: 't3@example.com' }), {
      traceparent: `00-${unsampled}-${PARENT}-00`,
    });
    await shop.delivered(event, 'SENT');
    const next = await shop.send(order('T-4', { email: 't4@example.com' }), {
      traceparent: `00-${'b'.repeat(32)}-${PARENT}-01`,
    });
    await shop.delivered(next, 'SENT');
    await otlp.waitFor((span) => span.name === 'delivery.attempt' && span.traceId === 'b'.repeat(32));
    expect(otlp.spans.filter((span) => span.traceId === unsampled)).toEqual([]);
  });
});

describe('/metrics', () => {
  it('of control exports every documented metric; the public port exports none', async () => {
    const text = await metrics(shop.product.controlUrl);
    for (const { name, type } of Object.values(METRICS)) expect(text).toContain(`# TYPE ${name} ${type}\n`);
    expect((await fetch(`${shop.product.gatewayUrl}/metrics`)).status).toBe(404);
  });

  it('move with what happens', async () => {
    // What the tests of before sent is counted a moment after it was seen to be sent.
    const before = await untilFound('what was sent is counted', async () => {
      const { deliveries } = (await shop.api<{ deliveries: Record<string, number> }>('GET', '/v1/status')).body;
      const text = await metrics(shop.product.controlUrl);
      const counts = [
        sum(text, 'carillon_attempt_seconds_count'),
        sum(text, 'carillon_attempts_total'),
        sum(text, 'carillon_records_total', 'stage="deliver"', 'result="done"'),
        sum(text, 'carillon_deliveries', 'state="SENT"'),
      ];
      return counts.every((count) => count === (deliveries['SENT'] ?? 0)) ? text : undefined;
    });
    smtp.follow(({ stage }) => (stage === 'rcpt' ? '550 5.7.1 no' : undefined));
    await shop.delivered(await shop.send(order('M-1', { email: 'm1@example.com' })), 'FAILED');
    smtp.follow(() => undefined);
    await shop.delivered(await shop.send(order('M-2', { email: 'm2@example.com' })), 'SENT');
    expect((await shop.post('shop/orders', '{')).status).toBe(400);
    expect((await fetch(`${shop.product.gatewayUrl}/no-event-at-all`)).status).toBe(404);
    let after = '';
    const grown = (name: string, ...labels: string[]): number =>
      sum(after, name, ...labels) - sum(before, name, ...labels);
    // A delivery is seen to have ended a moment before it is counted.
    await untilFound('the last things that are counted', async () => {
      after = await metrics(shop.product.controlUrl);
      const isCounted =
        grown('carillon_attempt_seconds_count') >= 2 &&
        grown('carillon_attempts_total') >= 2 &&
        grown('carillon_records_total', 'stage="deliver"', 'result="done"') >= 2 &&
        grown('carillon_deliveries', 'state="SENT"') >= 1 &&
        sum(after, 'carillon_config_age_seconds') < 2.5;
      return isCounted || undefined;
    });
    expect(grown('carillon_events_accepted_total', 'stream="shop/orders"')).toBe(2);
    expect(grown('carillon_events_refused_total', 'code="invalid_json"')).toBe(1);
    expect(grown('carillon_events_refused_total')).toBe(1);
    expect(grown('carillon_append_seconds_count')).toBeGreaterThanOrEqual(1);
    expect(grown('carillon_attempts_total', 'verdict="accepted"')).toBe(1);
    expect(grown('carillon_attempts_total')).toBe(2);
    expect(grown('carillon_attempt_seconds_count')).toBe(2);
    expect(grown('carillon_deliveries', 'state="SENT"')).toBe(1);
    expect(grown('carillon_deliveries', 'state="FAILED"')).toBe(1);
    expect(grown('carillon_records_total', 'stage="deliver"', 'result="done"')).toBe(2);
    expect(sum(after, 'carillon_span_exports_total', 'result="ok"')).toBeGreaterThan(0);
  });

  it('a collector that is away costs spans and nothing else', async () => {
    otlp.answer(503);
    const event = await shop.send(order('M-4', { email: 'm4@example.com' }));
    await shop.delivered(event, 'SENT');
    otlp.answer(200);
  });
});

describe('Consumers', () => {
  it('are listed completely both by doctor and by metrics', async () => {
    const text = await metrics(shop.product.controlUrl);
    const consuming = [...text.matchAll(/^carillon_partitions_stopped\{group="(\w+):([^"]+)"\} 0$/gm)];
    const { stdout } = await shop.run(['doctor']);
    const looked = [...stdout.matchAll(/^ok +(\w+) on (carillon\S+):/gm)];
    const pairs = (found: readonly RegExpExecArray[]) =>
      found.map(([, group, topic]) => `${group} ${topic}`).toSorted();
    expect(pairs(looked)).toEqual(pairs(consuming));
    expect(consuming.length).toBeGreaterThan(0);
  });
});

describe('Health', () => {
  it('/livez and /readyz of both servers', async () => {
    for (const url of [shop.product.gatewayUrl, shop.product.controlUrl]) {
      expect((await fetch(`${url}/livez`)).status).toBe(200);
      const ready = await untilFound('ready', async () => {
        const asked = await fetch(`${url}/readyz`);
        return asked.status === 200 ? await asked.json() : undefined;
      });
      const isPublic = url === shop.product.gatewayUrl;
      const checks: unknown = expect.arrayContaining([expect.objectContaining({ name: 'configuration', ok: true })]);
      expect(ready).toEqual(isPublic ? { status: 'ready' } : { status: 'ready', checks });
    }
  });

  it('/readyz returns not ready during shutdown, while a request is still served', async () => {
    const { gatewayUrl, pid, exited } = shop.product;
    const body = JSON.stringify(order('H-1', { email: 'h1@example.com' }));
    const slow = connect(Number(new URL(gatewayUrl).port), '127.0.0.1');
    let answer = '';
    slow.setEncoding('utf8').on('data', (text: string) => (answer += text));
    const head = [
      'POST /events/shop/orders HTTP/1.1',
      'host: 127.0.0.1',
      `authorization: Bearer ${shop.key}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      // The server says when it has read the head: from then on the request is under way.
      'expect: 100-continue',
    ];
    slow.write(`${head.join('\r\n')}\r\n\r\n`);
    await untilFound('the request under way', () => (answer.startsWith('HTTP/1.1 100 ') ? true : undefined));
    process.kill(pid, 'SIGTERM');
    const stopping = await untilFound('not ready', async () => {
      const asked = await fetch(`${gatewayUrl}/readyz`);
      return asked.status === 503 ? await asked.json() : undefined;
    });
    expect(stopping).toEqual({ status: 'not_ready' });
    expect((await fetch(`${gatewayUrl}/livez`)).status).toBe(200);
    slow.write(body);
    await untilFound('the answer', () => (answer.includes('evt_') ? true : undefined));
    expect(answer).toMatch(/\nHTTP\/1\.1 202 /);
    slow.destroy();
    expect(await exited).toEqual({ code: 0, signal: null });
  });
});
