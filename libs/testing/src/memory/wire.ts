import { CarillonError } from '@carillon/kernel';

export type Asked = {
  /** Description of the request for the log of a run. */
  readonly about?: () => string;
  /** True if the request changes data. Otherwise it only reads. */
  readonly writes?: boolean;
  /** What happens where a write of many things is cut off in the middle. `chance`: a number in [0, 1). */
  readonly partly?: (chance: () => number) => void;
  /**
   * Left out: anything may happen to it. While the other end is there, what a client repeats by itself until it is answered takes
   * its time, and does not fail; what the other end notices by itself sooner or later never fails at all.
   */
  readonly sure?: 'while_there' | 'always';
};

/**
 * Connection between a process and a port of this folder; every request goes through it. Its implementation decides the
 * delay and whether request or response are lost.
 */
export type Wire = {
  /**
   * Lets `effect` happen at the other end, at one moment, and resolves with its answer. Rejects with WireFault where the
   * request or its answer got lost, and with whatever `effect` throws.
   */
  ask<Answer>(port: string, effect: () => Answer, asked?: Asked): Promise<Answer>;
  /** Runs `told` in the process, sometime: the other end speaks by itself. Never, where the process is gone. */
  tell(what: string, told: () => void): void;
};

/** A request that got no answer. `reached`: it may have happened; else it certainly did not. */
export class WireFault extends CarillonError {
  readonly reached: boolean;
  constructor(port: string, reached: boolean) {
    const code = port.startsWith('log.') ? 'log_unavailable' : 'store_unavailable';
    super(code, `${port}: ${reached ? 'no answer' : 'not reached'}`);
    this.reached = reached;
  }
}

/** Lets timers and sockets have their turn: an answer over a wire never comes in the same turn as the request. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A wire that is as fast as the machine. It can be cut for writes, and lose a share of the answers to writes. */
export function createDirectWire(): Wire & { cut: boolean; lostShare: number } {
  const wire = {
    cut: false,
    lostShare: 0,
    async ask<Answer>(port: string, effect: () => Answer, asked: Asked = {}): Promise<Answer> {
      if (wire.cut && asked.writes) throw new WireFault(port, false);
      const answer = effect();
      await nextTurn();
      if (asked.writes && Math.random() < wire.lostShare) throw new WireFault(port, true);
      return answer;
    },
    tell: (_what: string, told: () => void) => queueMicrotask(told),
  };
  return wire;
}
