import { describe, expect, it } from 'vitest';
import { eventLabel } from '../../src/index.ts';

describe('the label of an event', () => {
  const customer = { name: 'Ada', email: 'Ada@Example.com' };

  it.each([
    [
      'its key and address',
      { order_id: 'A-1001', status: 'paid', customer },
      'event.order_id',
      'A-1001 · Ada@Example.com',
    ],
    ['its first id without a key', { status: 'paid', order_id: 7, customer }, null, '7 · Ada@Example.com'],
    ['an id of mixed case', { kind: 'x', orderId: 'B-2' }, null, 'B-2'],
    ['an address alone', { valid: true, to: ['+4930123456'] }, null, '+4930123456'],
    ['a value once', { id: 'ada@example.com', email: 'ada@example.com' }, null, 'ada@example.com'],
    [
      'its first fields without both',
      { kind: 'beat', at: { hour: 7 }, ok: true, more: 1 },
      null,
      'kind: beat · hour: 7 · ok: true',
    ],
    ['nothing of an empty event', {}, null, ''],
  ])('is %s', (_, body, key, label) => {
    expect(eventLabel(body, key)).toBe(label);
  });

  it('is one short line without invisible characters, even for a large or hostile event', () => {
    expect(eventLabel({ id: `a\n\u202eb${'c'.repeat(500)}` }, null)).toBe(`a b${'c'.repeat(37)}…`);
    const deep = { list: Array.from({ length: 5_000 }, (_, id) => ({ inner: { id } })) };
    expect(eventLabel(deep, null)).toBe('0');
  });
});
