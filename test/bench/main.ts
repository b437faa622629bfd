/** `npm run bench`: see HELP below. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BENCHES } from './benches.ts';
import type { BenchResult } from './harness/results.ts';
import { runBench } from './harness/run.ts';
import { judge } from './harness/statistics.ts';
import { circumstances, comparisonText, judgementText, sectionOf, writeReport, type Section } from './report.ts';

const HELP = `npm run bench -- [NAME...] [--rounds N] [--seconds N] [--minutes N] [--rate N] [--case TEXT] [--write] [--list]

Measures the product beside others that do the same work, in turns: see docs/benchmarks.md. Without a NAME: all of them.

  --rounds N   counted rounds of each side, after one to warm up (5 unless set)
  --seconds N  how long a side works in a round (5 unless set)
  --minutes N  how long the soak is (20 unless set)
  --rate N     events that come in each second of the soak (0.6 of what a burst has shown, unless set)
  --case TEXT  only the cases whose title holds TEXT (--list shows the titles); not with --write, which replaces whole sections
  --write      writes the results into docs/benchmarks, docs/benchmarks.md and docs/images/bench
  --list       only lists the benches
  --help       this text

A side that this machine cannot run is skipped, with the reason. The exit code is 0 when every result counts, also where
a floor is missed; 1 when one is void, because what its side did was wrong; 2 when the command was called wrongly.`;

const DOCS = fileURLToPath(new URL('../../docs', import.meta.url));

function positive(text: string, option: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new Error(`--${option} takes a number above 0, not ${text}`);
}

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      minutes: { type: 'string' },
      rate: { type: 'string' },
      case: { type: 'string' },
      write: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = positionals.find((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown !== undefined) throw new Error(`there is no bench ${unknown}; --list shows those there are`);
  const rounds = positive(values.rounds, 'rounds');
  if (!Number.isInteger(rounds)) throw new Error(`--rounds takes a whole number, not ${values.rounds}`);
  const part = values.case;
  if (part !== undefined && values.write) throw new Error('--write replaces whole sections: leave out --case');
  const benches = BENCHES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    .map((bench) => ({ ...bench, cases: bench.cases.filter(({ title }) => title.includes(part ?? '')) }))
    .filter(({ cases }) => cases.length > 0);
  if (benches.length === 0) throw new Error(`no case has a title with ${part}; --list shows those there are`);
  const soak = {
    ...(values.minutes !== undefined && { minutes: positive(values.minutes, 'minutes') }),
    ...(values.rate !== undefined && { rate: positive(values.rate, 'rate') }),
  };
  const { write, list, help } = values;
  return { write, list, help, rounds, seconds: positive(values.seconds, 'seconds'), soak, benches };
}

/** Whether every side's result counts. */
function tellVerdicts({ cases }: BenchResult): boolean {
  for (const result of cases) {
    for (const comparison of result.comparisons) {
      const judgement = judge(comparison, result);
      console.log(`  ${result.title}: ${comparisonText(judgement, result.counted)}: ${judgementText(judgement)}`);
    }
  }
  return cases.every(({ sides }) => sides.every(({ faults }) => faults.length === 0));
}

async function main(): Promise<number> {
  const { benches, rounds, seconds, soak, write, list, help } = readOptions();
  if (help) {
    console.log(HELP);
    return 0;
  }
  if (list) {
    for (const { name, title, cases } of benches) {
      console.log(`${name.padEnd(14)} ${title}`);
      for (const each of cases) console.log(`${''.padEnd(14)}   ${each.title}`);
    }
    return 0;
  }
  const order = BENCHES.map(({ name }) => name);
  let counts = true;
  for (const bench of benches) {
    const begun = performance.now();
    const result = await runBench(bench, { rounds, seconds, ...soak, tell: (line) => console.log(line) });
    counts = tellVerdicts(result) && counts;
    console.log(`  took ${Math.round((performance.now() - begun) / 1000)} s`);
    if (!write) continue;
    // After each bench: what was measured stays where a later one fails.
    const section = sectionOf(result, circumstances(rounds, seconds, new Date()));
    await writeReport(DOCS, new Map<string, Section>([[bench.name, section]]), order);
  }
  return counts ? 0 : 1;
}

// What was started is ended when this process exits, which a signal alone does not make it do.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
