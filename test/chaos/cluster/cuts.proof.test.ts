import { expect, it } from 'vitest';
import { cutsOf, outagesOf } from './cuts.ts';

it('Work of a role is counted as interrupted only by its own kills, its pauses and database outages', () => {
  const faults = [
    { at: 100_000, what: 'kill engine 1' },
    { at: 200_000, what: 'kill gateway 1' },
    { at: 200_000, what: 'kill Kafka node 1' },
    { at: 250_000, what: 'hold delivery 2 still' },
    { at: 300_000, what: 'hold engine 2 still' },
    { at: 310_000, what: 'kill FerretDB' },
    { at: 315_000, what: 'FerretDB is back' },
    { at: 320_000, what: 'engine 2 goes on' },
    { at: 330_000, what: 'delivery 2 goes on' },
  ];
  expect(cutsOf('engine', faults)).toEqual([
    { from: 100_000, until: 100_000 },
    { from: 300_000, until: 300_000 },
    { from: 320_000, until: 320_000 },
    { from: 310_000, until: 315_000 },
  ]);
  expect(cutsOf('delivery', faults)).toEqual([
    { from: 250_000, until: 250_000 },
    { from: 330_000, until: 330_000 },
    { from: 310_000, until: 315_000 },
  ]);
});

it('An answer in custody waits for the log while a broker is away, and a while after', () => {
  const faults = [
    { at: 100_000, what: 'kill Kafka node 1' },
    { at: 105_000, what: 'kill engine 1' },
    { at: 110_000, what: 'Kafka node 1 is back' },
    { at: 200_000, what: 'kill Kafka node 2' },
  ];
  expect(outagesOf(faults)).toEqual([
    { from: 100_000, until: 125_000 },
    { from: 200_000, until: 215_000 },
  ]);
});
