import {
  type Configuration,
  type NotificationBody,
  type Resource,
  type ResourceBodies,
  type ResourceKind,
  type RuleBody,
  EMPTY_CONFIGURATION,
  foldConfiguration,
  resourceKey,
} from '@carillon/domain/configuration';
import { type Plan, isWritten, planChanges, type WantedResource, type WrittenKind } from '@carillon/configuration';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configurations } from './support/bodies.ts';
import { read } from './support/folder.ts';
import { smallLanguage, smallTemplates } from './support/small-language.ts';

const resource = <Kind extends WrittenKind>(kind: Kind, name: string, body: ResourceBodies[Kind]): WantedResource => ({
  ref: { kind, workspace: 'shop', name },
  body,
});
const rule = (more: Partial<RuleBody> = {}): RuleBody => ({
  when: 'event.a == 1',
  recipients: { from: 'event', to: { email: 'event.email' } },
  ...more,
});
const notification = (
  rules: Readonly<Record<string, RuleBody>>,
  more: Partial<NotificationBody> = {},
): NotificationBody => ({
  channels: { email: { template: 'mail' } },
  security: { api_keys: ['backend'] },
  rules,
  ...more,
});
const template = resource('template', 'mail', { email: { subject: 'x', text: 'y' } });

let made = 0;
const newId = (kind: 'notification' | 'rule'): string => {
  made += 1;
  return `${kind === 'rule' ? 'rul_' : 'ntf_'}${String(made).padStart(26, '0')}`;
};
const plan = (current: Configuration, desired: readonly WantedResource[], prune = false): Plan =>
  planChanges(current, desired, { prune, newId, language: smallLanguage, templates: smallTemplates });
const applied = (current: Configuration, desired: readonly WantedResource[], prune = false): Configuration => {
  const { record, faults } = plan(current, desired, prune);
  expect(faults).toEqual([]);
  const folded = foldConfiguration(current, { changes: record }, current.number + 1);
  expect(folded.voided).toEqual([]);
  return folded.configuration;
};
const bodyOf = (configuration: Configuration, name: string): NotificationBody =>
  configuration.resources.get(`notification:shop/${name}`)?.body as NotificationBody;
const changeOf = ({ changes }: Plan, kind: ResourceKind, name: string) =>
  changes.find(({ ref }) => ref.kind === kind && ref.name === name);

