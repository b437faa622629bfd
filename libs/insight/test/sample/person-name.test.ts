import { describe, expect, it } from 'vitest';
import { personName } from '../../src/index.ts';

describe('the name of a person', () => {
  const ada = { name: 'Ada', email: 'Ada@Example.com' };

  it.each([
    ['stands beside their address', { name: 'Order', customer: ada }, {}, ['ada@example.com'], 'Ada'],
    ['stands in a list', { watchers: [{ first_name: 'Bo', to: 'bo@x.y' }, ada] }, {}, ['ada@example.com'], 'Ada'],
    ['is a variable first', { customer: ada }, { name: 'Grace' }, ['ada@example.com'], 'Grace'],
    [
      'is not that of another person',
      { seller: { name: 'Eve' }, email: 'ada@example.com' },
      {},
      ['ada@example.com'],
      null,
    ],
    ['is not empty', { customer: { ...ada, name: ' ' } }, {}, ['ada@example.com'], null],
    ['is not a number', { customer: { ...ada, name: 7 } }, {}, ['ada@example.com'], null],
  ])('%s', (_, event, variables, addresses, name) => {
    expect(personName(event, variables, addresses)).toBe(name);
  });
});
