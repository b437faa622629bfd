import {
  columnOf,
  hasTopics,
  isDatabase,
  takesChanges,
  type StreamBody,
  type StreamFrom,
} from '@carillon/domain/configuration';
import { stepsOf } from '@carillon/domain/events';
import { isKind, type WantedResource } from '../resource.ts';
import type { Check, CheckedAgainst } from './check-context.ts';
import type { Report } from './finding.ts';
import { checkName } from './names.ts';
import { checkSecurity } from './security.ts';

/** Settings of a stream to which events are sent. */
const OF_SENDERS = ['security', 'key', 'cors_origins', 'rate', 'rate_per_credential'] as const;

/** Checks where the events of a stream come from: who may send them, or what it reads. */
export const checkStream: Check = (resource, around, report) => {
  if (!isKind(resource, 'stream')) return;
  const { ref, body } = resource;
  if (body.security !== undefined) checkSecurity(body.security, ref.workspace, around, report);
  if (body.from !== undefined) checkSource(body.from, ref.workspace, around, report);
  checkSenders(body, report);
  if (body.from !== undefined) checkFrom(body, body.from, report);
};

function checkSource(from: StreamFrom, workspace: string, around: CheckedAgainst, report: Report): void {
  const { integration: name } = from;
  checkName(['from', 'integration'], { kind: 'integration', workspace, name }, around, report);
  const integration = around.integration(workspace, name);
  if (!integration) return;
  const message = `${name} is of kind ${integration.kind} and has no`;
  if (from.tables !== undefined && !isDatabase(integration)) {
    report.fault(['from', 'integration'], {
      code: 'integration_without_changes',
      facts: { integration: name },
      message: `${message} tables`,
      expected: 'an integration of kind postgres',
      fix: hasTopics(integration) ? 'name a database, or write topics in place of tables' : 'name the database',
    });
  }
  if (from.topics !== undefined && !hasTopics(integration)) {
    report.fault(['from', 'integration'], {
      code: 'integration_without_topics',
      facts: { integration: name },
      message: `${message} topics`,
      expected: 'an integration of kind kafka',
      fix: isDatabase(integration)
        ? 'name a Kafka cluster, or write tables in place of topics'
        : 'name the Kafka cluster',
    });
  }
}

/** Checks that the kind of credential fits the format of the events. */
function checkSenders({ from, format, key, security }: StreamBody, report: Report): void {
  if (security?.webhook_secret !== undefined && format !== 'debezium') {
    report.fault(
      ['security', 'webhook_secret'],
      {
        code: 'webhook_secret_unused',
        facts: {},
        message: 'requests with events are not signed: webhook_secret is for format: debezium',
        expected: 'api_keys or jwt_provider',
        fix: 'name an API key or a JWT provider, or write format: debezium if the sender is Debezium',
      },
      'key',
    );
  }
  if (from !== undefined || format !== 'debezium' || key !== undefined) return;
  const words = {
    message: 'a stream to which changes are sent needs the path of their key',
    expected: 'key: event.id',
  };
  report.fault(['format'], { code: 'debezium_without_key', facts: {}, ...words, fix: 'add key: event.id' });
}

/** Checks the settings of a stream that reads a source, without what it refers to. */
export function checkFrom(body: StreamBody, from: StreamFrom, report: Report): void {
  const { tables, topics } = from;
  for (const setting of OF_SENDERS) {
    if (body[setting] === undefined) continue;
    const message = `a stream that reads ${from.integration} has no ${setting}: nobody sends events to it`;
    const each = tables === undefined ? 'topic' : 'table';
    const fix = setting === 'key' ? `remove it: each ${each} names the path of its key` : 'remove it';
    const words = { message, expected: `from or ${setting}`, fix };
    report.fault([setting], { code: 'from_and_setting', facts: { setting }, ...words }, 'key');
  }
  if (tables !== undefined && topics !== undefined) {
    const message = 'a stream reads tables of a database or topics of a Kafka cluster, not both';
    const words = { message, expected: 'tables or topics', fix: 'remove one; make another stream for it' };
    report.fault(['from', 'topics'], { code: 'tables_and_topics', facts: {}, ...words }, 'key');
  }
  if (tables !== undefined && body.format === 'debezium') {
    report.fault(['format'], {
      code: 'debezium_and_tables',
      facts: {},
      message: 'Carillon reads the tables itself, so no Debezium writes their changes',
      expected: 'tables, or format: debezium with topics',
      fix: 'remove format',
    });
  }
  if (tables === undefined && body.format !== 'debezium' && from.without !== undefined) {
    report.fault(
      ['from', 'without'],
      {
        code: 'without_unused',
        facts: {},
        message: 'an event of a topic reaches the log byte for byte, so no part of it can be left out',
        expected: 'without beside tables, or with format: debezium',
        fix: 'remove without, or write format: debezium if Debezium writes the topics',
      },
      'key',
    );
    return;
  }
  checkWithout(body, from, report);
}

