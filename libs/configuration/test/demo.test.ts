import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import {
  FILE_SECTIONS,
  formatFault,
  planChanges,
  readConfigurationFolder,
  writeConfigurationFolder,
} from '@carillon/configuration';
import { EMPTY_CONFIGURATION, type NotificationBody, resourceKey } from '@carillon/domain/configuration';
import { describe, expect, it, test } from 'vitest';
import { goodFolder } from './support/folder.ts';
import { reading } from './support/small-language.ts';

function filesOf(example: string): ReadonlyMap<string, string> {
  const folder = join(import.meta.dirname, '../../../docs/examples', example);
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(folder, path).split(sep).join('/'), readFileSync(path, 'utf8')] as const;
      }),
  );
}

describe('the examples that read a source', () => {
  it.each([
    ['orders-from-postgres', ['integration:shop/shop-db', 'order-changed', 'order-rows']],
    ['orders-from-kafka', ['integration:shop/bus', 'order-from-kafka', 'order-records']],
  ])('%s is read without mistakes and warnings', (example, [source = '', notification = '', stream = '']) => {
    const { resources, faults, warnings } = readConfigurationFolder(filesOf(example), reading);
    expect([...faults.map(formatFault), ...warnings.map(({ message }) => message)]).toEqual([]);
    expect(resources.map(({ ref }) => resourceKey(ref)).toSorted()).toEqual([
      source,
      `notification:shop/${notification}`,
      `stream:shop/${stream}`,
      `template:shop/${notification}`,
      'workspace:shop/',
    ]);
  });
});

describe('the demo', () => {
  const files = filesOf('demo');
  const { resources, faults, warnings } = readConfigurationFolder(files, reading);

  test('is read without mistakes, except that its API key has to be created', () => {
    expect(faults.map(formatFault)).toEqual([]);
    expect(warnings.map(({ fix }) => fix)).toEqual(['run: npx carillon api-key create backend --workspace shop']);
  });

  test('contains the stream and rule for which the first start prints a curl command', () => {
    const byKey = new Map(resources.map((resource) => [resourceKey(resource.ref), resource.body]));
    expect(byKey.get('stream:shop/orders')).toMatchObject({
      key: 'event.order_id',
      security: { api_keys: ['backend'] },
    });
    const notification = byKey.get('notification:shop/order-paid') as NotificationBody;
    expect(notification.rules['paid']).toEqual({
      stream: 'orders',
      when: 'event.status == "paid" && event.total > 100',
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
    });
  });

  test('uses in its templates only fields that this curl command sends', () => {
    const template = resources.find(({ ref }) => ref.kind === 'template')?.body;
    const names = [...JSON.stringify(template).matchAll(/\{\{\s*([a-z_.]+)\s*\}\}/g)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set(['customer.name', 'order_id', 'status', 'total']));
  });

  test('can be exported and applied again without a change', () => {
    let made = 0;
    const newId = (kind: 'notification' | 'rule'): string => {
      made += 1;
      return `${kind === 'rule' ? 'rul_' : 'ntf_'}${String(made).padStart(26, '0')}`;
    };
    const { changes } = planChanges(EMPTY_CONFIGURATION, resources, {
      prune: false,
      newId,
      language: reading.language,
      templates: reading.templates,
    });
    const current = {
      number: 0,
      resources: new Map(
        changes.map(({ ref, body }) => [
          resourceKey(ref),
          { ref, body: body!, number: 0, version: 1, ruleVersions: {} },
        ]),
      ),
    };
    const exported = readConfigurationFolder(writeConfigurationFolder(current), reading);
    expect(
      planChanges(current, exported.resources, {
        prune: true,
        newId,
        language: reading.language,
        templates: reading.templates,
      }).record,
    ).toEqual([]);
  });
});

test.each(FILE_SECTIONS.map((section) => [section.title, section] as const))(
  'the example of the reference is right: %s',
  (_title, { file, example }) => {
    const path = file.replaceAll(/<workspace>/g, 'shop').replaceAll(/<[a-z]+>/g, 'order-paid');
    const parts = ['sms.txt', 'push.yaml'].map((name) => `workspaces/shop/templates/order-paid/${name}`);
    const layouts = ['basic', 'basic-de'].map(
      (name) => [`workspaces/shop/layouts/${name}.html`, '{{{body}}}'] as const,
    );
    const german = path.endsWith('email.de.yaml') ? [[path.replace('.yaml', '.html'), '<p>Bezahlt</p>'] as const] : [];
    const around = [
      ...layouts,
      ...german,
      ...Object.entries(goodFolder),
      ['workspaces/shop/workspace.yaml', 'categories: { orders: {} }\n'] as const,
      ...parts.map((name) => [name, 'title: Paid\n'] as const),
    ];
    const { faults } = readConfigurationFolder(new Map([...around, [path, example]]), reading);
    expect(faults.map(formatFault)).toEqual([]);
  },
);
