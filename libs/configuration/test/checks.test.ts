import { checkResources, isKind, pathText, planChanges, type WantedResource } from '@carillon/configuration';
import { foldConfiguration, EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const { language, templates } = reading;
const WHEN = '    when: event.status == "paid" && event.total > 100';
const UNIQUE = '      unique_id: event_id';

const TWIN = `security: { api_keys: [backend] }
channels: { email: { template: order-paid } }
rules: { r: { when: "true", recipients: { from: event, to: { email: event.email } } } }
`;

/** Resources as the API gets them: without a file. */
const wanted = (changes: Readonly<Record<string, string>> = {}): readonly WantedResource[] => {
  const { resources } = read(changes);
  return resources.map(({ ref, body }) => ({ ref, body }));
};

describe('resources without a file', () => {
  test.each([
    ['an expression', notificationWith(WHEN, '    when: event.a == §')],
    ['a name of nothing', notificationWith('    stream: orders', '    stream: oders')],
    ['a stream that nobody may send to', { 'workspaces/shop/streams/orders.yaml': 'security: {}\n' }],
    ['a part of a template', { 'workspaces/shop/templates/order-paid/email.html': '<p>{{§}}</p>\n' }],
    ['a subject', { 'workspaces/shop/templates/order-paid/email.yaml': 'subject: a § b\n' }],
    [
      'a partner',
      {
        'workspaces/shop/integrations/crm.yaml':
          'kind: lookup\nurl: https://crm.example.com/\nauthorization: { key: { secret: K }, base64: true }\n',
      },
    ],
    [
      'an id that is there twice',
      {
        'workspaces/shop/notifications/again.yaml': `id: ntf_00000000000000000000000001\n${TWIN}`,
        'workspaces/shop/notifications/twin.yaml': `id: ntf_00000000000000000000000001\n${TWIN}`,
      },
    ],
    ['a warning', notificationWith(UNIQUE, '      person: event.id')],
  ])('are checked like files: %s', (_what, changes) => {
    const folder = read(changes);
    const { faults, warnings } = checkResources(wanted(changes), reading);
    expect(faults.map(folder.faultAt)).toEqual(expect.arrayContaining([...folder.faults]));
    expect(faults).toHaveLength(folder.faults.length);
    expect(warnings.map(folder.warningAt)).toEqual(expect.arrayContaining([...folder.warnings]));
    expect(faults.length + warnings.length).toBeGreaterThan(0);
  });

  test('report mistakes by path, and by position within an expression', () => {
    const { faults } = checkResources(wanted(notificationWith(WHEN, '    when: event.a == §')), reading);
    expect(faults).toEqual([
      {
        ref: { kind: 'notification', workspace: 'shop', name: 'order-paid' },
        path: ['rules', 'paid', 'when'],
        spot: { line: 1, column: 12 },
        code: 'expression_invalid',
        facts: { message: 'unexpected §', fix: 'remove it' },
        message: 'unexpected §',
        expected: 'a valid expression (CEL)',
        fix: 'remove it',
      },
    ]);
  });
});

test('a mistake in a plan has its line in the folder', () => {
  const before = planChanges(EMPTY_CONFIGURATION, wanted(), {
    prune: false,
    newId: (kind) => `${kind}_1`,
    language,
    templates,
  });
  const record = { changes: before.record };
  const { configuration } = foldConfiguration(EMPTY_CONFIGURATION, record, 0);
  const folder = read({
    'workspaces/shop/streams/orders.yaml': 'security: { api_keys: [backend] }\nkey: event.id\n',
  });
  const { faults } = planChanges(configuration, folder.resources, {
    prune: false,
    newId: (kind) => `${kind}_2`,
    language,
    templates,
  });
  expect(faults.map(folder.faultAt)).toMatchObject([
    { file: 'workspaces/shop/streams/orders.yaml', line: 2, column: 6, path: 'key', expected: 'event.order_id' },
  ]);
  expect(folder.resources.filter((item) => isKind(item, 'stream')).map(({ body }) => body.key)).toEqual(['event.id']);
  expect(faults.map(({ path }) => pathText(path))).toEqual(['key']);
});
