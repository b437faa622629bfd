import { describe, expect, it } from 'vitest';
import { Refusal } from '../src/api/client.ts';
import {
  nameFault,
  refusedFields,
  removalWords,
  testBodyOf,
  testNameOf,
} from '../src/screens/workspaces/make-workspace.ts';

const fault = (path: string, code: string, facts: Record<string, string>) => ({
  kind: 'workspace',
  workspace: 'Shop',
  name: '',
  line: null,
  column: null,
  path,
  code,
  facts,
  message: code,
  expected: '',
  fix: 'Choose another.',
});

describe('a new workspace', () => {
  it('shows a mistake found by the page only if the server could not be asked', () => {
    expect(nameFault('shop', ['shop'])).toContain('There is a workspace shop already');
    expect(nameFault('..', [])).toContain('cannot be used');
    expect(nameFault('Shop', ['shop'])).toBeNull();
  });

  it('shows the server’s message at its field', () => {
    const faults = [
      fault('', 'name_invalid', { name: 'Shop', expected: 'a name of a-z' }),
      fault('locale', 'value_invalid', { found: '"deutsch"', expected: 'a language', meant: 'de' }),
    ];
    const refused = refusedFields(new Refusal('both', 422, { code: 'invalid_configuration', faults }), 'Shop');
    expect(refused.fields['']).toBe('name_invalid. Choose another.');
    expect(refused.fields.locale).toBe('value_invalid. Choose another.');
    expect([refused.fields.time_zone, refused.rest]).toEqual([null, null]);
  });

  it('reports that the name was taken meanwhile', () => {
    const lost = new Refusal('read it again, and send If-Match', 412);
    expect(refusedFields(lost, 'shop')).toMatchObject({
      fields: { '': 'There is a workspace shop already. Give another name.' },
      rest: null,
    });
  });

  it('shows messages without a field above the form', () => {
    const away = new Refusal('Carillon does not answer. Is it running?', 0);
    expect(refusedFields(away, 'shop').rest).toBe(away);
    const elsewhere = new Refusal('of: there is no workspace shop', 422, {
      faults: [fault('of', 'workspace_unknown', { workspace: 'shop' })],
    });
    expect(refusedFields(elsewhere, 'shop-test').rest).toBe(elsewhere);
  });
});

describe('a test environment', () => {
  it('is named after its workspace, with a free name of allowed length', () => {
    expect(testNameOf('shop', ['shop'])).toBe('shop-test');
    expect(testNameOf('shop', ['shop', 'shop-test', 'shop-test-2'])).toBe('shop-test-3');
    expect(testNameOf('a'.repeat(63), [])).toBe(`${'a'.repeat(58)}-test`);
  });

  it('starts with the settings of its workspace, and reaches no real people', () => {
    const body = { name: 'Shop', locale: 'de', categories: { orders: {} } };
    expect(testBodyOf({ workspace: 'shop', body })).toEqual({
      ...body,
      name: 'Shop (test)',
      environment: 'test',
      of: 'shop',
    });
    expect(testBodyOf({ workspace: 'shop', body: { allow_real_accounts: true } })).not.toHaveProperty(
      'allow_real_accounts',
    );
  });
});

describe('the contents of a workspace', () => {
  const held = { workspace: 'shop', removed: false, number: 4, new_number: null, faults: [], waiting: 0, waits: [] };

  it('are listed by kind, with secrets, drafts, members and notified people', () => {
    const resources = { stream: 1, notification: 2, api_key: 1 };
    expect(removalWords({ ...held, resources, members: 1, secrets: 3, drafts: 2, told: 1_204 })).toBe(
      'It also removes 2 notifications, 1 shared stream, 1 API key, 3 secrets, 2 drafts. 1 member loses a role in it. 1,204 people were notified by it.',
    );
  });

  it('are empty for an empty workspace', () => {
    expect(removalWords({ ...held, resources: {}, members: 0, secrets: 0, drafts: 0, told: 1 })).toBe(
      'It is empty. 1 person was notified by it.',
    );
  });
});
