import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROLES } from '@carillon/cli';
import type { SourceState } from '@carillon/domain/changes';
import type { DeliveryState, ProviderVerdict } from '@carillon/domain/deliveries';
import type { PartnerState } from '@carillon/domain/lookups';
import type { DropReason } from '@carillon/domain/rules';
import { ERRORS } from '@carillon/kernel';
import { createTelemetry, METRICS } from '@carillon/runtime';
import { COMPOSE_FOLDER, readCompose, readComposeServices } from '@carillon/testing';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const deploy = resolve(COMPOSE_FOLDER, '..');
const read = (file: string): string => readFileSync(join(deploy, file), 'utf8');
const readYaml = (file: string): unknown => parse(read(file));

type Target = { readonly expr: string; readonly datasource: { readonly uid: string } };
type Panel = {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly Target[];
};
const dashboard = JSON.parse(read('dashboards/carillon.json')) as {
  readonly uid: string;
  readonly panels: readonly Panel[];
};
const { groups } = readYaml('dashboards/alerts.yaml') as {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string; runbook?: string } }[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
type Scrape = { job_name: string; dns_sd_configs: { names: string[]; type: string; port: number }[] };
const prometheus = readYaml('compose/prometheus.yaml') as { rule_files: string[]; scrape_configs: Scrape[] };

/** Every expression that somebody is shown or woken by, with where it stands. */
const expressions: readonly (readonly [string, string])[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
  ...alerts.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
];

type Selected = {
  readonly metric: string;
  readonly matchers: readonly { label: string; value: string; not: boolean }[];
};
type Question = {
  readonly broken: boolean;
  readonly selected: readonly Selected[];
  readonly labels: readonly string[];
};

/** What an expression asks for. Grafana fills in the interval. */
function questionOf(expression: string): Question {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const textOf = ({ from, to }: { from: number; to: number }): string => text.slice(from, to);
  const selected: { metric: string; matchers: Selected['matchers'][number][] }[] = [];
  const labels: string[] = [];
  let broken = false;
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) broken = true;
      if (type.name === 'VectorSelector') selected.push({ metric: textOf(node.firstChild ?? node), matchers: [] });
      if (type.name === 'UnquotedLabelMatcher') {
        const [name, operator, value] = [node.firstChild, node.firstChild?.nextSibling, node.lastChild].map((one) =>
          one ? textOf(one) : '',
        );
        const matcher = { label: name ?? '', value: (value ?? '').slice(1, -1), not: (operator ?? '').startsWith('!') };
        selected.at(-1)?.matchers.push(matcher);
      }
      if (type.name === 'LabelName' && node.parent?.type.name === 'GroupingLabels') labels.push(textOf(node));
    },
  });
  return { broken, selected, labels };
}

const ours = new Map(Object.values(METRICS).map((metric) => [metric.name as string, metric]));
/** The metric of our table that a series belongs to; a histogram has three. */
const metricOf = (series: string) => {
  const histogram = ours.get(series.replace(/_(?:bucket|sum|count)$/, ''));
  return ours.get(series) ?? (histogram?.type === 'histogram' ? histogram : undefined);
};

/** Every metric that a process publishes, those of Node included. */
async function published(): Promise<ReadonlySet<string>> {
  const lines = (await createTelemetry({ serviceName: 'test' }).metricsText()).split('\n');
  return new Set(lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []));
}

/** Labels that Prometheus adds. */
const ADDED = ['job', 'instance', 'le'];

