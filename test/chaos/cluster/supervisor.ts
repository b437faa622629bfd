import { setTimeout as pause } from 'node:timers/promises';
import type { ServicePart } from '@carillon/testing/services';
import type { Cluster, Member } from '@carillon/testing/cluster';
import { portsOf } from './process-ports.ts';

/** What befell a run: for the report, and to find a failure again. */
export type Fault = {
  readonly at: number;
  readonly what: string;
  /** The ports by which a killed process of the product could be reached, or was connected, right before. */
  readonly ports?: ReadonlySet<number>;
};

/** Restarts what ends, as the supervisor of a deployment would, and knows who was killed and who ended by itself. */
export type Supervisor = {
  readonly faults: readonly Fault[];
  /** Processes that ended though nobody had killed them, and such as never became ready, with what they wrote last. */
  readonly deaths: readonly string[];
  /** Kills a member or a part of a service. Members come back by themselves. */
  kill(part: ServicePart): Promise<void>;
  /** Kills a part of a service and starts it again after a while. */
  outage(part: ServicePart, span: number): Promise<void>;
  /** Holds a process still for a while. */
  freeze(part: ServicePart, span: number): Promise<void>;
  /** Says that this happened. */
  note(what: string): void;
  /** Whether it is being started right now. */
  isStarting(part: ServicePart): boolean;
  /** Whether it is held still right now. */
  isHeld(part: ServicePart): boolean;
  /** Resolves when every member is ready; then nobody is watched any longer. */
  end(): Promise<void>;
  /** Watches nobody any longer, as of now. */
  abandon(): void;
};

const LOOKS_EVERY = 100;
const LAST_WORDS = 2_000;

export function superviseCluster({ members }: Pick<Cluster, 'members'>): Supervisor {
  const watched = [...members];
  const faults: Fault[] = [];
  const deaths: string[] = [];
  const killed = new Set<number>();
  const kills = new Map<ServicePart, number>();
  const starting = new Map<ServicePart, Promise<void>>();
  const held = new Set<ServicePart>();
  let ending = false;

  const note = (what: string): void => void faults.push({ at: Date.now(), what });

  function start(member: Member): void {
    const before = kills.get(member);
    const started = member
      .start()
      .catch((error: unknown) => {
        // Whoever waited for it has killed it. Killed by us before, it had less time than is due to it: it comes again.
        killed.add(member.pid);
        if (kills.get(member) === before) deaths.push(String(error));
      })
      .finally(() => starting.delete(member));
    starting.set(member, started);
  }

  async function watch(): Promise<void> {
    while (!ending) {
      for (const member of watched) {
        if (member.running || starting.has(member)) continue;
        if (!killed.has(member.pid)) deaths.push(`${member.name} ended: ${member.log().slice(-LAST_WORDS)}`);
        start(member);
      }
      await pause(LOOKS_EVERY);
    }
  }
  const watching = watch();

  async function kill(part: ServicePart): Promise<void> {
    const ofProduct = watched.some((member) => member === part);
    const ports = ofProduct ? portsOf(part.pid) : undefined;
    faults.push({ at: Date.now(), what: `kill ${part.name}`, ...(ports && { ports }) });
    killed.add(part.pid);
    kills.set(part, (kills.get(part) ?? 0) + 1);
    await part.kill();
  }

  return {
    faults,
    deaths,
    kill,
    note,
    isStarting: (part) => starting.has(part),
    isHeld: (part) => held.has(part),
    async outage(part, span) {
      await kill(part);
      await pause(span);
      await part.restart();
      note(`${part.name} is back`);
    },
    async freeze(part, span) {
      note(`hold ${part.name} still`);
      held.add(part);
      await part.kill('SIGSTOP');
      await pause(span);
      await part.kill('SIGCONT');
      held.delete(part);
      note(`${part.name} goes on`);
    },
    async end() {
      ending = true;
      await watching;
      await Promise.all(starting.values());
    },
    abandon() {
      ending = true;
    },
  };
}
