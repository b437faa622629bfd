import { expect, it } from 'vitest';
import { runEdges } from './edges-run.ts';

const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** Shorter than what opens a breaker. */
const SPANS = { cut: 800, flap: 1_000, delay: 800, stall: 1_500, calm: 200 };

it(`The product, with every connection cut and delayed, loses nothing and notifies nobody twice (CRASH_SEED=${seed})`, async () => {
  const { findings, figures, stderr } = await runEdges({ seed, spans: SPANS });
  console.log(`edges, seed ${seed}:`, figures);
  expect(findings, stderr).toEqual([]);
  // Edges over which nothing went would show nothing.
  expect(figures['edges']).toBe(3);
  expect(figures['requestsCut']).toBeGreaterThan(0);
  expect(figures['mailsReset']).toBeGreaterThan(0);
  expect(figures['calls']).toBeGreaterThan(0);
}, 300_000);
