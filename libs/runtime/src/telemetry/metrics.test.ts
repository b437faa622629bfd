import { CarillonError } from '@carillon/kernel';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { LABEL_VALUES, METRICS } from './metric-names.ts';
import { createTelemetry } from './telemetry.ts';

const telemetry = () => createTelemetry({ serviceName: 'test' });
const ours = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('carillon_'));

describe('metrics', () => {
  it('publishes each metric of the table under its name, type and help', async () => {
    const { metricsText, metricsContentType } = telemetry();
    const text = await metricsText();
    for (const { name, type, help } of Object.values(METRICS)) {
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    }
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(metricsContentType).toContain('text/plain');
  });

  it('keeps to the naming rules of Prometheus', () => {
    const names = Object.values(METRICS).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, type } of Object.values(METRICS)) {
      expect(name).toMatch(/^carillon_[a-z_]+$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
  });

  it('counts, sets and observes; equal labels are one series', async () => {
    const { metrics, metricsText } = telemetry();
    metrics.eventsAccepted.with({ stream: 'shop/orders' }).inc();
    metrics.eventsAccepted.with({ stream: 'shop/orders' }).inc(2);
    expect(metrics.eventsAccepted.with({ stream: 'a/b' })).toBe(metrics.eventsAccepted.with({ stream: 'a/b' }));
    metrics.ruleErrors.inc();
    metrics.configNumber.set(17);
    metrics.appendSeconds.observe(0.003);
    metrics.attemptSeconds.with({ channel: 'email' }).observe(0.2);
    metrics.consumerLagRecords.with({ group: 'deliver', partition: 3 }).set(5);
    const lines = ours(await metricsText());
    expect(lines).toContain('carillon_events_accepted_total{stream="shop/orders"} 3');
    expect(lines).toContain('carillon_rule_errors_total 1');
    expect(lines).toContain('carillon_config_number 17');
    expect(lines).toContain('carillon_append_seconds_bucket{le="0.005"} 1');
    expect(lines).toContain('carillon_attempt_seconds_count{channel="email"} 1');
    expect(lines).toContain('carillon_consumer_lag_records{group="deliver",partition="3"} 5');
  });

  it('removes a series, and queries a source at each read', async () => {
    const { metrics, metricsText } = telemetry();
    const lag = metrics.consumerLagRecords.with({ group: 'deliver', partition: 3 });
    let bytes = 10;
    metrics.queueBytes.read(() => bytes);
    metrics.configAgeSeconds.read(() => {
      throw new Error('unknown');
    });
    lag.read(() => 7);
    const before = ours(await metricsText());
    expect(before).toContain('carillon_queue_bytes 10');
    expect(before).toContain('carillon_consumer_lag_records{group="deliver",partition="3"} 7');
    bytes = 20;
    lag.remove();
    const after = ours(await metricsText());
    expect(after).toContain('carillon_queue_bytes 20');
    expect(after.filter((line) => line.startsWith('carillon_consumer_lag'))).toEqual([]);
    lag.set(9);
    expect(ours(await metricsText())).toContain('carillon_consumer_lag_records{group="deliver",partition="3"} 9');
  });

  it('gives a label a bounded number of values and puts the rest under other', async () => {
    const { metrics, metricsText } = telemetry();
    for (let n = 0; n < LABEL_VALUES + 50; n += 1) metrics.eventsAccepted.with({ stream: `shop/s${n}` }).inc();
    metrics.eventsAccepted.with({ stream: 'shop/s0' }).inc();
    const lines = ours(await metricsText()).filter((line) => line.startsWith('carillon_events_accepted'));
    expect(lines).toHaveLength(LABEL_VALUES + 1);
    expect(lines).toContain('carillon_events_accepted_total{stream="other"} 50');
    expect(lines).toContain('carillon_events_accepted_total{stream="shop/s0"} 2');
    expect(lines.join('\n')).not.toContain(`s${LABEL_VALUES + 1}`);
  });

  it('keeps addresses out of labels', async () => {
    const { metrics, metricsText } = telemetry();
    metrics.attempts.with({ channel: 'anna@example.com', verdict: '+4917112345678' }).inc();
    expect(ours(await metricsText())).toContain('carillon_attempts_total{channel="[address]",verdict="[phone]"} 1');
  });

  it('uses the given registry', async () => {
    const registry = new Registry();
    createTelemetry({ serviceName: 'test', registry }).metrics.configNumber.set(3);
    expect(await registry.metrics()).toContain('carillon_config_number 3');
  });

  it('refuses invalid settings', () => {
    for (const options of [{ sampleRatio: 2 }, { sampleRatio: Number.NaN }, { otlpEndpoint: 'collector:4318' }]) {
      expect(() => createTelemetry({ serviceName: 'test', ...options })).toThrow(CarillonError);
    }
  });
});
