import { describe, expect, it } from 'vitest';
import { readEventLines } from './event-lines.ts';

describe('a file of events', () => {
  it('has one event per line, with long numbers unchanged', () => {
    const text =
      '{"at": "+20m", "event": {"id": 9007199254740993}}\n\n{"op": "delete", "event": {}, "previous": null}\n';
    expect(readEventLines(text, 'F')).toEqual([
      { line: 1, event: { at: '+20m', event: '{"id":9007199254740993}' } },
      { line: 3, event: { op: 'delete', event: '{}', previous: 'null' } },
    ]);
  });

  it.each([
    ['\n\n', 'F has no events'],
    ['{"event": {}}\n{"event"', 'F, line 2 is not JSON'],
    ['[]', 'F, line 1: write {"at"'],
    ['{"after": "1h", "event": {}}', 'F, line 1: there is no after'],
    ['{"at": 5, "event": {}}', 'F, line 1: at has to be text'],
  ])('refuses %j with its line', (text, detail) => {
    expect(() => readEventLines(text, 'F')).toThrow(detail);
  });
});
