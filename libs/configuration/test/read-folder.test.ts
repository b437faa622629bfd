import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { formatFault, readConfigurationFolder } from '@carillon/configuration';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultsOf, goodFolder, notificationWith, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const WHEN = '    when: event.status == "paid" && event.total > 100';
const UNIQUE = '      unique_id: event_id';
const file = 'workspaces/shop/notifications/order-paid.yaml';
const onlyFault = (changes: Readonly<Record<string, string | null>>) => {
  const faults = faultsOf(changes);
  expect(faults.map(formatFault)).toHaveLength(1);
  return faults[0]!;
};

describe('a folder without mistakes', () => {
  test('becomes resources with the bodies of the files', () => {
    const { resources, faults } = read({});
    expect(faults).toEqual([]);
    expect(resources.map(({ ref, body }) => [ref.kind, ref.workspace, ref.name, body])).toEqual([
      ['deployment', '', '', {}],
      [
        'notification',
        'shop',
        'order-paid',
        {
          channels: { email: { template: 'order-paid' } },
          rules: {
            paid: {
              stream: 'orders',
              when: 'event.status == "paid" && event.total > 100',
              recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
            },
          },
        },
      ],
      ['stream', 'shop', 'orders', { key: 'event.order_id', security: { api_keys: ['backend'] } }],
      ['workspace', 'shop', '', { name: 'Shop' }],
      ['template', 'shop', 'order-paid', { email: { subject: 'Paid', html: '<p>Paid</p>\n' } }],
    ]);
  });

  test('is reported with a missing API key and the command that creates it', () => {
    expect(read({}).warnings).toMatchObject([
      {
        file: 'workspaces/shop/streams/orders.yaml',
        line: 2,
        fix: 'run: npx carillon api-key create backend --workspace shop',
      },
    ]);
  });

  test('is accepted without a warning if the API key exists', () => {
    const { configuration } = foldConfiguration(
      EMPTY_CONFIGURATION,
      {
        changes: [
          {
            ref: { kind: 'api_key', workspace: 'shop', name: 'backend' },
            based_on: null,
            body: { key_id: '7Qm4k2Zp', digest: '00', created_at: '2026-01-01T00:00:00.000Z' },
          },
        ],
      },
      0,
    );
    const context = { ...reading, current: configuration };
    expect(readConfigurationFolder(new Map(Object.entries(goodFolder)), context).warnings).toEqual([]);
  });

  test('may contain notes and hidden files', () => {
    expect(faultsOf({ 'README.md': '# x', '.gitignore': 'x', 'workspaces/shop/.keep': '' })).toEqual([]);
    expect(faultsOf({ 'workspaces/shop/tests/order-paid.yaml': 'no case: [' })).toEqual([]);
  });
});

