/** `npm run simulate`: see HELP below. */
import { parseArgs } from 'node:util';
import { PORT_BUGS } from '../harness/planted-bugs/port-bugs.ts';
import { shownFailure, simulate } from './simulate.ts';
import { openShared } from './world.ts';

const HELP = `npm run simulate -- [--seeds N] [--seed S] [--history] [--bug NAME]

Runs the roles of the product over ports in memory, with faults, in an order that a seed decides. Each seed is one run,
the same every time. Ends with 1 at the first broken promise, and prints what happened in that run.

  --seeds N    how many seeds (2000 unless set)
  --seed S     the first one (drawn and printed unless set; npm run proof has those from 1); alone, it is the only one
  --history    prints what happened in each run, also where every promise held
  --bug NAME   plants a bug, to see that it is found:
${Object.keys(PORT_BUGS)
  .map((name) => `                 ${name}`)
  .join('\n')}
  --help       this text

test/simulation/README.md says what is simulated and how to read a history.`;

/** Beyond those of the tests, which every change has passed already. */
const drawn = (): number => 1_000_000 + Math.floor(Math.random() * 1_000_000_000);

const PROGRESS_EVERY = 5_000;

function wholeNumber(text: string, option: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(`${option}: expected a whole number above 0, not ${text}`);
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      history: { type: 'boolean', default: false },
      bug: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { seed, seeds, bug: name } = values;
  const bug = name === undefined ? undefined : PORT_BUGS[name];
  if (name !== undefined && !bug) throw new Error(`--bug: there is no planted bug ${name}; --help lists them`);
  const first = seed === undefined ? drawn() : wholeNumber(seed, '--seed');
  const count = wholeNumber(seeds ?? (seed === undefined ? '2000' : '1'), '--seeds');
  return { ...values, first, count, bug };
}

async function main(): Promise<number> {
  const { first, count, bug, history, help } = readOptions();
  if (help) {
    console.log(HELP);
    return 0;
  }
  const shared = await openShared();
  const total = { steps: 0, messages: 0, crash: 0, slowest: 0 };
  let toldAt = Date.now();
  for (let seed = first; seed < first + count; seed += 1) {
    const outcome = await simulate(seed, shared, { bug, keepsHistory: history });
    if (outcome.findings.length > 0) {
      console.log(shownFailure(await simulate(seed, shared, { bug, keepsHistory: true })));
      return 1;
    }
    if (history) console.log(outcome.history.join('\n'));
    total.steps += outcome.steps;
    total.messages += outcome.messages;
    total.crash += outcome.seen['crash'] ?? 0;
    total.slowest = Math.max(total.slowest, outcome.recovery);
    if (Date.now() - toldAt > PROGRESS_EVERY) {
      toldAt = Date.now();
      console.error(`${seed - first + 1} of ${count} seeds`);
    }
  }
  const { steps, messages, crash, slowest } = total;
  console.log(
    `${count} seeds from ${first}: every promise held. ${steps} steps, ${crash} crashes, ${messages} messages, ` +
      `all done ${slowest / 1000} s after the last fault at the latest.${count < 100 ? '' : boundOf(count)}`,
  );
  return 0;
}

/** The rule of three: what so many runs without a failure say of the next one. */
const boundOf = (count: number): string =>
  ` With 95 % certainty fewer than one seed in ${Math.floor(count / 3)} breaks one.`;

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