describe('a plan', () => {
  test('gives a new notification and its rules ids, and each rule its address', () => {
    const after = bodyOf(
      applied(EMPTY_CONFIGURATION, [template, resource('notification', 'paid', notification({ r: rule() }))]),
      'paid',
    );
    expect(after.id).toMatch(/^ntf_/);
    expect(after.rules['r']).toMatchObject({ path: 'shop/paid.r' });
    expect(after.rules['r']?.id).toMatch(/^rul_/);
  });

  test('gives a rule on a shared stream no address of its own', () => {
    const desired = [
      template,
      resource('stream', 'orders', { security: { api_keys: ['backend'] } }),
      resource('notification', 'paid', { channels: {}, rules: { r: rule({ stream: 'orders' }) } }),
    ];
    expect(bodyOf(applied(EMPTY_CONFIGURATION, desired), 'paid').rules['r']?.path).toBeUndefined();
  });

  test('keeps ids and addresses that the file does not give, and then changes nothing', () => {
    const desired = [template, resource('notification', 'paid', notification({ r: rule() }))];
    const current = applied(EMPTY_CONFIGURATION, desired);
    const second = plan(current, desired);
    expect(second.record).toEqual([]);
    expect(second.changes.map(({ action }) => action)).toEqual(['unchanged', 'unchanged']);
  });

  test('lists differences by path and value, and the number on which it is based', () => {
    const current = applied(EMPTY_CONFIGURATION, [
      template,
      resource('notification', 'paid', notification({ r: rule() })),
    ]);
    const next = plan(current, [
      template,
      resource('notification', 'paid', notification({ r: rule({ when: 'event.a == 2' }) })),
    ]);
    expect(changeOf(next, 'notification', 'paid')).toMatchObject({
      action: 'update',
      based_on: 0,
      differences: [{ path: 'rules.r.when', before: 'event.a == 1', after: 'event.a == 2' }],
    });
  });

  test('lists resources that are missing in the folder, and keeps them', () => {
    const current = applied(EMPTY_CONFIGURATION, [template]);
    const next = plan(current, []);
    expect(changeOf(next, 'template', 'mail')?.action).toBe('missing');
    expect(next.record).toEqual([]);
  });

  test('removes resources that are missing in the folder if prune is set', () => {
    const current = applied(EMPTY_CONFIGURATION, [template]);
    expect(applied(current, [], true).resources.size).toBe(0);
  });

  test('of one workspace neither changes nor removes resources of another workspace or the deployment', () => {
    const of = (workspace: string, name: string): WantedResource => ({
      ...template,
      ref: { ...template.ref, workspace, name },
    });
    const current = applied(EMPTY_CONFIGURATION, [of('shop', 'mail'), of('shop', 'old'), of('acme', 'mail')]);
    const changed = { ...of('acme', 'mail'), body: { email: { subject: 'x', text: 'changed' } } } as WantedResource;
    const options = { prune: true, workspace: 'shop', newId, language: smallLanguage, templates: smallTemplates };
    const { changes, record } = planChanges(current, [of('shop', 'mail'), changed], options);
    expect(record.map(({ ref, body }) => [ref.workspace, ref.name, body])).toEqual([['shop', 'old', null]]);
    expect(changes.map(({ ref, action }) => `${action} ${ref.workspace}/${ref.name}`)).toEqual([
      'unchanged shop/mail',
      'delete shop/old',
    ]);
  });

  test('does not remove a partner that a rule asks', () => {
    const partner = resource('integration', 'crm', {
      kind: 'lookup',
      url: 'https://crm.example.com/',
      authorization: { key: { secret: 'CRM_KEY' } },
    });
    const asking = rule({ recipients: { from: 'lookup', integration: 'crm', user_ids: 'event.id' } });
    const desired = [template, resource('notification', 'paid', notification({ r: asking }))];
    const current = applied(EMPTY_CONFIGURATION, [partner, ...desired]);
    expect(plan(current, desired, true).faults).toMatchObject([
      {
        path: ['rules', 'r', 'recipients', 'integration'],
        message: 'the integration crm would be removed and is needed here',
      },
    ]);
  });

  test('does not remove a resource that a remaining one needs', () => {
    const desired = [resource('notification', 'paid', notification({ r: rule() }))];
    const current = applied(EMPTY_CONFIGURATION, [template, ...desired]);
    expect(plan(current, desired, true).faults).toMatchObject([
      { path: ['channels', 'email', 'template'], message: 'the template mail would be removed and is needed here' },
    ]);
  });

  test('does not remove from a template what a notification outside the folder sends', () => {
    const paid = (channels: NotificationBody['channels']) =>
      resource('notification', 'paid', notification({ r: rule() }, { channels }));
    const both = resource('template', 'mail', { email: { subject: 'x', text: 'y' }, sms: { text: 'y' } });
    const current = applied(EMPTY_CONFIGURATION, [
      both,
      paid({ email: { template: 'mail' }, sms: { template: 'mail' } }),
    ]);
    expect(plan(current, [template]).faults).toMatchObject([
      {
        ref: { kind: 'template', workspace: 'shop', name: 'mail' },
        path: ['email'],
        message: 'paid sends sms with the template mail, which then has no text for this channel',
        fix: 'write workspaces/shop/templates/mail/sms.txt, or change paid in the same folder',
      },
    ]);
    expect(plan(current, [both]).faults).toEqual([]);
    const sms = 'workspaces/shop/templates/mail/sms.txt';
    for (const [file, folder] of [
      ['workspaces/shop/templates/mail/email.yaml', { 'workspaces/shop/templates/mail/email.yaml': 'subject: x\n' }],
      [sms, { [sms]: 'y\n' }],
    ] as const) {
      const { resources, faultAt } = read({
        ...folder,
        ...(file === sms ? {} : { 'workspaces/shop/templates/mail/email.txt': 'y\n' }),
      });
      const mail = resources.filter(({ ref }) => ref.name === 'mail');
      expect(plan(current, mail).faults.map((fault) => faultAt(fault).file)).toEqual([file]);
    }
    expect(plan(current, [template, paid({ email: { template: 'mail' } })]).faults).toEqual([]);
    const elsewhere: WantedResource = { ...template, ref: { kind: 'template', workspace: 'club', name: 'mail' } };
    expect(plan(current, [elsewhere]).faults).toEqual([]);
  });

  test('keeps the JWT provider that a stream or a notification names', () => {
    const security = { jwt_provider: 'auth' };
    const desired = [
      template,
      resource('stream', 'orders', { security }),
      resource('notification', 'paid', notification({ r: rule() }, { security })),
    ];
    const provider = resource('jwt_provider', 'auth', { jwks_url: 'https://auth.example.com/jwks' });
    const current = applied(EMPTY_CONFIGURATION, [...desired, provider]);
    const message = 'the JWT provider auth would be removed and is needed here';
    expect(plan(current, desired, true).faults).toMatchObject([
      { ref: { name: 'paid' }, path: ['security', 'jwt_provider'], message },
      { ref: { name: 'orders' }, path: ['security', 'jwt_provider'], message },
    ]);
  });

  test('never touches API keys', () => {
    const ref = { kind: 'api_key', workspace: 'shop', name: 'backend' } as const;
    const key: Resource = {
      ref,
      body: { key_id: 'a', digest: 'b', created_at: 'c' },
      number: 0,
      version: 1,
      ruleVersions: {},
    };
    const current = { number: 0, resources: new Map([[resourceKey(ref), key]]) };
    expect(plan(current, [], true).changes).toEqual([]);
  });
});

