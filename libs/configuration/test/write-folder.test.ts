import { EMPTY_CONFIGURATION, type Configuration, resourceKey } from '@carillon/domain/configuration';
import { formatFault, planChanges, readConfigurationFolder, writeConfigurationFolder } from '@carillon/configuration';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configurations } from './support/bodies.ts';
import { read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const planning = { language: reading.language, templates: reading.templates };
const bodiesOf = (configuration: Configuration): Record<string, unknown> =>
  Object.fromEntries([...configuration.resources].map(([key, { body }]) => [key, body]));
const newId = (): string => {
  throw new Error('nothing here is new');
};

describe('an exported folder', () => {
  test('reads back as the same configuration', () => {
    fc.assert(
      fc.property(configurations, (configuration) => {
        const { resources, faults } = readConfigurationFolder(writeConfigurationFolder(configuration), reading);
        expect(faults.map(formatFault)).toEqual([]);
        const back = Object.fromEntries(resources.map(({ ref, body }) => [resourceKey(ref), body]));
        expect(back).toEqual(bodiesOf(configuration));
      }),
      { numRuns: 60 },
    );
  });

  test('is identical when it is exported again', () => {
    fc.assert(
      fc.property(configurations, (configuration) => {
        const once = writeConfigurationFolder(configuration);
        const again = { ...configuration, resources: new Map([...configuration.resources].toReversed()) };
        expect([...writeConfigurationFolder(again)]).toEqual([...once]);
      }),
      { numRuns: 20 },
    );
  });

  test('changes nothing when it is applied at once', () => {
    fc.assert(
      fc.property(configurations, (made) => {
        const { changes } = planChanges(EMPTY_CONFIGURATION, wanted(made), {
          ...planning,
          prune: false,
          newId: idMaker(),
        });
        const current: Configuration = {
          number: 1,
          resources: new Map(
            changes.map(({ ref, body }) => [
              resourceKey(ref),
              { ref, body: body!, number: 1, version: 1, ruleVersions: {} },
            ]),
          ),
        };
        const { resources } = readConfigurationFolder(writeConfigurationFolder(current), reading);
        const plan = planChanges(current, resources, { ...planning, prune: true, newId });
        expect(plan.record).toEqual([]);
        expect(new Set(plan.changes.map(({ action }) => action))).toEqual(new Set(['unchanged']));
      }),
      { numRuns: 20 },
    );
  });

  test('contains no API key', () => {
    const ref = { kind: 'api_key', workspace: 'shop', name: 'backend' } as const;
    const body = { key_id: '7Qm4k2Zp', digest: 'd1gest', created_at: '2026-01-01T00:00:00.000Z' };
    const resources = new Map([[resourceKey(ref), { ref, body, number: 0, version: 1, ruleVersions: {} }]]);
    expect(writeConfigurationFolder({ number: 0, resources }).size).toBe(0);
  });

  test('has expressions as people write them: plain, or after |', () => {
    const { resources } = read({});
    const configuration: Configuration = {
      number: 1,
      resources: new Map(
        resources.map(({ ref, body }) => [resourceKey(ref), { ref, body, number: 1, version: 1, ruleVersions: {} }]),
      ),
    };
    const text = writeConfigurationFolder(configuration).get('workspaces/shop/notifications/order-paid.yaml');
    expect(text).toContain('    when: event.status == "paid" && event.total > 100\n');
  });
});

const wanted = (configuration: Configuration) =>
  readConfigurationFolder(writeConfigurationFolder(configuration), reading).resources;

function idMaker(): (kind: 'notification' | 'rule') => string {
  let count = 0;
  return (kind) => {
    count += 1;
    return `${kind === 'rule' ? 'rul_' : 'ntf_'}${String(count).padStart(26, '0')}`;
  };
}