/** A column that is left out belongs to a listed table or topic, and no path of the stream needs it. */
function checkWithout({ time }: StreamBody, { tables, topics, without = [] }: StreamFrom, report: Report): void {
  const keys = { ...tables, ...topics };
  const kind = tables === undefined ? 'topic' : 'table';
  for (const [index, column] of without.entries()) {
    const path = ['from', 'without', index] as const;
    const found = Object.keys(keys).flatMap((listed) => {
      const name = columnOf(listed, column);
      return name === null ? [] : [{ listed, name }];
    });
    if (found.length === 0) {
      report.fault(path, {
        code: 'column_unknown',
        facts: { column },
        message: `${column} is in no ${kind} of this stream`,
        expected: Object.keys(keys)
          .map((listed) => `${listed}.<column>`)
          .join(' or '),
        fix: `add its ${kind} under ${kind}s, or remove it`,
      });
      continue;
    }
    const isNeeded = (pathOf: (listed: string) => string | undefined): boolean =>
      found.some(({ listed, name }) => stepsOf(pathOf(listed) ?? '')?.[0] === name);
    const by = isNeeded((listed) => keys[listed]) ? 'key' : isNeeded(() => time) ? 'time' : null;
    if (by === null) continue;
    report.fault(path, {
      code: 'column_needed',
      facts: { column, by },
      message: `${column} is the ${by} of its rows`,
      expected: 'columns that neither key nor time reads',
      fix: 'remove it from without',
    });
  }
}

/** Checks that rules which choose changes are on streams that have some. */
export const checkChanges: Check = (resource, around, report) => {
  if (!isKind(resource, 'notification')) return;
  for (const [name, rule] of Object.entries(resource.body.rules)) {
    if (rule.changes === undefined) continue;
    const stream = rule.stream === undefined ? {} : around.stream(resource.ref.workspace, rule.stream);
    // A missing stream is reported where the rule names it.
    if (stream === undefined || takesChanges(stream)) continue;
    report.fault(
      ['rules', name, 'changes'],
      {
        code: 'changes_unused',
        facts: { stream: rule.stream ?? '' },
        message:
          rule.stream === undefined
            ? 'this rule is on no stream of changes, so its events are no changes'
            : `the events of ${rule.stream} are no changes`,
        expected: 'changes on a rule whose stream reads tables, or has format: debezium',
        fix: 'remove changes, or name a stream of changes',
      },
      'key',
    );
  }
};

/** Reports an integration that is read no longer, although a stream that is not in the folder reads it. */
export function checkStayingStreams(
  { ref, body }: WantedResource<'integration'>,
  staying: readonly WantedResource<'stream'>[],
  report: Report,
): void {
  for (const stream of staying) {
    const { from } = stream.body;
    if (stream.ref.workspace !== ref.workspace || from?.integration !== ref.name) continue;
    const isTopics = from.topics !== undefined;
    if (isTopics ? hasTopics(body) : isDatabase(body)) continue;
    const what = isTopics ? 'topics' : 'tables';
    report.fault(['kind'], {
      code: 'breaks_stream',
      facts: { stream: stream.ref.name },
      message: `the stream ${stream.ref.name} reads ${ref.name}, and an integration of kind ${body.kind} has no ${what}`,
      expected: isTopics ? 'kind: kafka' : 'kind: postgres',
      fix: `leave the kind as it was, or change the stream ${stream.ref.name} in the same folder`,
    });
  }
}
