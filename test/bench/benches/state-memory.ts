import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Bench, Reading, Side } from '../harness/bench.ts';

const ENTITIES = Number(process.env['BENCH_ENTITIES'] ?? 1_000_000);
const COLLECTING = new URL('../harness/collecting.ts', import.meta.url).href;
const PROGRAM = join(import.meta.dirname, '../peers/state-memory.ts');
/** Ten minutes of each side. */
const PACE = { rounds: 20, seconds: 30 };
const many = ENTITIES.toLocaleString('en');
const [withState, without] = [`${many} entities that wait`, 'without state'];

type Answer = Pick<Reading, 'done' | 'seconds'> & { readonly faults: readonly string[] };

const sideOf = (name: string, stream: 'renewing' | 'stateless'): Side => ({
  name,
  syncs: 'commits of the writer (SQLite, WAL, synchronous = FULL)',
  async open() {
    const child = fork(PROGRAM, [stream, String(ENTITIES)], {
      execArgv: ['--expose-gc', '--import', COLLECTING],
    });
    await once(child, 'message');
    let faults: readonly string[] = [];
    return {
      processes: { engine: child.pid ?? 0 },
      async round({ seconds }) {
        child.send(seconds);
        const [answer] = (await once(child, 'message')) as [Answer];
        faults = answer.faults;
        return answer;
      },
      verify: async () => faults,
      async close() {
        child.disconnect();
        await once(child, 'exit');
      },
    };
  },
});

export const stateMemory: Bench = {
  name: 'state-memory',
  title: 'Memory of rules with state',
  what: `What evaluates in an engine, over a data folder with 8 partitions, in a process of its own for each side. 200 events a second come in turn to ${many} entities; each moves the deadline
of its entity, so that it changes its state. *Without state* the rule looks at one event. Each process collects everything that is garbage every 15 s; memory is the median of a look each
second. The first quarter of the rounds warms up.`,
  cases: [
    {
      title: `${many} entities, embedded`,
      counted: 'events',
      sides: [sideOf(withState, 'renewing'), sideOf(without, 'stateless')],
      comparisons: [
        { side: withState, to: without, by: 'difference', measure: 'memory', wanted: 'at most', floor: 250 },
      ],
      memoryOf: ['engine'],
      pace: PACE,
    },
  ],
};
