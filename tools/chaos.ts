/** `npm run chaos`: see HELP below. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '@carillon/kernel';
import { startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { FAILPOINT_ACTIONS } from '../test/chaos/failpoints/failpoints.ts';
import { runClusterCrashes } from '../test/chaos/cluster/crash-run.ts';
import { runClusterEdges } from '../test/chaos/cluster/edges-run.ts';
import { everything } from '../test/chaos/cluster/faults.ts';
import { runCrashes } from '../test/chaos/embedded/crash-run.ts';
import { runEdges } from '../test/chaos/embedded/edges-run.ts';
import { caseName, everyCase, everyCaseOfRoles } from '../test/chaos/failpoints/cases.ts';
import { everyChannelCase } from '../test/chaos/failpoints/channel-cases.ts';
import type { LabReport } from '../test/chaos/failpoints/laboratory.ts';
import { runFailpoints, type FailpointRun } from '../test/chaos/failpoints/run.ts';
import {
  channelPage,
  clusterPart,
  embeddedPart,
  endsIn,
  failpointPage,
  partsOf,
  renewed,
} from '../test/chaos/failpoints/table.ts';
import { openClusterPatient } from '../test/chaos/cluster/failpoints/patient.ts';
import { openEmbeddedPatient } from '../test/chaos/embedded/failpoints/patient.ts';
import { LONG_SPANS, TROUBLES } from '../test/chaos/network.ts';
import { closingLines, findingsOf, newTally, type PartTally, type Tally } from '../test/chaos/tally.ts';
import type { Finding } from '../test/harness/promises.ts';
import { missingPrograms } from '../test/support/programs.ts';

const HELP = `npm run chaos [-- --backend embedded|cluster] [--parts failpoints,channels,edges,kills] [--minutes 10] [--seed N] [--table]

Breaks the running product for a long time, and holds what it acknowledged against what it did.

  --backend embedded   the product as one process (default)
  --backend cluster    each role a process, on Kafka and FerretDB (needs the services of npm test -- --install)
  --parts a,b          left out: all. failpoints: lets it fail at every failpoint in every way (10 minutes; on a cluster more
                       than an hour). channels: the same for SMS and push messages, receipts and opt-outs, killed and held
                       still (embedded only, a quarter of an hour). edges: cuts, flaps, delays and stalls the network between any two programs (minutes).
                       kills: kills it at random; on a cluster roles, broker and stores, and holds roles still
  --actions a,b        at failpoints; left out: ${FAILPOINT_ACTIONS.join(',')}
  --cases WORDS        of failpoints only those whose name matches (a regular expression), such as 'lease|secret'
  --lanes 8            products side by side at failpoints (embedded): they mostly wait for leases
  --minutes 10         begins rounds of random kills until so much time is over; 0: none
  --seed N             of the first round, each further one has the next number; drawn where it is left out
  --table              writes how it ended at every failpoint into test/chaos/failpoints/README.md; the others stay as they are there

The last lines count kills, cases, troubles and findings. Where nothing was found in n random kills at which a call to the
partner or the mail server was open (on a cluster: one of the very process, or a request of a client), fewer than 3/n of all such kills lead to a finding, with 95 % confidence; failpoints
and edges are gone through one by one. Exit code 1: something was found.`;

const PARTS = ['failpoints', 'channels', 'edges', 'kills'] as const;

type Wishes = {
  readonly parts: readonly (typeof PARTS)[number][];
  readonly actions: readonly (typeof FAILPOINT_ACTIONS)[number][];
  readonly cases: RegExp;
  readonly table: boolean;
  readonly seed: number;
  readonly minutes: number;
  /** Products side by side. */
  readonly lanes: number;
};

const PAGE = resolve(import.meta.dirname, '../test/chaos/failpoints/README.md');
const CHANNEL_PAGE = resolve(import.meta.dirname, '../test/chaos/failpoints/channels.md');
/** Longer than the lease of a mail (30 s) and that of a call to a partner (16 s). */
const HELD = 35_000;
/** On the three channels: a lease outlives it. */
const HELD_ON_CHANNELS = 20_000;
const KILLS_OF_ROUND = 10;
const EVENTS_OF_ROUND = 2_000;
/** Events that a cluster gets in a second: they last as long as the faults of a round. */
const RATE = 25;

type Figures = Readonly<Record<string, number>>;
const say = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

function note(part: PartTally, where: string, found: readonly string[]): void {
  for (const what of found) say(`FOUND ${where}: ${what}`);
  part.findings.push(...found);
}

