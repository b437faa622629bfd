import { isColumnOf, isSource, takesChanges, type StreamBody, type StreamFrom } from '@carillon/domain/configuration';
import { stepsOf } from '@carillon/domain/events';
import { isKind, type WantedResource } from '../resource.ts';
import type { Check, CheckedAgainst } from './check-context.ts';
import type { Report } from './finding.ts';
import { checkName } from './names.ts';
import { checkSecurity } from './security.ts';

/** Settings of a stream to which events are sent. */
const OF_SENDERS = ['security', 'key', 'cors_origins', 'rate', 'rate_per_credential'] as const;

/** Checks where the events of a stream come from: who may send them, or which tables it reads. */
export const checkStream: Check = (resource, around, report) => {
  if (!isKind(resource, 'stream')) return;
  const { ref, body } = resource;
  if (body.security !== undefined) checkSecurity(body.security, ref.workspace, around, report);
  if (body.from !== undefined) checkSource(body.from.integration, ref.workspace, around, report);
  checkFrom(body, report);
};

function checkSource(name: string, workspace: string, around: CheckedAgainst, report: Report): void {
  checkName(['from', 'integration'], { kind: 'integration', workspace, name }, around, report);
  const integration = around.integration(workspace, name);
  if (!integration || isSource(integration)) return;
  report.fault(['from', 'integration'], {
    code: 'integration_without_changes',
    facts: { integration: name },
    message: `${name} is of kind ${integration.kind} and has no tables`,
    expected: 'an integration of kind postgres',
    fix: 'name the database',
  });
}

/** Checks a stream that reads a database by itself, without what it refers to. */
export function checkFrom(body: StreamBody, report: Report): void {
  const { from } = body;
  if (from === undefined) return;
  for (const setting of OF_SENDERS) {
    if (body[setting] === undefined) continue;
    const message = `a stream that reads ${from.integration} has no ${setting}: nobody sends events to it`;
    const fix = setting === 'key' ? 'remove it: each table names the path of its key' : 'remove it';
    const words = { message, expected: `from or ${setting}`, fix };
    report.fault([setting], { code: 'from_and_setting', facts: { setting }, ...words }, 'key');
  }
  checkWithout(body, from, report);
}

/** A column that is left out stands in a listed table, and no path of the stream needs it. */
function checkWithout({ time }: StreamBody, { tables, without = [] }: StreamFrom, report: Report): void {
  for (const [index, column] of without.entries()) {
    const path = ['from', 'without', index] as const;
    const table = Object.keys(tables).find((listed) => isColumnOf(listed, column));
    if (table === undefined) {
      report.fault(path, {
        code: 'column_unknown',
        facts: { column },
        message: `${column} is in no table of this stream`,
        expected: Object.keys(tables)
          .map((listed) => `${listed}.<column>`)
          .join(' or '),
        fix: 'add its table under tables, or remove it',
      });
      continue;
    }
    const isNeeded = (needed: string | undefined): boolean =>
      needed !== undefined && stepsOf(needed)?.[0] === column.slice(table.length + 1);
    const by = isNeeded(tables[table]) ? 'key' : isNeeded(time) ? 'time' : null;
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
            ? 'this rule is on no stream that reads a database, so its events are no changes'
            : `${rule.stream} reads no database, so its events are no changes`,
        expected: 'changes on a rule whose stream has from',
        fix: 'remove changes, or name a stream that reads a database',
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
  if (isSource(body)) return;
  for (const stream of staying) {
    if (stream.ref.workspace !== ref.workspace || stream.body.from?.integration !== ref.name) continue;
    report.fault(['kind'], {
      code: 'breaks_stream',
      facts: { stream: stream.ref.name },
      message: `the stream ${stream.ref.name} reads ${ref.name}, and an integration of kind ${body.kind} has no tables`,
      expected: 'kind: postgres',
      fix: `leave the kind as it was, or change the stream ${stream.ref.name} in the same folder`,
    });
  }
}