describe('The dashboard and the alerts', () => {
  it.each(expressions)('%s asks in the language of Prometheus', (_place, expression) => {
    const { broken, selected } = questionOf(expression);
    expect(broken).toBe(false);
    expect(selected.length).toBeGreaterThan(0);
  });

  it('would know an expression that is none', () => {
    expect(questionOf('sum by (le) (rate(carillon_append_seconds_bucket[5m])').broken).toBe(true);
  });

  it.each(expressions)('%s asks for metrics, labels and values that there are', async (_place, expression) => {
    const { selected, labels } = questionOf(expression);
    const known = await published();
    for (const { metric, matchers } of selected) {
      const definition = metricOf(metric);
      if (metric !== 'up' && !definition) expect(known, metric).toContain(metric);
      const has: readonly string[] = [...ADDED, ...(definition?.labels ?? [])];
      for (const label of [...labels, ...matchers.map((one) => one.label)])
        expect(has, `${metric} by ${label}`).toContain(label);
      for (const { label, value } of matchers) {
        const values = KNOWN_VALUES[label];
        for (const one of value.split('|')) expect(values, `${metric}{${label}="${one}"}`).toContain(one);
      }
    }
  });

  it('show every metric of ours', () => {
    const shown = new Set(
      expressions.flatMap(([, one]) => questionOf(one).selected.map(({ metric }) => metricOf(metric)?.name)),
    );
    expect([...ours.keys()].filter((name) => !shown.has(name as never))).toEqual([]);
  });

  it('say what to do, in a document that is there', () => {
    for (const { alert, annotations } of alerts) {
      expect(annotations.summary, alert).toMatch(/\w/);
      const [file] = (annotations.runbook ?? 'docs/operations.md').split(',');
      expect(readFileSync(resolve(deploy, '..', file ?? ''), 'utf8').length).toBeGreaterThan(0);
    }
  });

  it('have panels that can be told apart, over the datasource that is provisioned', () => {
    const { datasources } = readYaml('compose/grafana/datasources.yaml') as {
      datasources: { uid: string; url: string }[];
    };
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { targets = [] } of dashboard.panels) {
      for (const { datasource } of targets) expect(datasources.map(({ uid }) => uid)).toContain(datasource.uid);
    }
    const { services } = readCompose('compose.yaml');
    for (const { url } of datasources) expect(Object.keys(services)).toContain(new URL(url).hostname);
  });
});

/** Values of labels that expressions name; a label that is not here may not be compared with one. */
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  job: ROLES,
  code: Object.keys(ERRORS),
  reason: ['where_false'] satisfies DropReason[],
  state: ['WAITING', 'SENDING', 'IN_DOUBT', 'suspended', 'running', 'stopped'] satisfies (
    | DeliveryState
    | PartnerState
    | SourceState['kind']
  )[],
  verdict: [
    'accepted',
    'refused_recipient',
    'refused_content',
    'refused_account',
    'throttled',
    'transient',
    'ambiguous',
  ] satisfies ProviderVerdict[],
  result: ['ok', 'failed'],
};

const GATEWAY_HEALTH_PORT = 7404;

describe('Prometheus', () => {
  it('asks every role where compose.yaml has it', () => {
    expect(prometheus.scrape_configs.map((one) => one.job_name).toSorted()).toEqual([...ROLES].toSorted());
    for (const { job_name: role, dns_sd_configs: places } of prometheus.scrape_configs) {
      const health = new URL(readComposeServices()[role]?.healthcheck.at(-1) ?? '');
      // Figures of the gateway are not for the port that strangers reach.
      const port = role === 'gateway' ? GATEWAY_HEALTH_PORT : Number(health.port);
      expect(places).toMatchObject([{ names: [role], type: 'A', port }]);
    }
  });

  it('has the alerts', () => {
    const { services } = readCompose('compose.yaml');
    for (const file of prometheus.rule_files) {
      expect(services['prometheus']?.volumes).toContain(`../dashboards/alerts.yaml:${file}:ro`);
    }
  });
});

describe('The collector', () => {
  type Collector = {
    readonly receivers: { otlp: { protocols: { http: { endpoint: string } } } };
    readonly exporters: Readonly<Record<string, { endpoint: string }>>;
    readonly extensions: { health_check: { endpoint: string } };
    readonly service: { pipelines: Record<string, { receivers: string[]; processors: string[]; exporters: string[] }> };
  } & Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const collector = readYaml('compose/otel-collector.yaml') as Collector;
  const { services } = readCompose('compose.yaml');

  it('takes what the roles send, and hands it to Jaeger', () => {
    const sent = new URL(readComposeServices()['gateway']?.environment['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '');
    expect(sent.hostname).toBe('otel-collector');
    expect(collector.receivers.otlp.protocols.http.endpoint).toBe(`0.0.0.0:${sent.port}`);
    for (const { endpoint } of Object.values(collector.exporters)) {
      expect(Object.keys(services)).toContain(endpoint.split(':')[0]);
    }
  });

  it('declares every part that its pipelines name, and its health check uses its own port', () => {
    for (const { receivers, processors, exporters } of Object.values(collector.service.pipelines)) {
      expect(Object.keys(collector.receivers)).toEqual(expect.arrayContaining(receivers));
      expect(Object.keys(collector['processors'] ?? {})).toEqual(expect.arrayContaining(processors));
      expect(Object.keys(collector.exporters)).toEqual(expect.arrayContaining(exporters));
    }
    expect(services['otel-collector']?.healthcheck?.test.at(-1)).toBe(
      `http://${collector.extensions.health_check.endpoint}/`,
    );
  });
});
