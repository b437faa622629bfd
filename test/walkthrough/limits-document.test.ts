import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_CSV_BYTES, MAX_CSV_ROWS } from '../../apps/control/src/csv/csv-type.ts';
import { MAX_DRAFTS, MAX_DRAFT_BYTES } from '../../apps/control/src/drafts/save-draft.ts';
import { MAX_BODY_BYTES } from '../../apps/control/src/resources/body-json.ts';
import { MAX_STREAMS_OF_ONE } from '../../apps/control/src/routes/operations/live.ts';
import { MAX_TESTED_EVENTS } from '../../apps/control/src/rule-tests/request.ts';
import { MAX_BATCH_BYTES, MAX_BATCH_ITEMS } from '../../apps/gateway/src/batches/batch-intake.ts';
import { LIMITS } from '../../libs/adapters/handlebars/src/limits.ts';
import { MJML_LIMITS } from '../../libs/adapters/mjml/src/limits.ts';
import { ENVELOPE_LIMITS } from '../../libs/domain/src/changes/debezium/read-debezium.ts';
import { MAX_PUSH_BYTES } from '../../libs/domain/src/channels/message.ts';
import { MAX_COHORT_BYTES, MAX_COHORT_USERS } from '../../libs/domain/src/cohorts/cohort-message.ts';
import { MAX_SEGMENTS } from '../../libs/domain/src/deliveries/account-settings.ts';
import { CHANGE_LIMITS, EVENT_LIMITS } from '../../libs/domain/src/events/limits.ts';
import { MAX_JOB_ITEMS } from '../../libs/domain/src/jobs/job.ts';
import { MAX_IDS_OF_TRIGGER } from '../../libs/domain/src/lookups/trigger.ts';
import { MAX_MEMORY_BYTES } from '../../libs/domain/src/rules/memory/entity-memory.ts';
import { MAX_RECIPIENTS, MAX_USER_IDS } from '../../libs/domain/src/rules/recipients.ts';
import { MAX_FOUND_EVENTS, MAX_RUN_ROWS } from '../../libs/domain/src/runs/run.ts';
import { MAX_PARTIALS } from '../../libs/domain/src/templates/template-includes.ts';
import { MAX_REMEMBERING_RULES, MAX_SAMPLES, TOTAL_BOUNDS } from '../../libs/shapes/src/values.ts';

/* docs/limits.md lists limits in tables. This test holds each row to the constant of the program. */

const bytes = (count: number): string =>
  count % (1024 * 1024) === 0 ? `${count / 1024 / 1024} MiB` : `${count / 1024} KiB`;
const number = (count: number): string => count.toLocaleString('en-US');

const EXPECTED: Readonly<Record<string, string>> = {
  'Bytes of an event': bytes(EVENT_LIMITS.bytes),
  'Levels of an event': number(EVENT_LIMITS.depth),
  'Fields of an event': number(EVENT_LIMITS.keys),
  'Events of a batch': number(MAX_BATCH_ITEMS),
  'Bytes of a batch': bytes(MAX_BATCH_BYTES),
  'Bytes of a database change': bytes(CHANGE_LIMITS.bytes),
  'Bytes of a Debezium envelope': bytes(ENVELOPE_LIMITS.bytes),
  'Members in one cohort message': number(MAX_COHORT_USERS),
  'Bytes of a cohort message': bytes(MAX_COHORT_BYTES),
  'Recipients of an event and rule with `for_each`': number(MAX_RECIPIENTS),
  'User ids of an event and rule': number(MAX_USER_IDS),
  'User ids in one call to a partner': number(MAX_IDS_OF_TRIGGER),
  'Rules of a stream that count, wait or cool down': number(MAX_REMEMBERING_RULES),
  'Totals of a rule': number(TOTAL_BOUNDS.totals),
  'Events of a total with a duration, and values of a `distinct` by the calendar': number(MAX_SAMPLES),
  'Bytes remembered of an entity': bytes(MAX_MEMORY_BYTES),
  'Characters of a body': number(LIMITS.bodySource),
  'Characters of a subject or another line': number(LIMITS.headerSource),
  'Tags of a template': number(LIMITS.mustaches),
  'Partials of a template': number(MAX_PARTIALS),
  'Rounds of all `each` of a message': number(LIMITS.rounds),
  'Bytes of a rendered body': bytes(LIMITS.output),
  'Milliseconds of rendering': number(LIMITS.renderMs),
  'Elements of MJML': number(MJML_LIMITS.elements),
  'Segments of a text message': number(MAX_SEGMENTS),
  'Bytes of a push message': bytes(MAX_PUSH_BYTES),
  'Bytes of a resource': bytes(MAX_BODY_BYTES),
  'Open drafts of a workspace': number(MAX_DRAFTS),
  'Bytes of all drafts of a workspace': bytes(MAX_DRAFT_BYTES),
  'Events of a rule test': number(MAX_TESTED_EVENTS),
  'Items of a job': number(MAX_JOB_ITEMS),
  'Rows that a comparison keeps': number(MAX_RUN_ROWS),
  'Events that a search keeps': number(MAX_FOUND_EVENTS),
  'Rows of a CSV request': number(MAX_CSV_ROWS),
  'Bytes of a CSV request': bytes(MAX_CSV_BYTES),
  'Live streams of a person or token': number(MAX_STREAMS_OF_ONE),
};

describe('docs/limits.md', () => {
  it('lists each limit with the value of the program', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/limits.md'), 'utf8');
    const rows = [...page.matchAll(/^\| ([A-Z][^|]+) \| ([^|]+) \|/gm)].map(([, name, value]) => [name, value]);
    expect(Object.fromEntries(rows)).toEqual(EXPECTED);
    expect(rows).toHaveLength(Object.keys(EXPECTED).length);
  });
});