async function troubleEdges(
  tally: Tally,
  run: () => Promise<{ readonly findings: readonly Finding[]; readonly figures: Figures }>,
): Promise<void> {
  const { findings, figures } = await run();
  const part = tally['troubles of edges'];
  part.failures += (figures['edges'] ?? 0) * TROUBLES.length;
  note(
    part,
    'edges',
    findings.map(({ kind, what }) => `${kind}: ${what}`),
  );
  say(`edges: ${JSON.stringify(figures)}`);
}

type Failing = Omit<FailpointRun, 'held' | 'waitsForLeases' | 'progress'> & {
  /** Left out: longer than any lease. */
  readonly held?: number;
  readonly page?: string;
};

async function failEverywhere(
  tally: Tally,
  run: Failing,
  write: ((ends: LabReport['ends']) => string) | null,
): Promise<void> {
  const { cases, page = PAGE } = run;
  const { ends, findings } = await runFailpoints({
    held: HELD,
    ...run,
    waitsForLeases: true,
    progress: (done, one) => say(`${done} of ${cases.length} failpoints, ${caseName(one)}`),
  });
  const part = tally['cases at failpoints'];
  part.failures += ends.length;
  const missed = ends.filter(({ reached }) => !reached).map((end) => `never came to ${caseName(end.case)}`);
  const found = [...findings.map(({ kind, what }) => `${kind}: ${what}`), ...missed];
  note(part, 'failpoints', found);
  if (!write || found.length > 0) return;
  writeFileSync(page, write(ends));
  say(`wrote ${page}`);
}

type Round = (seed: number) => Promise<{ readonly figures: Figures; readonly found: string[] }>;

/** A round that shows too little justifies no bound. */
const foundIn = (findings: readonly Finding[], showsTooLittle: string | null): string[] => [
  ...findings.map(({ kind, what }) => `${kind}: ${what}`),
  ...(showsTooLittle === null ? [] : [showsTooLittle]),
];

const embeddedRound: Round = async (seed) => {
  const { findings, showsTooLittle, figures } = await runCrashes({
    seed,
    rounds: KILLS_OF_ROUND,
    calm: true,
    mixture: { elsewhere: 0.25 },
  });
  return { figures, found: foundIn(findings, showsTooLittle) };
};

async function rounds(tally: Tally, round: Round, seed: number, until: number): Promise<void> {
  const part = tally['kills at random'];
  for (let next = seed; Date.now() < until; next += 1) {
    // A run that cannot be judged is a finding too.
    const failed = (error: unknown): Awaited<ReturnType<Round>> => ({ figures: {}, found: [messageOf(error)] });
    const { figures, found } = await round(next).catch(failed);
    part.failures += figures['kills'] ?? 0;
    tally.killsAtWork += figures['killsAtWork'] ?? 0;
    tally.events += figures['acknowledged'] ?? 0;
    note(part, `seed ${next}`, found);
    say(`seed ${next}: ${JSON.stringify(figures)}`);
  }
}

const pageParts = (): readonly [string, string] => partsOf(readFileSync(PAGE, 'utf8'));

async function breakEmbedded(
  tally: Tally,
  { parts, actions, cases, table, seed, minutes, lanes }: Wishes,
): Promise<void> {
  if (parts.includes('failpoints')) {
    const chosen = everyCase(actions).filter((one) => cases.test(caseName(one)));
    const run = { open: openEmbeddedPatient, cases: chosen, lanes };
    const write = (ends: LabReport['ends']): string => {
      const [embedded, cluster] = pageParts();
      return failpointPage(embeddedPart(renewed(endsIn(embedded, null), ends)), cluster);
    };
    await failEverywhere(tally, run, table ? write : null);
  }
  if (parts.includes('channels')) {
    const ways = actions.filter((action) => action === 'kill' || action === 'stop');
    const chosen = everyChannelCase(ways).filter((one) => cases.test(caseName(one)));
    const run = { open: openEmbeddedPatient, cases: chosen, lanes, held: HELD_ON_CHANNELS, page: CHANNEL_PAGE };
    const write = (ends: LabReport['ends']): string =>
      channelPage(renewed(endsIn(readFileSync(CHANNEL_PAGE, 'utf8'), 'channel'), ends));
    await failEverywhere(tally, run, table ? write : null);
  }
  if (parts.includes('edges')) {
    await troubleEdges(tally, () => runEdges({ seed, spans: LONG_SPANS, progress: say }));
  }
  if (parts.includes('kills')) await rounds(tally, embeddedRound, seed, Date.now() + minutes * 60_000);
}

