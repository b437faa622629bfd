import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OpenSide, Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import { secondsOf } from '../warm-up.ts';

/** A provider's server in its own process. It waits `delayMs` before each reply. */
export type ProviderProcess<Place, Report> = {
  readonly pid: number;
  readonly place: Place;
  /** Returns what arrived so far. */
  report(): Promise<Report>;
  stop(): Promise<void>;
};

/** Starts a program of `test/bench/peers` that sends its place over IPC, and a report for each message it gets. */
export async function startProvider<Place, Report>(
  program: string,
  delayMs: number,
): Promise<ProviderProcess<Place, Report>> {
  const path = fileURLToPath(new URL(`../peers/${program}`, import.meta.url));
  const server: ChildProcess = fork(path, [String(delayMs)]);
  const [place] = (await once(server, 'message')) as [Place];
  return {
    pid: server.pid ?? 0,
    place,
    async report() {
      server.send('how many');
      const [report] = (await once(server, 'message')) as [Report];
      return report;
    },
    async stop() {
      const exit = once(server, 'exit');
      server.disconnect();
      await exit;
    },
  };
}

/** A client of a provider. `send` resolves when the provider accepted message `n`, and rejects otherwise. */
export type ProviderClient = { send(n: number): Promise<void>; close(): Promise<void> };

export type ClientSideOptions<Place, Report> = {
  readonly name: string;
  readonly program: string;
  readonly delayMs: number;
  readonly concurrency: number;
  connect(place: Place): Promise<ProviderClient>;
  /** Counts messages that arrived, each once. */
  arrived(report: Report): number;
};

/** A side that sends through one client. Every message must arrive exactly once. */
export const clientSide = <Place, Report>(options: ClientSideOptions<Place, Report>): Side => ({
  name: options.name,
  syncs: 'nothing',
  async open(): Promise<OpenSide> {
    const provider = await startProvider<Place, Report>(options.program, options.delayMs);
    const client = await options.connect(provider.place);
    let sent = 0;
    return {
      processes: { bench: process.pid, server: provider.pid },
      round: (round) =>
        closedLoop({ open: options.concurrency, seconds: secondsOf(round) }, () => client.send((sent += 1))),
      async verify() {
        const arrived = options.arrived(await provider.report());
        return arrived === sent ? [] : [`${sent} messages were sent, ${arrived} arrived once`];
      },
      async close() {
        await client.close();
        await provider.stop();
      },
    };
  },
});
