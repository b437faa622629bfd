/** `npm run fuzz`: see HELP below. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endChecks } from './checks.ts';
import { KINDS, type Failure, type Kind } from './fuzz-case.ts';
import { fuzz, type FuzzOptions } from './run.ts';
import { openRunningShop } from './running-shop.ts';

const HELP = `npm run fuzz -- [--cases 1000000] [--seed S] [--kind K] [--from N] [--limit SECONDS] [--keep FOLDER]

Sends hostile input to a product that it starts, and to its parsers: see test/fuzz/README.md.

  --cases N      so many cases; 100,000 unless told otherwise
  --seed S       the same seed gives the same cases; drawn and printed unless given
  --kind K       only this kind; may be given several times:
                 ${KINDS.join(', ')}
  --from N       begins with case N: --from N --cases 1 does one again
  --limit N      seconds for an answer, 10 unless told otherwise: more where others need the processor
  --keep FOLDER  writes each case that fails to a file there, in the form of test/fuzz/regressions

The exit code is 0 when nothing was found, 1 when something was, 2 when it was called wrongly.`;

const OPTIONS = {
  cases: { type: 'string', default: '100000' },
  seed: { type: 'string' },
  kind: { type: 'string', multiple: true },
  from: { type: 'string', default: '0' },
  limit: { type: 'string', default: '10' },
  keep: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Everything that a run can be told; a text: what is wrong with it. */
function readOptions(args: readonly string[]): (FuzzOptions & { readonly keep?: string }) | string {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const numbers = {
    cases: Number(values.cases),
    from: Number(values.from),
    seed: Number(values.seed ?? drawn()),
    limit: Number(values.limit),
  };
  const wrong = Object.entries(numbers).find(([, value]) => !Number.isSafeInteger(value) || value < 0);
  if (wrong) return `--${wrong[0]} takes a whole number`;
  const unknown = values.kind?.find((kind) => !KINDS.some((known) => known === kind));
  if (unknown !== undefined) return `--kind ${unknown} is none of ${KINDS.join(', ')}`;
  return {
    ...numbers,
    limit: numbers.limit * 1000,
    ...(values.kind && { kinds: values.kind as Kind[] }),
    ...(values.keep !== undefined && { keep: values.keep }),
  };
}

const drawn = (): number => Math.floor(Math.random() * 1_000_000);

function tell({ number, input, what }: Failure, seed: number): void {
  console.log(`\n${what}`);
  console.log(`  seed ${seed}, case ${number ?? '?'}: ${JSON.stringify(input).slice(0, 4_000)}`);
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(HELP);
    return 0;
  }
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`${options}\n\n${HELP}`);
    return 2;
  }
  const { seed, cases, keep } = options;
  console.log(`${cases} cases, seed ${seed}`);
  const target = await openRunningShop();
  const begun = performance.now();
  try {
    const report = await fuzz(target, {
      ...options,
      found(failure) {
        tell(failure, seed);
        if (keep === undefined) return;
        const { number, what, input } = failure;
        const file = join(keep, `${input.kind}-${seed}-${number ?? 'end'}.json`);
        writeFileSync(file, JSON.stringify({ found: what, input }, null, 2));
      },
      progress: (done, failed) => {
        if (done % 10_000 !== 0 && done !== cases) return;
        const seconds = ((performance.now() - begun) / 1000).toFixed(0);
        console.log(`${done} of ${cases} cases after ${seconds} s, ${failed} findings`);
      },
    });
    const { failures, counts, ...figures } = report;
    console.log('what came of them:', counts);
    console.log(figures);
    const certain = Object.values(counts).reduce((sum, count) => sum + count, 0);
    console.log(
      failures.length === 0
        ? `nothing found in ${certain} cases: with 95 % confidence fewer than one in ${Math.floor(certain / 3)} of such cases goes wrong`
        : `${failures.length} findings`,
    );
    return failures.length === 0 ? 0 : 1;
  } finally {
    await target.close();
    await endChecks();
  }
}

process.exitCode = await main(process.argv.slice(2));
