/** `npm run chaos`: see HELP below. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '@carillon/kernel';
import { startClusterServices } from '@carillon/testing/cluster';
import { FAILPOINT_ACTIONS } from '@carillon/runtime';
import { runClusterCrashes } from '../test/chaos/cluster/crash-run.ts';
import { everything } from '../test/chaos/cluster/faults.ts';
import { runCrashes } from '../test/chaos/embedded/crash-run.ts';
import { caseName, everyCase } from '../test/chaos/embedded/failpoints/cases.ts';
import { runFailpoints } from '../test/chaos/embedded/failpoints/run.ts';
import { failpointPage } from '../test/chaos/embedded/failpoints/table.ts';
import { missingPrograms } from '../test/support/programs.ts';

const HELP = `npm run chaos [-- --backend embedded|cluster] [--minutes 10] [--seed N] [--table]

Breaks the running product for a long time, and holds what it acknowledged against what it did.

  --backend embedded   first lets it fail at every failpoint in every way (about 10 minutes), then kills it at random (default)
  --backend cluster    kills roles, broker and stores at random, holds roles still (needs the services of npm test -- --install)
  --minutes 10         begins rounds of random kills until so much time is over; 0: none
  --seed N             of the first round, each further one has the next number; drawn where it is left out
  --table              writes docs/failpoints.md of how it ended at every failpoint (embedded)

The last lines count kills, cases and findings, and the bound that they justify: where nothing was found in n of them,
fewer than 3/n of all such failures lead to a finding, with 95 % confidence. Exit code 1: something was found.`;

const PAGE = resolve(import.meta.dirname, '../docs/failpoints.md');
/** Products side by side: they mostly wait for leases. */
const LANES = 8;
/** Longer than the lease of a mail (30 s) and that of a call to a partner (16 s). */
const HELD = 35_000;
const KILLS_OF_ROUND = 10;
const EVENTS_OF_ROUND = 2_000;
/** Of a cluster, in a second: as the faults of a round last. */
const RATE = 25;

type Figures = Readonly<Record<string, number>>;
type Tally = {
  /** At failpoints and at random. */
  kills: number;
  /** Failures at failpoints, kills included. */
  cases: number;
  /** What was acknowledged while it was killed at random. */
  events: number;
  readonly findings: string[];
  /** How often the product was made to fail, in whatever way. */
  failures: number;
};

const say = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

function note(tally: Tally, where: string, found: readonly string[]): void {
  for (const what of found) say(`FOUND ${where}: ${what}`);
  tally.findings.push(...found);
}

async function failEverywhere(tally: Tally, writes: boolean): Promise<void> {
  const cases = everyCase(FAILPOINT_ACTIONS);
  const { ends, findings } = await runFailpoints({
    cases,
    lanes: LANES,
    held: HELD,
    waitsForLeases: true,
    progress: (done, one) => say(`${done} of ${cases.length} failpoints, ${caseName(one)}`),
  });
  tally.cases += ends.length;
  tally.failures += ends.length;
  tally.kills += ends.filter(({ case: { action } }) => action === 'kill').length;
  const missed = ends.filter(({ reached }) => !reached).map((end) => `never came to ${caseName(end.case)}`);
  const found = [...findings.map(({ kind, what }) => `${kind}: ${what}`), ...missed];
  note(tally, 'failpoints', found);
  if (!writes || found.length > 0) return;
  writeFileSync(PAGE, failpointPage(ends));
  say(`wrote ${PAGE}`);
}

type Round = (seed: number) => Promise<{ readonly figures: Figures; readonly found: string[] }>;

const embeddedRound: Round = async (seed) => {
  const { findings, figures } = await runCrashes({ seed, rounds: KILLS_OF_ROUND });
  return { figures, found: findings.map(({ kind, what }) => `${kind}: ${what}`) };
};

async function rounds(tally: Tally, round: Round, seed: number, until: number): Promise<void> {
  for (let next = seed; Date.now() < until; next += 1) {
    // A run that cannot be judged is a finding too.
    const failed = (error: unknown): Awaited<ReturnType<Round>> => ({ figures: {}, found: [messageOf(error)] });
    const { figures, found } = await round(next).catch(failed);
    tally.kills += figures['kills'] ?? 0;
    tally.failures += figures['kills'] ?? 0;
    tally.events += figures['acknowledged'] ?? 0;
    note(tally, `seed ${next}`, found);
    say(`seed ${next}: ${JSON.stringify(figures)}`);
  }
}

async function breakCluster(tally: Tally, seed: number, until: number): Promise<void> {
  const services = await startClusterServices();
  const round: Round = async (next) => {
    const report = await runClusterCrashes({
      services,
      database: `chaos-${next}`,
      seed: next,
      events: EVENTS_OF_ROUND,
      rate: RATE,
      mixture: { firing: 0.4 },
      faults: (site) => everything(site, KILLS_OF_ROUND),
    });
    const found = report.findings.map(({ kind, what }) => `${kind}: ${what}`);
    return { figures: report.figures, found: [...found, ...report.deaths] };
  };
  try {
    await rounds(tally, round, seed, until);
  } finally {
    await services.stop();
  }
}

function refuse(message: string): number {
  console.error(`${message}\n\n${HELP}`);
  return 2;
}

/** The rule of three. */
function close({ kills, cases, events, failures, findings }: Tally, seed: number): number {
  const counted = `${kills} kills, ${cases} cases at failpoints, ${events} events under random kills`;
  console.log(`${counted}, ${findings.length} findings (seed ${seed})`);
  if (failures > 0 && findings.length === 0) {
    const bound = (3 / failures).toPrecision(2);
    console.log(`with 95 % confidence fewer than ${bound} of all failures lead to a finding (3/n, n = ${failures})`);
  }
  return findings.length === 0 ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  const options = {
    help: { type: 'boolean', short: 'h', default: false },
    backend: { type: 'string', default: 'embedded' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    table: { type: 'boolean', default: false },
  } as const;
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    return refuse(messageOf(error));
  }
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  if (!(minutes >= 0)) return refuse('--minutes takes a number, 0 or more.');
  if (!Number.isSafeInteger(seed)) return refuse('--seed takes a whole number.');
  const tally: Tally = { kills: 0, cases: 0, events: 0, failures: 0, findings: [] };
  const until = Date.now() + minutes * 60_000;
  switch (values.backend) {
    case 'embedded':
      await failEverywhere(tally, values.table);
      await rounds(tally, embeddedRound, seed, until);
      return close(tally, seed);
    case 'cluster': {
      const lacking = (['kafka', 'mongodb', 'registry'] as const).filter((name) => missingPrograms().includes(name));
      if (lacking.length > 0) return refuse(`${lacking.join(', ')}: not there. Get them by npm test -- --install.`);
      await breakCluster(tally, seed, until);
      return close(tally, seed);
    }
    default:
      return refuse(`There is no backend ${values.backend}.`);
  }
}

process.exitCode = await main(process.argv.slice(2));