/** One log serves one cluster: each run has a broker and stores of its own. */
async function onServices<Result>(run: (services: ClusterServices) => Promise<Result>): Promise<Result> {
  const services = await startClusterServices();
  try {
    return await run(services);
  } finally {
    await services.stop();
  }
}

const clusterRound: Round = (seed) =>
  onServices(async (services) => {
    const report = await runClusterCrashes({
      services,
      database: 'chaos',
      seed,
      events: EVENTS_OF_ROUND,
      rate: RATE,
      mixture: { firing: 0.4, elsewhere: 0.25 },
      faults: (site) => everything(site, KILLS_OF_ROUND),
    });
    const found = report.findings.map(({ kind, what }) => `${kind}: ${what}`);
    return { figures: report.figures, found: [...found, ...report.deaths] };
  });

async function breakCluster(tally: Tally, { parts, actions, cases, table, seed, minutes }: Wishes): Promise<void> {
  if (parts.includes('failpoints')) {
    const chosen = everyCaseOfRoles(actions).filter((one) => cases.test(caseName(one)));
    const write = (ends: LabReport['ends']): string => {
      const [embedded, cluster] = pageParts();
      return failpointPage(embedded, clusterPart(renewed(endsIn(cluster, 'who failed'), ends)));
    };
    await onServices((services) => {
      // Where nobody is held still nobody has to take over, and fewer processes are faster.
      const open = openClusterPatient({ services, database: 'failpoints', twins: actions.includes('stop') });
      // One log: no lanes.
      return failEverywhere(tally, { open, cases: chosen, lanes: 1 }, table ? write : null);
    });
  }
  if (parts.includes('edges')) {
    await troubleEdges(tally, async () => {
      const edges = (services: ClusterServices) => runClusterEdges(services, 'edges', seed, say);
      const { findings, deaths, figures } = await onServices(edges);
      const died = deaths.map((what): Finding => ({ kind: 'stuck', what: `nobody killed it: ${what}` }));
      return { findings: [...findings, ...died], figures };
    });
  }
  if (parts.includes('kills')) await rounds(tally, clusterRound, seed, Date.now() + minutes * 60_000);
}

function refuse(message: string): number {
  console.error(`${message}\n\n${HELP}`);
  return 2;
}

function close(tally: Tally, seed: number): number {
  const findings = findingsOf(tally).length;
  for (const line of closingLines(tally)) console.log(line);
  console.log(`${findings} findings in all (seed ${seed})`);
  return findings === 0 ? 0 : 1;
}

/** A list out of these names; null: it names something else. */
function namesIn<Name extends string>(text: string, known: readonly Name[]): readonly Name[] | null {
  const found = text.split(',').map((word) => known.find((name) => name === word));
  return found.every((name) => name !== undefined) ? found : null;
}

async function main(args: readonly string[]): Promise<number> {
  const options = {
    help: { type: 'boolean', short: 'h', default: false },
    backend: { type: 'string', default: 'embedded' },
    parts: { type: 'string', default: PARTS.join(',') },
    actions: { type: 'string', default: FAILPOINT_ACTIONS.join(',') },
    cases: { type: 'string', default: '' },
    minutes: { type: 'string', default: '10' },
    lanes: { type: 'string', default: '8' },
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
  const [minutes, seed, lanes] = [Number(values.minutes), Number(values.seed), Number(values.lanes)];
  const parts = namesIn(values.parts, PARTS);
  const actions = namesIn(values.actions, FAILPOINT_ACTIONS);
  if (!Number.isInteger(lanes) || lanes < 1) return refuse('--lanes takes a whole number, 1 or more.');
  if (!(minutes >= 0)) return refuse('--minutes takes a number, 0 or more.');
  if (!Number.isSafeInteger(seed)) return refuse('--seed takes a whole number.');
  if (!parts) return refuse(`--parts takes some of ${PARTS.join(',')}.`);
  if (!actions) return refuse(`--actions takes some of ${FAILPOINT_ACTIONS.join(',')}.`);
  const tally = newTally();
  const wishes = { parts, actions, cases: new RegExp(values.cases), table: values.table, seed, minutes, lanes };
  switch (values.backend) {
    case 'embedded':
      await breakEmbedded(tally, wishes);
      return close(tally, seed);
    case 'cluster': {
      const lacking = (['kafka', 'mongodb', 'registry'] as const).filter((name) => missingPrograms().includes(name));
      if (lacking.length > 0) return refuse(`${lacking.join(', ')}: not there. Get them by npm test -- --install.`);
      await breakCluster(tally, wishes);
      return close(tally, seed);
    }
    default:
      return refuse(`There is no backend ${values.backend}.`);
  }
}

process.exitCode = await main(process.argv.slice(2));
