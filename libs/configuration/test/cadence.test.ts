import { formatFault, planChanges } from '@carillon/configuration';
import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const cadence = (hours: string, more = '') => notificationWith('channels:', `cadence: { ${hours} }\n${more}channels:`);
const workspace = (hours: string) => ({ 'workspaces/shop/workspace.yaml': `cadence: { ${hours} }\n` });
const faults = (changes: Readonly<Record<string, string>>): readonly string[] => read(changes).faults.map(formatFault);
const warnings = (changes: Readonly<Record<string, string>>): readonly string[] =>
  read(changes)
    .warnings.map(({ message }) => message)
    .filter((message) => !message.includes('API key'));

describe('quiet hours in a file', () => {
  test('are accepted with days, channels and action', () => {
    const hours = 'quiet_hours: { from: "21:00", to: "08:00", days: [mon, sun], channels: [email, sms], then: drop }';
    const both = { ...cadence(hours), ...workspace('quiet_hours: { from: "22:00", to: "07:00" }') };
    expect([faults(both), warnings(both)]).toEqual([[], []]);
  });

  test.each([
    ['an hour that is none', '{ from: "24:00", to: "08:00" }', 'a time such as "21:00", in quotes'],
    ['a number', '{ from: 1260, to: "08:00" }', 'put it in quotes'],
    ['a day that is none', '{ from: "21:00", to: "08:00", days: [monday] }', 'mon'],
    ['no day', '{ from: "21:00", to: "08:00", days: [] }', 'at least one day'],
    ['a channel that is none', '{ from: "21:00", to: "08:00", channels: [fax] }', 'email'],
    ['a word for what is done that is none', '{ from: "21:00", to: "08:00", then: wait }', 'hold'],
    ['no end', '{ from: "21:00" }', 'to'],
  ])('are refused with %s, with file, line and fix', (_what, hours, words) => {
    const found = faults(cadence(`quiet_hours: ${hours}`));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^workspaces\/shop\/notifications\/order-paid\.yaml:1:/);
    expect(found[0]).toContain(words);
  });

  test('are refused if they start and end at the same time', () => {
    expect(faults(cadence('quiet_hours: { from: "21:00", to: "21:00" }'))).toEqual([
      expect.stringMatching(/order-paid\.yaml:1:\d+ {2}cadence\.quiet_hours\.to: .*start and end at 21:00/),
    ]);
  });

  test('are refused if they leave no time to send in a week, alone or with those of the workspace', () => {
    const day = 'quiet_hours: { from: "08:00", to: "20:00", channels: [email] }';
    const night = 'quiet_hours: { from: "20:00", to: "08:00" }';
    expect(faults({ ...cadence(day), ...workspace(night) })).toEqual([
      expect.stringMatching(/the quiet hours leave no time to send email; .*together with those of the workspace/),
    ]);
    expect(faults({ ...cadence(day), ...workspace(night.replace(' }', ', channels: [sms] }')) })).toEqual([]);
    expect(faults({ ...cadence(day), ...workspace(night.replace(' }', ', days: [mon] }')) })).toEqual([]);
  });

  test('cause a warning if messages expire before they end, or if the notification is transactional', () => {
    expect(warnings(cadence('quiet_hours: { from: "21:00", to: "08:00" }', 'expires: 2h\n'))).toEqual([
      expect.stringContaining('the quiet hours last 11h, and messages are given up after 2h'),
    ]);
    expect(
      warnings({ ...workspace('quiet_hours: { from: "21:00", to: "08:00" }'), ...cadence('', 'expires: 2h\n') }),
    ).toEqual([expect.stringContaining('the quiet hours of the workspace last 11h')]);
    expect(warnings(cadence('quiet_hours: { from: "21:00", to: "08:00", then: drop }', 'expires: 2h\n'))).toEqual([]);
    expect(warnings(cadence('quiet_hours: { from: "21:00", to: "08:00" }', 'transactional: true\n'))).toEqual([
      expect.stringContaining('transactional'),
    ]);
  });
});

describe('quiet hours of a workspace that apply to notifications outside the folder', () => {
  const newId = (kind: string): string => `${kind}_1`;
  const planOn = (current: typeof EMPTY_CONFIGURATION, files: Readonly<Record<string, string | null>>) => {
    const folder = read(files);
    const options = { prune: false, newId, language: reading.language, templates: reading.templates };
    const plan = planChanges(current, folder.resources, options);
    return { plan, faults: plan.faults.map(folder.faultAt).map(formatFault), warnings: plan.warnings };
  };
  const server = (notification: Readonly<Record<string, string>>) => {
    const { plan } = planOn(EMPTY_CONFIGURATION, notification);
    const record = { changes: plan.record };
    return foldConfiguration(EMPTY_CONFIGURATION, record, 1).configuration;
  };
  const alone = (hours: string) => ({
    'workspaces/shop/workspace.yaml': `cadence: { ${hours} }\n`,
    'workspaces/shop/streams/orders.yaml': null,
    'workspaces/shop/templates/order-paid/email.yaml': null,
    'workspaces/shop/templates/order-paid/email.html': null,
    'workspaces/shop/notifications/order-paid.yaml': null,
  });

  test('are refused if they leave these no time to send in a week, at the line of the workspace', () => {
    const current = server(cadence('quiet_hours: { from: "21:00", to: "09:00" }'));
    const planned = planOn(current, alone('quiet_hours: { from: "08:00", to: "22:00" }'));
    expect(planned.faults).toEqual([
      expect.stringMatching(
        /^workspaces\/shop\/workspace\.yaml:1:.*the quiet hours leave no time to send email of order-paid;/,
      ),
    ]);
    expect(planOn(current, alone('quiet_hours: { from: "08:00", to: "20:00" }')).faults).toEqual([]);
  });

  test('cause a warning if messages of these expire before they end', () => {
    const current = server(notificationWith('channels:', 'expires: 2h\nchannels:'));
    const planned = planOn(current, alone('quiet_hours: { from: "21:00", to: "08:00" }'));
    expect(planned.warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('messages of order-paid are given up after 2h'),
    ]);
  });
});

describe('a delay in a file', () => {
  test.each(['5m', '{ until: event.starts_at }', '{ local_time: "09:00" }'])('is accepted as %s', (delay) => {
    expect(faults(cadence(`delay: ${delay}`))).toEqual([]);
  });

  test.each([
    ['two years', '730d', 'a duration from 1s to 366d'],
    ['none', '0s', 'a duration from 1s to 366d'],
    ['an hour that is none', '{ local_time: "9:00" }', 'a time such as'],
    ['two forms at once', '{ until: event.a, local_time: "09:00" }', 'local_time'],
    ['a number', '5', '5m'],
    ['an expression with a fault', '{ until: event.a == § }', 'unexpected §'],
  ])('is refused as %s, once, with its position', (_what, delay, words) => {
    const found = faults(cadence(`delay: ${delay}`));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^workspaces\/shop\/notifications\/order-paid\.yaml:1:/);
    expect(found[0]).toContain(words);
  });
});
