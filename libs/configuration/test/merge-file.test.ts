import { mergeFile, readConfigurationFolder, writeConfigurationFolder } from '@carillon/configuration';
import { EMPTY_CONFIGURATION, type Configuration, type Resource, resourceKey } from '@carillon/domain/configuration';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configurations } from './support/bodies.ts';
import { reading } from './support/small-language.ts';

const RULE = 'workspaces/shop/notifications/paid.yaml';

describe('an export over an existing file', () => {
  test('keeps comments and the order of keys, and changes only different values', () => {
    const there = `# Told once for each order.
rules:
  paid:
    # Small sums are not worth a mail.
    when: event.total > 100 # euros
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
channels: { email: { template: paid } }

# Half a day is enough.
expires: 12h
category: orders
`;
    const exported = `channels:
  email:
    template: paid
rules:
  paid:
    id: rul_00000000000000000000000001
    when: event.total > 200
    recipients:
      from: event
      to:
        email: event.email
      unique_id: event_id
expires: 12h
`;
    expect(mergeFile(RULE, there, exported)).toBe(`# Told once for each order.
rules:
  paid:
    # Small sums are not worth a mail.
    when: event.total > 200 # euros
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
    id: rul_00000000000000000000000001
channels: { email: { template: paid } }

# Half a day is enough.
expires: 12h
`);
  });

  test('leaves a file with the same contents unchanged', () => {
    const there = 'expires:   1d # a day\nchannels: { email: { template: "paid" } }\nrules: {}\n';
    const exported = 'channels:\n  email:\n    template: paid\nrules: {}\nexpires: 1d\n';
    expect(mergeFile(RULE, there, exported)).toBe(there);
  });

  test('keeps the settings of carillon.yaml that only the start of a process reads', () => {
    const there = 'brokers: [kafka-1:9092] # the first\nbackend: cluster\naccounts: { email: { kind: sandbox } }\n';
    expect(mergeFile('carillon.yaml', there, '{}\n')).toBe('brokers: [ kafka-1:9092 ] # the first\nbackend: cluster\n');
    expect(mergeFile('carillon.yaml', 'backend: embedded # here\n', '{}\n')).toBe('backend: embedded # here\n');
  });

  test('replaces an unreadable file, and parts of templates', () => {
    const exported = 'channels: {}\nrules: {}\n';
    expect(mergeFile(RULE, 'rules: [', exported)).toBe(exported);
    expect(mergeFile('workspaces/shop/templates/paid/email.html', '<p>a</p>', '<p>b</p>')).toBe('<p>b</p>');
  });

  test('reads back as the exported configuration, whatever the file was', () => {
    fc.assert(
      fc.property(configurations, configurations, (before, after) => {
        const there = writeConfigurationFolder(before);
        const merged = [...writeConfigurationFolder(after)].map(
          ([path, text]) => [path, mergeFile(path, there.get(path) ?? '', text)] as const,
        );
        const { faults, resources } = readConfigurationFolder(new Map(merged), { ...reading, current: after });
        expect(faults).toEqual([]);
        const read = new Map(resources.map(({ ref, body }) => [resourceKey(ref), body]));
        const wanted = [...after.resources].filter(([, { ref }]) => ref.kind !== 'api_key');
        for (const [key, { body }] of wanted) expect(read.get(key)).toEqual(body);
      }),
      { numRuns: 15 },
    );
  });
});

test('an export names its backend in carillon.yaml, if it has that file', () => {
  const deployment: Resource = {
    ref: { kind: 'deployment', workspace: '', name: '' },
    body: { accounts: { email: { kind: 'sandbox' } } },
    number: 0,
    version: 1,
    ruleVersions: {},
  };
  const configuration: Configuration = { number: 0, resources: new Map([[resourceKey(deployment.ref), deployment]]) };
  expect(writeConfigurationFolder(configuration, { backend: 'embedded' }).get('carillon.yaml')).toBe(
    'backend: embedded\naccounts:\n  email:\n    kind: sandbox\n',
  );
  expect([...writeConfigurationFolder(EMPTY_CONFIGURATION, { backend: 'embedded' })]).toEqual([]);
});
