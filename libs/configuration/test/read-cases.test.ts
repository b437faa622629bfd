import { describe, expect, it } from 'vitest';
import { readCases } from '../src/index.ts';

const FILE = 'workspaces/shop/tests/paid.yaml';
const read = (text: string, file = FILE) => readCases(new Map([[file, text]]));
const faultsOf = (text: string) =>
  read(text).faults.map(
    ({ line, column, path, message, expected, fix }) =>
      `${line}:${column} ${path}: ${message}; expected ${expected}; ${fix}`,
  );

describe('a file of cases', () => {
  it('has events and messages with their positions, and null as a value', () => {
    const { files, faults } = read(
      'rule: n.r\ncases:\n  a b:\n    - { at: 10:00, event: { id: 1, gone: null } }\n    - { message: { email: a@example.com } }\n    - { until: 12:00 }\n',
    );
    expect(faults).toEqual([]);
    expect(files).toMatchObject([
      {
        file: FILE,
        workspace: 'shop',
        rule: 'n.r',
        cases: [
          {
            name: 'a b',
            place: { line: 3, column: 3 },
            steps: [
              { at: '10:00', event: { id: 1, gone: null }, place: { line: 4, column: 7 } },
              { message: { email: 'a@example.com' }, place: { line: 5, column: 7 } },
              { until: '12:00', place: { line: 6, column: 7 } },
            ],
          },
        ],
      },
    ]);
  });

  it('is searched for only in the folder tests of a workspace', () => {
    expect(read('rule: n.r', 'workspaces/shop/streams/tests.yaml').files).toEqual([]);
    expect(read('', 'workspaces/shop/tests/deeper/x.yaml').faults).toEqual([]);
  });

  it('is refused with line, column and fix', () => {
    const step = (line: string) => `rule: n.r\ncases:\n  a:\n    - ${line}\n`;
    expect(faultsOf(step('{ at: 10:00, mesage: {} }')).join('\n')).toMatch(
      /^4:20 .*no setting mesage.*did you mean message\?$/,
    );
    expect(faultsOf(step('{ at: 10:00 }')).join('\n')).toContain('one of event, message and until in each line');
    expect(faultsOf(step('{ event: { a: 1 }, until: 12:00 }')).join('\n')).toContain('one of event, message and until');
    expect(faultsOf(step('{ message: { mail: x } }')).join('\n')).toMatch(/^4:20 .*no setting mail here/);
    expect(faultsOf('rule: paid\ncases: { a: [{ event: {} }] }').join('\n')).toMatch(/^1:7 rule: .*order-paid\.paid/s);
    expect(faultsOf('rule: n.r\ncases: {}').join('\n')).toMatch(/^2:8 cases: /);
    expect(faultsOf('rule: n.r\ncases:\n  a: [').join('\n')).toMatch(/^3:/);
  });
});