describe('silent surprises of YAML are reported', () => {
  test('an expression that begins with ! would be an empty tag', () => {
    const fault = onlyFault(notificationWith(WHEN, '    when: !event.deleted'));
    expect(fault).toMatchObject({ line: 6, column: 11, path: 'rules.paid.when' });
    expect(fault.message).toContain('!event.deleted, which YAML reads as a tag');
    expect(fault.fix).toContain('after |');
  });

  test('a comma inside braces would start a second key', () => {
    const faults = faultsOf(
      notificationWith('    recipients:', '    x: { when: xs.exists(t, t == "a") }\n    recipients:'),
    );
    expect(faults.some(({ fix }) => fix.includes('a comma inside { } begins a new key'))).toBe(true);
  });

  test('a key without a value', () => {
    expect(onlyFault(notificationWith(UNIQUE, '      unique_id:'))).toMatchObject({
      line: 10,
      path: 'rules.paid.recipients.unique_id',
    });
  });

  test('a duplicate key', () => {
    expect(onlyFault(notificationWith(UNIQUE, `${UNIQUE}\n      unique_id: event.id`))).toMatchObject({
      line: 11,
      column: 7,
      message: 'this key is there twice',
    });
  });

  test('an alias is refused', () => {
    expect(onlyFault({ 'workspaces/shop/workspace.yaml': 'name: &x Shop\nlocale: *x\n' }).message).toContain('alias');
  });

  test('an expression that YAML parses as number or boolean keeps its text', () => {
    const { resources } = read(notificationWith(WHEN, '    when: true'));
    expect(JSON.stringify(resources)).toContain('"when":"true"');
    const other = read(notificationWith(UNIQUE, '      unique_id: 1.50'));
    expect(JSON.stringify(other.resources)).toContain('"unique_id":"1.50"');
  });

  test.each(['['.repeat(50_000), '{a: '.repeat(50_000), '- '.repeat(50_000)])('nesting without an end', (text) => {
    expect(onlyFault({ 'carillon.yaml': text }).message).toBe('the file is nested too deeply');
  });

  test('a file with many keys is refused quickly, and a larger one is not parsed', () => {
    const keys = (count: number): string => Array.from({ length: count }, (_, at) => `k${at}: ${at}\n`).join('');
    const first = read({ 'workspaces/shop/workspace.yaml': keys(4_600) });
    expect(first.faults.filter(({ message }) => message.startsWith('there is no setting'))).toHaveLength(4_600);
    expect(onlyFault({ 'carillon.yaml': keys(6_000) }).message).toBe('the file is too large');
  });

  test('many sibling groups are not too deep', () => {
    const rules = Array.from(
      { length: 300 },
      (_item, index) =>
        `  r${index}: { stream: orders, when: event.a, recipients: { from: event, to: { email: event.e }, unique_id: event_id } }`,
    );
    const text = ['channels: { email: { template: order-paid } }', 'rules:', ...rules, ''].join('\n');
    expect(faultsOf({ [file]: text })).toEqual([]);
  });

  test('invalid YAML is reported with its position', () => {
    const fault = onlyFault({ 'workspaces/shop/streams/orders.yaml': 'key: a ? "x" : "y"\n' });
    expect(fault).toMatchObject({ file: 'workspaces/shop/streams/orders.yaml', line: 1 });
    expect(fault.fix).toContain('after |');
  });
});

describe('a mistake in keys and values', () => {
  test('suggests the most similar key for an unknown one', () => {
    expect(onlyFault(notificationWith(UNIQUE, '      uniqe_id: event_id'))).toMatchObject({
      line: 10,
      column: 7,
      path: 'rules.paid.recipients.uniqe_id',
      fix: 'did you mean unique_id?',
    });
  });

  test.each([
    ['when', notificationWith(`${WHEN}\n`, ''), 'when is missing'],
    ['a duration', notificationWith('channels:', 'expires: soon\nchannels:'), '"soon" does not fit'],
    ['a switch', notificationWith('channels:', 'enabled: "yes"\nchannels:'), '"yes" does not fit'],
    ['a word of a list', notificationWith('channels:', 'in_doubt: resnd\nchannels:'), '"resnd" does not fit'],
    ['a name for people that is a number', { 'workspaces/shop/workspace.yaml': 'name: 5\n' }, '5 does not fit'],
    ['a time zone', { 'workspaces/shop/workspace.yaml': 'time_zone: Mars/Base\n' }, '"Mars/Base" does not fit'],
    ['a language in words', { 'workspaces/shop/workspace.yaml': 'locale: english\n' }, '"english" does not fit'],
    ['a language of a system', { 'workspaces/shop/workspace.yaml': 'locale: de_DE\n' }, '"de_DE" does not fit'],
    ['the name of a rule', notificationWith('  paid:', '  Paid Order:'), 'the name "Paid Order" cannot be used'],
  ] as const)('is described: %s', (_name, changes, message) => {
    const fault = onlyFault(changes);
    expect(fault.message).toBe(message);
    expect(fault.expected).not.toMatch(/invalid|expected/i);
    expect(fault.fix).not.toBe('');
  });

  test.each([
    ['time_zone: Berlin', 'did you mean Europe/Berlin?'],
    ['time_zone: Europa/Berlin', 'did you mean Europe/Berlin?'],
    ['time_zone: New York', 'did you mean America/New_York?'],
    ['time_zone: Mars/Base', 'change it'],
    ['locale: de_DE', 'did you mean de-DE?'],
    ['locale: de_AT.UTF-8', 'did you mean de-AT?'],
    ['locale: German', 'did you mean de?'],
    ['locale: klingon', 'change it'],
  ])('suggests place and language: %s', (line, fix) => {
    expect(onlyFault({ 'workspaces/shop/workspace.yaml': `${line}\n` }).fix).toBe(fix);
  });

  test('refuses a plain password and explains secrets', () => {
    const account = 'kind: smtp\nhost: mail\nport: 25\nfrom: a@b.example\npassword: hunter2\n';
    const fault = onlyFault({ 'workspaces/shop/accounts/mail.yaml': account });
    expect(fault).toMatchObject({ line: 5, message: 'a secret must not be written into a file' });
    expect(formatFault(fault)).not.toContain('hunter2');
  });

  test('reports all mistakes at once, in reading order', () => {
    const faults = faultsOf({
      'workspaces/shop/workspace.yaml': 'nmae: Shop\n',
      'workspaces/shop/streams/orders.yaml': 'kye: event.id\n',
      ...notificationWith(WHEN, '    when: event.§ == 1'),
      'workspaces/Shop!/workspace.yaml': 'name: x\n',
      'workspaces/shop/notification/x.yaml': 'name: x\n',
    });
    expect(faults.map(({ file: at, path }) => `${at} ${path}`)).toEqual([
      'workspaces/Shop!/workspace.yaml ',
      'workspaces/shop/notification/x.yaml ',
      `${file} rules.paid.when`,
      'workspaces/shop/streams/orders.yaml kye',
      'workspaces/shop/streams/orders.yaml security',
      'workspaces/shop/workspace.yaml nmae',
    ]);
  });
});