describe('a notification under another name', () => {
  const before = () =>
    applied(EMPTY_CONFIGURATION, [template, resource('notification', 'old', notification({ r: rule() }))]);

  test('with its id in the file is a rename: ids and addresses stay, and the old name is removed', () => {
    const current = before();
    const { id } = bodyOf(current, 'old');
    const desired = [template, resource('notification', 'new', notification({ r: rule() }, { id: id! }))];
    const after = applied(current, desired);
    expect(bodyOf(after, 'new')).toEqual(bodyOf(current, 'old'));
    expect(bodyOf(after, 'old')).toBeUndefined();
  });

  test('without an id is new, and the plan says that nobody has received it', () => {
    const current = before();
    const next = plan(current, [template, resource('notification', 'new', notification({ r: rule() }))]);
    const change = changeOf(next, 'notification', 'new');
    expect(change?.notes[0]).toMatch(/^new: nobody has had it yet\. If it was called old \(id: ntf_/);
    expect(changeOf(next, 'notification', 'old')?.action).toBe('missing');
  });

  test('lists the notifications that it may be a rename of, each with the id that keeps its history', () => {
    const current = before();
    const next = plan(current, [template, resource('notification', 'new', notification({ r: rule() }))]);
    const former = { name: 'old', title: bodyOf(current, 'old').name ?? 'old', id: bodyOf(current, 'old').id };
    expect(changeOf(next, 'notification', 'new')?.formers).toEqual([former]);
    const kept = resource('notification', 'new', notification({ r: rule() }, { id: bodyOf(current, 'old').id! }));
    expect(changeOf(plan(current, [template, kept]), 'notification', 'new')?.formers).toEqual([]);
  });

  test('keeps the address at the renamed rule, so that a new rule with the same address is refused', () => {
    const current = before();
    const { id } = bodyOf(current, 'old');
    const desired = [
      template,
      resource('notification', 'new', notification({ r: rule() }, { id: id! })),
      resource('notification', 'old', notification({ r: rule() }, { id: newId('notification') })),
    ];
    expect(plan(current, desired).faults).toMatchObject([{ message: 'the address shop/old.r belongs to shop/new.r' }]);
  });

  test('keeps the address of a renamed rule that has its id', () => {
    const current = before();
    const { id } = bodyOf(current, 'old').rules['r']!;
    const after = applied(current, [
      template,
      resource('notification', 'old', notification({ other: rule({ id: id! }) })),
    ]);
    expect(bodyOf(after, 'old').rules['other']).toMatchObject({ id, path: 'shop/old.r' });
  });
});

test('the key path of a stream cannot change after its creation', () => {
  const body = { key: 'event.id', security: { api_keys: ['backend'] } };
  const current = applied(EMPTY_CONFIGURATION, [resource('stream', 'orders', body)]);
  const { faults, record } = plan(current, [resource('stream', 'orders', { ...body, key: 'event.other' })]);
  expect(faults).toMatchObject([{ path: ['key'], expected: 'event.id' }]);
  expect(record).toEqual([]);
});

test('the address of a rule cannot change after its creation', () => {
  const current = applied(EMPTY_CONFIGURATION, [
    template,
    resource('notification', 'paid', notification({ r: rule() })),
  ]);
  const desired = [template, resource('notification', 'paid', notification({ r: rule({ path: 'shop/paid.x' }) }))];
  expect(plan(current, desired).faults).toMatchObject([{ path: ['rules', 'r', 'path'], expected: 'shop/paid.r' }]);
});

test('applying any configuration over another with prune gives that configuration, and applying it again changes nothing', () => {
  const asWanted = (configuration: Configuration): readonly WantedResource[] =>
    [...configuration.resources.values()].filter(isWritten);
  fc.assert(
    fc.property(configurations, configurations, (first, second) => {
      const streams = new Set([...first.resources.keys()].filter((key) => key.startsWith('stream:')));
      fc.pre(![...second.resources.keys()].some((key) => streams.has(key)));
      const start = plan(EMPTY_CONFIGURATION, asWanted(first));
      fc.pre(start.faults.length === 0);
      const current = applied(EMPTY_CONFIGURATION, asWanted(first));
      const next = plan(current, asWanted(second), true);
      fc.pre(next.faults.length === 0);
      const after = applied(current, asWanted(second), true);
      expect([...after.resources.keys()].toSorted()).toEqual([...second.resources.keys()].toSorted());
      expect(plan(after, asWanted(second), true).record).toEqual([]);
    }),
    { numRuns: 25 },
  );
});
