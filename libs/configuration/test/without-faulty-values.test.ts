import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { err, ok } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { readConfigurationFolder } from '../src/index.ts';

/** A language in which only `wrong` is a mistake. */
const language = {
  compile: (source: string) =>
    source.includes('wrong')
      ? err([{ line: 1, column: 1, message: `cannot read ${source}`, fix: 'write something else' }])
      : ok({
          source,
          fields: [],
          usesItem: false,
          largeSteps: 1,
          evaluate: () => ({ ok: true, value: true }) as const,
          explain: () => [],
          parts: () => [],
          form: () => ({ match: 'all', conditions: [] }) as const,
          requirement: () => ({ kind: 'unknown' }) as const,
        }),
};

const faultsOf = (notification: string): readonly string[] =>
  readConfigurationFolder(
    new Map([
      ['workspaces/shop/workspace.yaml', 'name: Shop'],
      ['workspaces/shop/notifications/paid.yaml', notification],
    ]),
    { language, templates: { piece: () => [], check: () => [], warnings: () => [] }, current: EMPTY_CONFIGURATION },
  ).faults.map((fault) => `${fault.line}: ${fault.message}`);

describe('a notification file with a schema mistake', () => {
  it('has mistakes in its expressions reported at the same time', () => {
    const faults = faultsOf(`expires: tomorrow
channels: { email: { template: paid } }
rules:
  one:
    when: wrong one
    recipients: { from: event, to: { email: event.a } }
`);
    expect(faults.some((fault) => fault.startsWith('1:'))).toBe(true);
    expect(faults).toContain('5: cannot read wrong one');
  });

  it('has a mistake in a condition reported even if the recipients of its rule are wrong', () => {
    const faults = faultsOf(`channels: { email: { template: paid } }
rules:
  one:
    when: wrong condition
    recipients: { from: nowhere, to: { email: event.a } }
`);
    expect(faults).toContain('4: cannot read wrong condition');
    expect(faults.some((fault) => fault.startsWith('5:'))).toBe(true);
  });
});
