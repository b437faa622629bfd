import { formatFault, readConfigurationFolder, writeConfigurationFolder } from '@carillon/configuration';
import { conditionOf, cohortStream } from '@carillon/domain/cohorts';
import { streamTable, type NotificationBody } from '@carillon/domain/configuration';
import { configurationOf } from '@carillon/testing/given';
import { describe, expect, test } from 'vitest';
import { faultsOf, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';
const MIXPANEL = 'workspaces/shop/integrations/mixpanel.yaml';
const RULE = [
  'channels:',
  '  email: { template: order-paid }',
  'rules:',
  '  joined:',
  '    cohort: { integration: mixpanel, id: "1478097", on: entered }',
  '    recipients:',
  '      from: lookup',
  '      integration: crm',
  '      unique_id: event_id',
  '',
].join('\n');
const FILES = {
  [NOTIFICATION]: RULE,
  [MIXPANEL]: 'kind: mixpanel\nauthorization: { key: { secret: MIXPANEL_KEY } }\n',
  'workspaces/shop/integrations/crm.yaml':
    'kind: lookup\nurl: https://crm.example.com/recipients\nauthorization: { key: { secret: CRM_KEY } }\n',
  'workspaces/shop/integrations/posthog.yaml':
    'kind: posthog\nurl: https://eu.posthog.com\nproject: "1"\nauthorization: { key: { secret: PH } }\ncohorts: ["5"]\n',
};
const changed = (from: string, to: string) => {
  const files = Object.entries(FILES).map(([file, text]) => [file, text.replace(from, () => to)] as const);
  if (!Object.values(FILES).some((text) => text.includes(from))) throw new Error(`no such text: ${from}`);
  return faultsOf(Object.fromEntries(files)).map(formatFault);
};

describe('a rule of a cohort', () => {
  test('is read and written again, and receives only the changes of its cohort', () => {
    const { resources, faults, warnings } = read(FILES);
    expect(faults).toEqual([]);
    expect(warnings.filter(({ file }) => file === NOTIFICATION)).toEqual([]);
    const configuration = configurationOf(resources);
    const { rules, streams } = streamTable(configuration);
    const path = cohortStream({ workspace: 'shop', integration: 'mixpanel', cohort: '1478097' });
    expect(rules.get(path)?.map(({ name }) => name)).toEqual(['joined']);
    expect([...streams.keys()]).toEqual(['shop/orders']);
    const written = writeConfigurationFolder(configuration);
    expect(written.get(NOTIFICATION)).toContain('cohort:');
    expect(readConfigurationFolder(written, { ...reading, current: configuration }).faults).toEqual([]);
  });

  test.each([
    ['on: entered', 'event.change == "entered" && event.first_sync == false'],
    ['on: entered, first_sync: notify', 'event.change == "entered"'],
    ['on: left', 'event.change == "left"'],
  ])('with %s has the condition %s', (by, condition) => {
    const { resources } = read({ ...FILES, [NOTIFICATION]: RULE.replace('on: entered', by) });
    const body = resources.find(({ ref }) => ref.kind === 'notification')?.body as NotificationBody;
    expect(conditionOf(body.rules['joined']!)).toBe(condition);
    expect(conditionOf({ ...body.rules['joined']!, when: 'event.user_id != "x" // not x' })).toBe(
      `${condition} && (event.user_id != "x" // not x\n)`,
    );
  });

  test.each([
    ['integration: mixpanel,', 'integration: mixpanle,', 'there is no integration mixpanle', 'did you mean mixpanel'],
    ['integration: mixpanel,', 'integration: crm,', 'has no cohorts', 'name the analytics platform'],
    ['integration: crm', 'integration: mixpanel', 'mixpanel cannot look up addresses of people', 'kind lookup'],
    ['integration: mixpanel,', 'integration: posthog,', 'does not follow the cohort', 'under cohorts'],
    ['on: entered', 'on: enters', 'does not fit', 'did you mean entered'],
    ['id: "1478097"', 'id: 1478097', 'does not fit', 'put it in quotes'],
    ['    recipients:', '    stream: orders\n    recipients:', 'it has no stream', 'remove stream'],
    ['      unique_id', '      user_ids: event.user_id\n      unique_id', 'looks up the member', 'remove user_ids'],
    ['rules:', 'security: { api_keys: [backend] }\nrules:', 'cohorts start all rules', 'remove it'],
    ['    cohort:', '    stream: orders\n    cohort1:', 'there is no setting cohort1', 'did you mean cohort'],
    ['kind: mixpanel', 'kind: mixpannel', 'does not fit', 'did you mean mixpanel'],
    ['kind: mixpanel', 'kind: mixpanel\nfirst_sync_lasts: 1h', 'there is no setting first_sync_lasts', 'remove'],
    ['cohorts: ["5"]', 'cohorts: []', 'does not fit', 'at least one cohort'],
    ['https://eu.posthog.com', 'https://me:word@eu.posthog.com', 'does not fit', 'without user and password'],
  ])('with a mistake says what to do: %s', (from, to, message, fix) => {
    const [found, ...more] = changed(from, to);
    expect(found).toContain(message);
    expect(found).toContain(fix);
    expect(more).toEqual([]);
  });

  test('without a cohort and without when or user_ids is refused like any other rule', () => {
    const faults = changed('    cohort: { integration: mixpanel, id: "1478097", on: entered }', '    stream: orders');
    expect(faults.join('\n')).toMatch(/when is missing[^]*user_ids is missing/);
  });
});
