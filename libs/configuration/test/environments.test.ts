import { formatFault, planChanges } from '@carillon/configuration';
import { resourceKey } from '@carillon/domain/configuration';
import { configurationOf, workspaceSettings } from '@carillon/testing/given';
import { describe, expect, test } from 'vitest';
import { read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const fileOf = (workspace: string): string => `workspaces/${workspace}/workspace.yaml`;
const settings = (workspace: string, text: string) => ({ [fileOf(workspace)]: text });
const faults = (changes: Readonly<Record<string, string>>): readonly string[] => read(changes).faults.map(formatFault);

const options = {
  prune: false,
  newId: (kind: string) => `${kind}_1`,
  language: reading.language,
  templates: reading.templates,
};

describe('a test environment', () => {
  test('names the workspace that it tests; whether it uses real accounts is a separate setting', () => {
    expect(faults(settings('shop-test', 'environment: test\nof: shop\nallow_real_accounts: true\n'))).toEqual([]);
    expect(faults(settings('shop-test', 'environment: test\n'))).toEqual([]);
    expect(faults(settings('shop-test', 'environment: live\n'))).toEqual([]);
  });

  test.each([
    ['is of a workspace that is not there', 'environment: test\nof: shp\n', 'there is no workspace shp'],
    ['is of itself', 'environment: test\nof: shop-test\n', 'cannot be the test environment of itself'],
    ['is of another test environment', 'environment: test\nof: old-test\n', 'old-test is a test environment itself'],
    ['is none, and says of what', 'of: shop\n', 'only a test environment has of'],
    [
      'is none, and says what it may reach',
      'allow_real_accounts: true\n',
      'only a test environment has allow_real_accounts',
    ],
    ['is called otherwise', 'environment: staging\n', 'expected live or test'],
  ])('is refused if it %s', (_, text, words) => {
    const old = settings('old-test', 'environment: test\nof: shop\n');
    const found = faults({ ...old, ...settings('shop-test', text) });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${fileOf('shop-test')}:`);
    expect(found[0]).toContain(words);
  });

  test('causes a warning about a missing account, and is refused with it once real accounts are allowed', () => {
    const at = 'workspaces/shop-test';
    const files = {
      [`${at}/streams/orders.yaml`]: 'security: { api_keys: [backend] }\n',
      [`${at}/templates/paid/email.yaml`]: 'subject: Paid\nfrom: shop@example.com\n',
      [`${at}/templates/paid/email.txt`]: 'Paid.\n',
      [`${at}/notifications/paid.yaml`]:
        'channels: { email: { template: paid, accounts: [mail] } }\nrules: { paid: { stream: orders, when: event.paid, recipients: { from: event, to: { email: event.email }, unique_id: event.id } } }\n',
    };
    const sandboxed = read({ ...files, ...settings('shop-test', 'environment: test\nof: shop\n') });
    expect(sandboxed.faults.map(formatFault)).toEqual([]);
    expect(sandboxed.warnings.map(({ message }) => message)).toContain(
      'the account mail is not in this test environment, so its messages stay in the sandbox',
    );
    const real = { ...files, ...settings('shop-test', 'environment: test\nof: shop\nallow_real_accounts: true\n') };
    expect(faults(real)).toHaveLength(1);
    expect(faults(real)[0]).toContain('there is no account mail');
  });

  test('of a workspace whose file is unreadable is not reported as one of a missing workspace', () => {
    const broken = { ...settings('shop', 'nme: Shop\n'), ...settings('shop-test', 'environment: test\nof: shop\n') };
    expect(faults(broken).filter((fault) => fault.includes('shop-test'))).toEqual([]);
  });

  test('that is not in the folder prevents its workspace from becoming a test environment, and from being removed', () => {
    const current = configurationOf(
      [workspaceSettings({})],
      [workspaceSettings({ environment: 'test', of: 'shop' }, 'shop-test')],
    );
    const becoming = planChanges(current, read(settings('shop', 'environment: test\n')).resources, options);
    expect(becoming.faults.map(({ message }) => message)).toEqual([
      'shop-test is a test environment of this workspace, so this stays a live one',
    ]);
    expect(becoming.record).toEqual([]);
    const going = planChanges(current, [], {
      ...options,
      remove: new Set([resourceKey({ kind: 'workspace', workspace: 'shop', name: '' })]),
    });
    expect(going.faults.map(({ message }) => message)).toEqual([
      'shop would be removed, and shop-test is a test environment of it',
    ]);
  });
});
