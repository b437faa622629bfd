import { formatFault } from '@carillon/configuration';
import { err } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readConfigurationFolder } from '../src/index.ts';
import { faultsOf, goodFolder } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';
const TEMPLATE = 'workspaces/shop/templates/order-paid';
const placesOf = (files: Readonly<Record<string, string | null>>): readonly string[] =>
  faultsOf(files).map(({ file, line, column }) => `${file}:${line}:${column}`);

/** Mistakes in lines 10 and 13, and whatever is wrong with the condition in line 6. */
const withCondition = (condition: string): string => `channels:
  email: { template: order-paid }
rules:
  paid:
    stream: orders
    when: ${condition}
    recipients: { from: event, to: { email: event.email }, unique_id: event_id }
  other:
    stream: orders
    when: event.b == §
    recipients:
      from: event
      to: { email: event.§ }
      unique_id: event_id
`;

describe('a YAML error does not hide mistakes in expressions that can still be read', () => {
  test.each([
    ['a colon', 'event.a ? "x" : "y"'],
    ['a bracket that is not closed', '[event.a'],
    ['a brace that is not closed', '{ event.a'],
    ['a character that YAML keeps for itself', '@event.a'],
    ['a tag', '!event.a'],
    ['an alias', '*event'],
    ['nothing', ''],
  ])('%s', (_what, condition) => {
    const places = placesOf({ [NOTIFICATION]: withCondition(condition) });
    expect(places).toEqual([
      expect.stringMatching(/order-paid\.yaml:[67]:/),
      `${NOTIFICATION}:10:22`,
      `${NOTIFICATION}:13:26`,
    ]);
  });

  test('in the file of a stream either', () => {
    const stream = 'workspaces/shop/streams/orders.yaml';
    expect(placesOf({ [stream]: 'key: event.§\ntime: @event\nsecurity: { api_keys: [backend] }\n' })).toEqual([
      `${stream}:1:12`,
      `${stream}:2:7`,
    ]);
  });
});

describe('a schema mistake does not hide mistakes beside it', () => {
  test.each([
    ['an unknown key', '      uniqe_id: event_id'],
    ['a value of another kind', '      for_each: [1, 2]'],
    ['a key that has to be there', '      unique_id: event_id\n  nothing: {}'],
  ])('%s of a rule', (_what, line) => {
    const text = (goodFolder[NOTIFICATION] ?? '')
      .replace('email: event.customer.email', 'email: event.§')
      .replace('      unique_id: event_id', line);
    const faults = faultsOf({ [NOTIFICATION]: text });
    expect(faults.map(({ message }) => message)).toContain('unexpected §');
    expect(faults.length).toBeGreaterThan(1);
  });

  test('and causes no further mistakes to be reported', () => {
    const text = (goodFolder[NOTIFICATION] ?? '')
      .replace('event.customer.email', 'item.email')
      .replace('      unique_id', '      for_each: [1, 2]\n      unique_id');
    expect(faultsOf({ [NOTIFICATION]: text }).map(({ path }) => path)).toEqual(['rules.paid.recipients.for_each']);
  });
});

describe('a mistake in email.yaml does not hide those of the template', () => {
  test.each([
    ['of YAML', 'subject: a: b\n'],
    ['of shape', 'subject: Paid\nsubjet: x\n'],
    ['a subject that is missing', 'strict: false\n'],
    ['no file', null],
  ])('%s', (_what, yaml) => {
    const places = placesOf({
      [`${TEMPLATE}/email.yaml`]: yaml,
      [`${TEMPLATE}/email.html`]: '<p>§</p>\n',
      [`${TEMPLATE}/email.txt`]: 'a\n  §\n',
    });
    expect(places).toEqual([
      `${TEMPLATE}/email.html:1:4`,
      `${TEMPLATE}/email.txt:2:3`,
      expect.stringMatching(/email\.yaml:/),
    ]);
  });

  test('and a mistake in the subject has its own position', () => {
    expect(placesOf({ [`${TEMPLATE}/email.yaml`]: 'strikt: true\nsubject: a § b\n' })).toEqual([
      `${TEMPLATE}/email.yaml:1:1`,
      `${TEMPLATE}/email.yaml:2:12`,
    ]);
  });

  test('and an empty part does not hide mistakes of the other part', () => {
    expect(placesOf({ [`${TEMPLATE}/email.html`]: ' \n', [`${TEMPLATE}/email.txt`]: '§' })).toEqual([
      `${TEMPLATE}/email.html:1:1`,
      `${TEMPLATE}/email.txt:1:1`,
    ]);
  });
});

test('a YAML error causes no mistake to be reported on a correct line', () => {
  const text = withCondition('event.a').replaceAll('§', 'sound');
  const sound = new Set(['event.a', 'event.email', 'event_id', 'event.b == sound', 'event.sound', 'event.order_id']);
  const language = {
    compile: (source: string, place: Parameters<typeof reading.language.compile>[1]) =>
      sound.has(source)
        ? reading.language.compile(source, place)
        : err([{ line: 1, column: 1, message: `garbled: ${source}`, fix: '' }]),
  };
  const damage = fc.constantFrom(...'" \' { [ } ] & * | % @ ` ,'.split(' '), ': ', '# ', '- ', '\t', '\n', '? ');
  fc.assert(
    fc.property(fc.nat(text.length - 1), damage, (at, damaging) => {
      const damaged = text.slice(0, at) + damaging + text.slice(at);
      const line = text.slice(0, at).split('\n').length;
      const files = new Map(Object.entries({ ...goodFolder, [NOTIFICATION]: damaged }));
      const faults = readConfigurationFolder(files, { ...reading, language }).faults;
      const elsewhere = faults.filter((fault) => fault.message.startsWith('garbled') && fault.line < line);
      const after = faults.filter((fault) => fault.message.startsWith('garbled') && fault.line > line + 1);
      expect([...elsewhere, ...after].map(formatFault)).toEqual([]);
    }),
    { numRuns: 400 },
  );
});
