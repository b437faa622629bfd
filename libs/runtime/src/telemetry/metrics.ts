import { Counter, Gauge, Histogram, type Registry, collectDefaultMetrics } from 'prom-client';
import {
  LABEL_VALUES,
  LABEL_VALUES_OF,
  METRICS,
  type MetricDefinition,
  type MetricKey,
  OTHER,
} from './metric-names.ts';
import { scrub } from './scrub.ts';

export type CounterSeries = { inc(by?: number): void };
export type GaugeSeries = {
  set(value: number): void;
  /**
   * Registers a function that is called whenever the metrics are read, instead of `set`. For values that change too
   * often to report.
   */
  read(source: () => number): void;
  /** Ends the series: what no longer exists must not keep its last value. */
  remove(): void;
};
export type HistogramSeries = { observe(seconds: number): void };

type Definition<K extends MetricKey> = (typeof METRICS)[K];
type SeriesOf<Type> = Type extends 'counter' ? CounterSeries : Type extends 'gauge' ? GaugeSeries : HistogramSeries;
export type MetricLabels<K extends MetricKey> = {
  readonly [Label in Definition<K>['labels'][number]]: string | number;
};
/** Without labels a metric is its one series. With labels, `with` gives a series: keep it where the same labels come again. */
export type Metric<K extends MetricKey> = Definition<K>['labels'] extends readonly []
  ? SeriesOf<Definition<K>['type']>
  : { with(labels: MetricLabels<K>): SeriesOf<Definition<K>['type']> };
export type Metrics = { readonly [K in MetricKey]: Metric<K> };

type Series = CounterSeries | GaugeSeries | HistogramSeries;
/** Gauges that are asked when read. */
type Sources = Map<GaugeSeries, () => void>;

export type MetricsRegistry = { readonly metrics: Metrics; readonly text: () => Promise<string> };

/** Registers every metric of the table, and those of the process (CPU, memory, event-loop delay, garbage collection). */
export function createMetrics(registry: Registry): MetricsRegistry {
  const sources: Sources = new Map();
  const bound = boundLabels();
  const entries = Object.entries(METRICS).map(([key, definition]) => [
    key,
    createMetric(definition, registry, sources, bound),
  ]);
  if (registry.getSingleMetric('process_cpu_seconds_total') === undefined)
    collectDefaultMetrics({ register: registry });
  return {
    metrics: Object.fromEntries(entries) as Metrics,
    text() {
      for (const ask of sources.values()) ask();
      return registry.metrics();
    },
  };
}

function createMetric(
  definition: MetricDefinition,
  registry: Registry,
  sources: Sources,
  bound: ReturnType<typeof boundLabels>,
): Series | { with(labels: Readonly<Record<string, string | number>>): Series } {
  const make = createSeries(definition, registry, sources);
  if (definition.labels.length === 0) return make([]);
  const known = new Map<string, Series>();
  return {
    with(labels) {
      const values = definition.labels.map((label) => bound(label, String(labels[label])));
      const key = values.join('\n');
      let series = known.get(key);
      if (!series) {
        series = make(values);
        known.set(key, series);
      }
      return series;
    },
  };
}

/** How to make a series of this metric, given the values of its labels in their order. */
function createSeries(
  { type, name, help, labels, buckets }: MetricDefinition,
  registry: Registry,
  sources: Sources,
): (values: string[]) => Series {
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  switch (type) {
    case 'counter': {
      const counter = new Counter(options);
      return (values) => {
        const child = values.length === 0 ? counter : counter.labels(...values);
        return { inc: (by) => child.inc(by) };
      };
    }
    case 'histogram': {
      const histogram = new Histogram(buckets ? { ...options, buckets: [...buckets] } : options);
      return (values) => {
        const child = values.length === 0 ? histogram : histogram.labels(...values);
        return { observe: (seconds) => child.observe(seconds) };
      };
    }
    case 'gauge': {
      const gauge = new Gauge(options);
      return (values) => {
        const child = values.length === 0 ? gauge : gauge.labels(...values);
        const series: GaugeSeries = {
          set: (value) => child.set(value),
          read: (source) => void sources.set(series, () => setFrom(child, source)),
          remove() {
            sources.delete(series);
            gauge.remove(...values);
          },
        };
        return series;
      };
    }
  }
}

/** A source that throws leaves its gauge as it was: one broken number must not take all others away from the operator. */
function setFrom(gauge: { set(value: number): void }, source: () => number): void {
  try {
    gauge.set(source());
  } catch {
    // kept as it was
  }
}

/**
 * Keeps the values of each label few: the first ones get series of their own, the rest share `other`. Streams, for one, are named by
 * users, and each value would stay in memory and in the operator's store. The bound is per label over all metrics, so that they agree.
 */
function boundLabels(): (label: string, value: string) => string {
  const known = new Map<string, Set<string>>();
  return (label, value) => {
    let values = known.get(label);
    if (!values) {
      values = new Set();
      known.set(label, values);
    }
    if (values.has(value)) return value;
    const clean = scrub(value).slice(0, 128);
    if (values.has(clean)) return clean;
    if (values.size >= (LABEL_VALUES_OF[label] ?? LABEL_VALUES)) return OTHER;
    values.add(clean);
    return clean;
  };
}
