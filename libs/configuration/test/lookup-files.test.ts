import { formatFault, type FileFault } from '@carillon/configuration';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';

const CRM = 'workspaces/shop/integrations/crm.yaml';
const PARTNER = [
  'kind: lookup',
  'url: https://crm.example.com/recipients',
  'authorization: { scheme: Bearer, key: { secret: CRM_KEY } }',
  'match: variables.user_id',
  '',
].join('\n');

const BY_EVENT = ['      from: event', '      to: { email: event.customer.email }'].join('\n');
const BY_LOOKUP = ['      from: lookup', '      integration: crm', '      user_ids: event.watchers'].join('\n');

/** The good folder with a rule that asks the partner, with one text replaced by another. */
function withPartner(from = '', to = ''): ReturnType<typeof read> {
  const [file = '', text = ''] = Object.entries(notificationWith(BY_EVENT, BY_LOOKUP))[0] ?? [];
  const files = { [CRM]: PARTNER, [file]: text };
  if (from === '') return read(files);
  if (!`${PARTNER}${text}`.includes(from)) throw new Error(`no such text: ${from}`);
  return read({ [CRM]: PARTNER.replace(from, () => to), [file]: text.replace(from, () => to) });
}

function onlyFault(from: string, to: string): FileFault {
  const { faults } = withPartner(from, to);
  expect(faults.map(formatFault)).toHaveLength(1);
  return faults[0]!;
}

describe('a partner and a rule that asks it', () => {
  test('become resources with the bodies of the files', () => {
    const { resources, faults } = withPartner();
    expect(faults).toEqual([]);
    const bodies = Object.fromEntries(resources.map(({ ref, body }) => [ref.kind, body]));
    expect(bodies['integration']).toEqual({
      kind: 'lookup',
      url: 'https://crm.example.com/recipients',
      authorization: { scheme: 'Bearer', key: { secret: 'CRM_KEY' } },
      match: 'variables.user_id',
    });
    expect(bodies['notification']).toMatchObject({
      rules: {
        paid: {
          recipients: { from: 'lookup', integration: 'crm', user_ids: 'event.watchers', unique_id: 'event_id' },
        },
      },
    });
  });

  test('may use every setting of a partner', () => {
    const more = [
      'in_order: true',
      'headers: { X-Tenant: shop, X-Token: { secret: CRM_TOKEN } }',
      'timeouts: { connect: 1s, total: 30s }',
    ].join('\n');
    expect(withPartner('match: variables.user_id', more).faults).toEqual([]);
    expect(withPartner('scheme: Bearer,', 'scheme: Basic, base64: true, second_key: { secret: B },').faults).toEqual(
      [],
    );
  });
});

describe('a mistake about a partner', () => {
  test.each([
    ['integration: crm', 'integration: crn', 'recipients.integration', 'did you mean crm?'],
    ['      user_ids: event.watchers\n', '', 'recipients.user_ids', 'add user_ids: …'],
    ['user_ids:', 'user_id:', 'recipients', ''],
    ['from: lookup', 'from: loookup', 'recipients.from', 'did you mean lookup?'],
    ['user_ids: event.watchers', 'user_ids: event.watchers§', 'recipients.user_ids', 'remove it'],
    ['unique_id: event_id', 'unique_id: item.id', 'recipients.unique_id', 'event instead of item'],
    ['unique_id: event_id', 'for_each: event.watchers', 'recipients.for_each', 'remove for_each'],
    ['kind: lookup', 'kind: lookups', 'kind', 'did you mean lookup?'],
    ['url: https://crm.example.com/recipients', 'url: crm.example.com', 'url', 'change it'],
    ['url: https://', 'url: https://user:word@', 'url', 'change it'],
    ['key: { secret: CRM_KEY }', 'key: abcdef', 'authorization.key', 'carillon secret set'],
    ['scheme: Bearer', 'scheme: bearer', 'authorization.scheme', 'did you mean Bearer?'],
    ['scheme: Bearer,', 'scheme: Bearer, base64: true,', 'authorization.base64', 'scheme: Basic'],
    ['match: variables.user_id', 'match: variables[0]', 'match', 'change it'],
    ['match:', 'in_order: true\nmatch:', 'in_order', 'remove in_order'],
    ['match:', 'headers: { Host: x }\nmatch:', 'headers.Host', 'another name'],
    ['match:', 'headers: { X-A: "a\\nb" }\nmatch:', 'headers.X-A', 'change it'],
    ['match:', 'timeouts: { total: 5m }\nmatch:', 'timeouts.total', 'change it'],
  ])('%s → %s', (from, to, path, fix) => {
    const faults = withPartner(from, to).faults;
    expect(faults.map(formatFault).join('\n')).toContain(path);
    expect(faults.map((fault) => fault.fix).join('\n')).toContain(fix);
  });

  test('has the position of the character', () => {
    expect(onlyFault('user_ids: event.watchers', 'user_ids: event.§')).toMatchObject({ line: 10, column: 23 });
  });
});

describe('a warning', () => {
  const warnings = (from: string, to: string): string =>
    withPartner(from, to)
      .warnings.map(({ message }) => message)
      .join('\n');

  test('is given if a key would be sent unencrypted', () => {
    expect(warnings('url: https:', 'url: http:')).toContain('http sends keys and messages unencrypted');
    expect(warnings('', '')).not.toContain('http sends keys and messages unencrypted');
  });

  test('is given if one unique_id applies to all recipients of an event', () => {
    expect(warnings('unique_id: event_id', 'unique_id: event.order_id')).toContain('only the first is notified');
    expect(warnings('unique_id: event_id', 'unique_id: event_id')).not.toContain('only the first is notified');
  });
});