describe('planned keys are refused by name', () => {
  test.each([['limits', { 'carillon.yaml': 'limits: { body: 1MiB }\n' }]])('%s', (what, changes) => {
    expect(onlyFault(changes).message).toMatch(new RegExp(`^${what} comes in a later version`));
  });
});

describe('a reference', () => {
  test('to an unknown template suggests the most similar one', () => {
    expect(onlyFault(notificationWith('template: order-paid', 'template: order-piad'))).toMatchObject({
      message: 'there is no template order-piad',
      fix: 'did you mean order-paid?',
    });
  });

  test('to an unknown stream names the file to write', () => {
    expect(onlyFault(notificationWith('stream: orders', 'stream: invoices')).fix).toBe(
      'write workspaces/shop/streams/invoices.yaml',
    );
  });

  test('to a file with a mistake is not a second mistake', () => {
    expect(onlyFault({ 'workspaces/shop/streams/orders.yaml': 'security: { api_keys: [a] }\nkye: x\n' }).path).toBe(
      'kye',
    );
  });

  test('refuses security if every rule uses a shared stream, and names the stream’s file', () => {
    const fault = onlyFault(notificationWith('channels:', 'security: { api_keys: [backend] }\nchannels:'));
    expect(fault.fix).toContain('workspaces/shop/streams/orders.yaml');
  });

  test('requires security if a rule has its own stream', () => {
    expect(onlyFault(notificationWith('    stream: orders\n', '')).message).toContain(
      'nobody is allowed to send events here yet',
    );
  });

  test('refuses an id used by two files, which is usually a copy', () => {
    const text = `id: ntf_00000000000000000000000000\n${goodFolder[file]}`;
    const fault = onlyFault({ [file]: text, 'workspaces/shop/notifications/order-paid2.yaml': text });
    expect(fault.message).toContain('already has this id');
  });
});

describe('surprising settings cause warnings', () => {
  const wordsOf = (changes: Readonly<Record<string, string>>) => read(changes).warnings.map(({ message }) => message);

  test('without unique_id each address gets the notification once, ever', () => {
    expect(wordsOf(notificationWith(`${UNIQUE}\n`, ''))).toContain(
      'unique_id is missing, so each address gets this notification once, ever',
    );
  });

  test('with for_each, a unique_id without item notifies only the first recipient', () => {
    const changes = notificationWith(UNIQUE, '      for_each: event.watchers\n      unique_id: event.id');
    expect(wordsOf(changes).some((message) => message.includes('does not mention item'))).toBe(true);
    const fine = notificationWith(UNIQUE, '      for_each: event.watchers\n      unique_id: item.id');
    expect(wordsOf(fine).some((message) => message.includes('does not mention item'))).toBe(false);
  });
});

