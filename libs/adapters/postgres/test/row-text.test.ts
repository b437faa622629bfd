import { expect, it } from 'vitest';
import { MAX_TEXT_BYTES, readRowText } from '../src/values/row-text.ts';

it('parsing a row as text skips values above the size limit without decoding them', () => {
  const values = [Buffer.alloc(MAX_TEXT_BYTES, 'a'), Buffer.alloc(MAX_TEXT_BYTES + 1, 'a')];
  const [, large] = values;
  if (large !== undefined) large.toString = () => expect.unreachable('it was decoded');
  const lengths = values.map(({ length }) => length);
  const reader = {
    readInt16: () => values.length,
    readUint8: () => 't'.charCodeAt(0),
    readInt32: () => lengths.shift() ?? 0,
    read: () => values.shift() ?? Buffer.alloc(0),
  };
  const row = readRowText(reader, { columns: [{ name: 'small' }, { name: 'large' }] });
  expect(row['small']).toHaveLength(MAX_TEXT_BYTES);
  expect(row['large']).toBeUndefined();
});
