import { expect, it } from 'vitest';
import { cutsOf } from './cuts.ts';

it('A call to the partner is cut off by kills of engines and while engines are held or the database is away, by nothing else', () => {
  const faults = [
    { at: 100_000, what: 'kill engine 1' },
    { at: 200_000, what: 'kill gateway 1' },
    { at: 200_000, what: 'kill Kafka node 1' },
    { at: 200_000, what: 'hold delivery 2 still' },
    { at: 300_000, what: 'hold engine 2 still' },
    { at: 310_000, what: 'kill FerretDB' },
    { at: 315_000, what: 'FerretDB is back' },
    { at: 320_000, what: 'engine 2 goes on' },
  ];
  expect(cutsOf(faults)).toEqual([
    { from: 95_000, until: 105_000 },
    { from: 295_000, until: 325_000 },
    { from: 305_000, until: 320_000 },
  ]);
});