describe('faults in expressions and templates have the position of the character in the file', () => {
  const placeOf = (text: string) => {
    const before = text.slice(0, text.indexOf('§')).split('\n');
    return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
  };

  test.each([
    ['plain', '    when: event.a == §'],
    ['plain over two lines', '    when: event.a\n      == §'],
    ['single quoted', "    when: 'event.a == \"it''s\" && §'"],
    ['double quoted with escapes', '    when: "event.a == \\"\\u0041\\t\\" && §"'],
    ['after |', '    when: |\n      event.a == 1\n        && event.b == §'],
    ['after |- with a comment', '    when: |- # why\n      event.a == 1 &&\n      §'],
    ['after >', '    when: >\n      event.a == 1\n      && §'],
    ['with Windows line ends', '    when: |\r\n      event.a ==\r\n      §\r'],
  ])('%s', (_name, by) => {
    const changes = notificationWith(WHEN, by);
    expect(onlyFault(changes)).toMatchObject({ file, ...placeOf(changes[file] ?? '') });
  });

  test('in the subject, and in the HTML', () => {
    const folder = 'workspaces/shop/templates/order-paid';
    expect(onlyFault({ [`${folder}/email.yaml`]: 'subject: "Order {{§}}"\n' })).toMatchObject({
      file: `${folder}/email.yaml`,
      line: 1,
      column: 19,
    });
    expect(onlyFault({ [`${folder}/email.html`]: '<p>\n {{§}}</p>' })).toMatchObject({
      file: `${folder}/email.html`,
      line: 2,
      column: 4,
    });
  });

  test('for any text in any YAML style', () => {
    const word = fc.constantFrom('a', '"b"', "it's", '\\', '==', '  ', 'é', '🔔', '§');
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), fc.nat(4), (words, style) => {
        const text = `x ${words.join(' ')} §`.replaceAll(/ +/g, ' ');
        const written = [
          `|\n      ${text}`,
          `>-\n      ${text}`,
          `'${text.replaceAll("'", "''")}'`,
          JSON.stringify(text),
          `|-\n      x\n      ${text}`,
        ][style];
        const changes = notificationWith(WHEN, `    when: ${written}`);
        expect(faultsOf(changes)[0]).toMatchObject(placeOf(changes[file] ?? ''));
      }),
    );
  });
});

test('reading never throws for any files', () => {
  const names = fc.constantFrom(...Object.keys(goodFolder), 'x', 'workspaces/a/b/c/d', 'workspaces//x.yaml');
  const yaml = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '[',
      '{a: ',
      '- - -',
      '? a',
      '!!binary x',
      '<<: *a',
      'a: &a [*a]',
      '%',
      '['.repeat(20_000),
      '- '.repeat(20_000),
      '? '.repeat(9000),
    ),
  );
  fc.assert(
    fc.property(fc.dictionary(names, yaml, { maxKeys: 3 }), (changes) => {
      expect(Array.isArray(read(changes).faults)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

describe('a rule that could use all its steps', () => {
  const warningsOf = (by: string): readonly string[] =>
    read(notificationWith('      unique_id: event_id', by))
      .warnings.filter(({ message }) => message.includes('steps'))
      .map(({ message, line, fix }) => `${line}: ${message}; ${fix}`);
  const where = '      unique_id: event_id\n      where: matches(event.text)';

  test('causes a warning at its name', () => {
    const [warning, ...others] = warningsOf(`${where}\n      for_each: event.watchers`);
    expect(others).toEqual([]);
    expect(warning).toMatch(
      /^4: on an event with 500 recipients, .* about 150\d{4} steps of the 1000000 .* too_complex; /,
    );
  });

  test('causes none with one recipient or little work for each', () => {
    expect(warningsOf(where)).toEqual([]);
    expect(warningsOf('      unique_id: event_id\n      for_each: event.watchers')).toEqual([]);
  });
});
