import {
  type GivenResource,
  readConfigurationFolder,
  readResourceBodies,
  type ResourceFault,
  writeConfigurationFolder,
  writtenTemplate,
  type WrittenKind,
} from '@carillon/configuration';
import { type Resource, resourceKey } from '@carillon/domain/configuration';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configurations } from './support/bodies.ts';
import { goodFolder, notificationWith, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

/** As it comes over the network. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const given = (resources: Iterable<Pick<Resource, 'ref' | 'body'>>): GivenResource[] =>
  [...resources].flatMap(({ ref, body }) =>
    ref.kind === 'api_key' ? [] : [{ ref: { ...ref, kind: ref.kind }, body: sent(body) }],
  );
const good = given(read({}).resources);
const changed = (kind: WrittenKind, body: unknown): GivenResource[] =>
  good.map((one) => (one.ref.kind === kind ? { ref: one.ref, body } : one));
const faultsOf = (all: readonly GivenResource[]): readonly ResourceFault[] => readResourceBodies(all, reading).faults;
const bodyOf = (kind: WrittenKind): Record<string, unknown> =>
  sent(good.find(({ ref }) => ref.kind === kind)?.body) as Record<string, unknown>;
const words = ({ path, message, fix }: ResourceFault): string => `${path}: ${message}; ${fix}`;

describe('resource bodies', () => {
  test('of any configuration read like their files', () => {
    fc.assert(
      fc.property(configurations, (configuration) => {
        const bodies = readResourceBodies(given(configuration.resources.values()), reading);
        expect(bodies.faults.map(words)).toEqual([]);
        const folder = readConfigurationFolder(writeConfigurationFolder(configuration), reading);
        const byKey = (all: readonly Pick<Resource, 'ref' | 'body'>[]) =>
          Object.fromEntries(all.map(({ ref, body }) => [resourceKey(ref), body]));
        expect(byKey(bodies.resources)).toEqual(byKey(folder.resources));
      }),
      { numRuns: 60 },
    );
  });

  test('report the mistakes of their files, in the same words', () => {
    const files = { ...goodFolder, ...notificationWith('event.total > 100', 'event.total > §') };
    const folder = readConfigurationFolder(new Map(Object.entries(files)), reading);
    const notification = bodyOf('notification') as { rules: { paid: { when: string } } };
    notification.rules.paid.when = 'event.status == "paid" && event.total > §';
    const [fault, ...others] = faultsOf(changed('notification', notification));
    expect(others).toEqual([]);
    const [inFile] = folder.faults;
    expect(fault).toMatchObject({ message: inFile?.message, expected: inFile?.expected, fix: inFile?.fix });
    expect(fault).toMatchObject({
      ref: { kind: 'notification', name: 'order-paid' },
      path: 'rules.paid.when',
      line: 1,
    });
  });

  test('report all mistakes at once, those of expressions and of keys', () => {
    const notification = bodyOf('notification') as Record<string, unknown> & {
      rules: { paid: Record<string, unknown> };
    };
    notification['chanels'] = {};
    notification.rules.paid['when'] = 'event.total > §';
    notification['max_staleness'] = '1h';
    expect(faultsOf([...changed('notification', notification)]).map(words)).toEqual([
      'max_staleness: max_staleness comes in a later version (timers); remove it until then',
      'chanels: there is no setting chanels here; did you mean channels?',
      expect.stringMatching(/^rules\.paid\.when: /),
    ]);
  });

  test('give a code and the facts of each mistake, so that a client can phrase it', () => {
    const notification = bodyOf('notification') as { channels: object; rules: object };
    const wrong = {
      ...notification,
      channels: { ...notification.channels, push: { template: 'order-paid' } },
      nmae: 1,
    };
    const { nmae: _, ...rest } = wrong;
    const coded = ({ code, facts, path }: ResourceFault): object => ({ code, facts, path });
    expect(faultsOf(changed('notification', wrong)).map(coded)).toEqual([
      {
        code: 'unknown_setting',
        facts: { setting: 'nmae', meant: 'name', known: expect.stringContaining('name, ') as string },
        path: 'nmae',
      },
    ]);
    expect(faultsOf(changed('notification', rest)).map(coded)).toEqual([
      {
        code: 'template_lacks_channel',
        facts: { template: 'order-paid', channel: 'push', known: '' },
        path: 'channels.push.template',
      },
    ]);
    expect(faultsOf(changed('notification', { ...rest, channels: 5 })).map(coded)).toEqual([
      {
        code: 'value_invalid',
        facts: { found: '5', expected: 'keys and values', meant: '', type: 'group' },
        path: 'channels',
      },
    ]);
  });

  test.each([
    ['..', '..'],
    ['a right-to-left mark', 'order‏paid'],
    ['a slash', 'a/b'],
    ['nothing', ''],
    ['a capital letter', 'Paid'],
  ])('are refused with the name %s', (_words, name) => {
    const [fault] = faultsOf([{ ref: { kind: 'stream', workspace: 'shop', name }, body: bodyOf('stream') }, ...good]);
    expect(fault).toMatchObject({ path: '', fix: 'choose another name' });
    expect(fault?.expected).toContain('a-z');
  });

  test('may have a name that is special in JavaScript', () => {
    const stream = { ref: { kind: 'stream', workspace: 'shop', name: 'constructor' } as const, body: bodyOf('stream') };
    expect(faultsOf([...good, stream])).toEqual([]);
  });

  test.each([
    ['text', 'text'],
    ['a list', []],
    ['null', null],
    ['a number', 5],
  ])('that are %s are refused', (_words, body) => {
    expect(faultsOf(changed('workspace', body)).map(words)).toEqual([
      ': this is not the body of a resource; send a JSON object',
    ]);
  });

  test('that are nested too deep, or contain half a character, are refused before they are read', () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    expect(faultsOf(changed('workspace', { a: deep })).map(words)).toEqual([
      'a: nested more than 32 levels deep; remove levels',
    ]);
    expect(faultsOf(changed('workspace', { name: 'a\ud800' })).map(words)).toEqual([
      'name: a character is incomplete, so no file can hold it; write the text again',
    ]);
  });

  test('that would make an unreadable file are refused', () => {
    const categories = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`c${at}`, { name: 'x'.repeat(80) }]));
    const [fault] = faultsOf(changed('workspace', { name: 'Shop', categories }));
    expect(fault?.message).toMatch(/file/);
  });

  test('of the same resource twice, or in a missing workspace, are refused', () => {
    expect(faultsOf([...good, ...good.slice(0, 1)]).map(({ message }) => message)).toEqual([
      'the deployment is listed twice',
    ]);
    const stream = { ref: { kind: 'stream', workspace: 'shopp', name: 'a' } as const, body: bodyOf('stream') };
    expect(faultsOf([...good, stream]).map(({ message }) => message)).toContain('there is no workspace shopp');
  });

  test('refuse settings of carillon.yaml that only the start of a process reads', () => {
    const [fault, ...others] = faultsOf(changed('deployment', { backend: 'cluster' }));
    expect(others).toEqual([]);
    expect(fault?.path).toBe('backend');
    expect(fault?.fix).toContain('carillon.yaml');
  });
});

describe('the body of a template', () => {
  const template = (body: unknown) => faultsOf(changed('template', body)).map(words);

  test('reports by key what its files would lack', () => {
    expect(template({})).toContain(': a group of keys does not fit; change it');
    expect(template({ email: { subject: 'x' } })).toContain('email: the email has no text yet; write one of them');
    expect(template({ email: { subject: 'x', html: ' ' } })).toContain(
      'email.html: html is empty; write the text, or remove this part',
    );
    expect(template({ email: { subject: 'x', html: 'y', mjml: 'z' } })).toContain(
      'email.mjml: the email has both HTML and MJML; leave out html, or mjml: the HTML is made from the MJML',
    );
    expect(template({ email: { subject: 'x', text: 'y', locales: { DE: { subject: 'x', text: 'y' } } } })).toContain(
      'email.locales.DE: DE is not a language; did you mean de?',
    );
  });

  test('is shown without its compiled html', () => {
    const mjml = '<mjml></mjml>';
    expect(
      writtenTemplate({
        email: { subject: 'x', mjml, html: 'compiled', locales: { de: { subject: 'y', mjml, html: 'übersetzt' } } },
        sms: { text: 'z' },
      }),
    ).toEqual({ email: { subject: 'x', mjml, locales: { de: { subject: 'y', mjml } } }, sms: { text: 'z' } });
  });
});
