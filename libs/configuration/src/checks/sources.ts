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
  const at = ['from', 'integration'];
  if (from.tables !== undefined && !isDatabase(integration)) {
    report.fault(at, { code: 'integration_without_changes', facts: { integration: name } });
  }
  if (from.topics !== undefined && !hasTopics(integration)) {
    report.fault(at, { code: 'integration_without_topics', facts: { integration: name } });
  }
}

/** Checks that the kind of credential fits the format of the events. */
function checkSenders({ from, format, key, security }: StreamBody, report: Report): void {
  if (security?.webhook_secret !== undefined && format !== 'debezium') {
    report.fault(['security', 'webhook_secret'], { code: 'webhook_secret_unused', facts: {} }, 'key');
  }
  if (from !== undefined || format !== 'debezium' || key !== undefined) return;
  report.fault(['format'], { code: 'debezium_without_key', facts: {} });
}

/** Checks the settings of a stream that reads a source, without what it refers to. */
export function checkFrom(body: StreamBody, from: StreamFrom, report: Report): void {
  const { tables, topics } = from;
  for (const setting of OF_SENDERS) {
    if (body[setting] === undefined) continue;
    report.fault([setting], { code: 'from_and_setting', facts: { setting } }, 'key');
  }
  if (tables !== undefined && topics !== undefined) {
    report.fault(['from', 'topics'], { code: 'tables_and_topics', facts: {} }, 'key');
  }
  if (tables !== undefined && body.format === 'debezium') {
    report.fault(['format'], { code: 'debezium_and_tables', facts: {} });
  }
  if (tables === undefined && body.format !== 'debezium' && from.without !== undefined) {
    report.fault(['from', 'without'], { code: 'without_unused', facts: {} }, 'key');
    return;
  }
  checkWithout(body, from, report);
}

/**
 * Reports an excluded column (`without`) that belongs to no listed table or topic, or that a path of the stream needs.
 */
function checkWithout({ time }: StreamBody, { tables, topics, without = [] }: StreamFrom, report: Report): void {
  const keys = { ...tables, ...topics };
  for (const [index, column] of without.entries()) {
    const path = ['from', 'without', index] as const;
    const found = Object.keys(keys).flatMap((listed) => {
      const name = columnOf(listed, column);
      return name === null ? [] : [{ listed, name }];
    });
    if (found.length === 0) {
      const known = Object.keys(keys).map((listed) => `${listed}.<column>`);
      report.fault(path, { code: 'column_unknown', facts: { column, known: known.join(' or ') } });
      continue;
    }
    const isNeeded = (pathOf: (listed: string) => string | undefined): boolean =>
      found.some(({ listed, name }) => stepsOf(pathOf(listed) ?? '')?.[0] === name);
    const by = isNeeded((listed) => keys[listed]) ? 'key' : isNeeded(() => time) ? 'time' : null;
    if (by === null) continue;
    report.fault(path, { code: 'column_needed', facts: { column, by } });
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
    const coded = { code: 'changes_unused', facts: { stream: rule.stream ?? '' } } as const;
    report.fault(['rules', name, 'changes'], coded, 'key');
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
    const facts = { stream: stream.ref.name, reads: isTopics ? 'topics' : 'tables' };
    report.fault(['kind'], { code: 'breaks_stream', facts });
  }
}
