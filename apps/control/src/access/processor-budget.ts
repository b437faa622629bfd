import { CarillonError, type Instant } from '@carillon/kernel';
import type { Clock, TemplateRenderer, EventLoopSlice } from '@carillon/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import { principalIfAny, type Principal } from './principal.ts';
import { EVERY_WORKSPACE } from './visible-scope.ts';

/**
 * Processor time of the management API per second and control process, with the maximum saved up while idle. The budget
 * of a workspace covers two principals at their limit.
 */
export const PROCESSOR_BUDGETS = {
  principal: { msPerSecond: 250, savedMs: 5_000, of: 'one person or token' },
  workspace: { msPerSecond: 500, savedMs: 10_000, of: 'one workspace' },
} as const;
type Budget = (typeof PROCESSOR_BUDGETS)[keyof typeof PROCESSOR_BUDGETS];

/** Maximum number of accounts. Beyond it the least recently used is dropped. */
const MAX_ACCOUNTS = 10_000;
/** Milliseconds charged for one rendering at most. A worker stops a rendering then; the rest of the time is queueing. */
const MAX_RENDER_MS = 250;

export type Stopwatches = {
  /** Processor time of this thread in milliseconds, independent of other load. */
  readonly threadMs: () => number;
  /** Milliseconds by the clock, for work of other threads. */
  readonly wallMs: () => number;
};

type Account = { balanceMs: number; at: Instant };

/** Balances of all principals, or of all workspaces. A balance may become negative, because a running request is not stopped. */
function createAccounts({ msPerSecond, savedMs, of }: Budget, clock: Pick<Clock, 'now'>) {
  const accounts = new Map<string, Account>();

  function refilled(key: string): Account {
    const now = clock.now();
    const before = accounts.get(key) ?? { balanceMs: savedMs, at: now };
    const earned = (Math.max(0, now - before.at) * msPerSecond) / 1_000;
    return { balanceMs: Math.min(savedMs, before.balanceMs + earned), at: now };
  }

  return {
    demand(key: string): void {
      const { balanceMs } = refilled(key);
      if (balanceMs > 0) return;
      const limit = `${msPerSecond} ms of processor time per second for ${of}`;
      const retryAfter = Math.ceil(((1 - balanceMs) * 1_000) / msPerSecond);
      throw new CarillonError('rate_limited', `the limit is ${limit}; send later`, {
        limit,
        retryAfter,
      });
    },
    charge(key: string, ms: number): void {
      const account = refilled(key);
      account.balanceMs -= ms;
      accounts.delete(key);
      accounts.set(key, account);
      const [longestAgo] = accounts.keys();
      if (accounts.size > MAX_ACCOUNTS && longestAgo !== undefined) accounts.delete(longestAgo);
    },
  };
}

/** Measures one request. */
type Meter = {
  /**
   * Charges the processor time since the last mark. Charges nothing if the event loop ran in between, because the
   * request only waited then.
   */
  mark(): void;
  /** Begins to measure now. */
  begin(): void;
  charge(ms: number): void;
};

export type ProcessorBudget = {
  /** Throws `rate_limited`, with the time to wait, if the principal or the workspace has used up its processor time. */
  demand(principal: Pick<Principal, 'actor'>, request: Pick<FastifyRequest, 'params'>): void;
  /** Charges the requests of an app to their principals and workspaces. */
  chargeRequests(app: FastifyInstance): void;
  /** Wraps a slice: work of a request between two yields is charged to it. */
  metered(slice: EventLoopSlice): EventLoopSlice;
  /** Wraps a renderer: work of its threads is charged to the request. */
  meteredTemplates(templates: TemplateRenderer): TemplateRenderer;
};

/**
 * Limits the processor time of a principal or workspace, because few expensive requests can exhaust it. The owner token
 * is exempt, because its file belongs to the operator.
 */
export function createProcessorBudget(
  clock: Pick<Clock, 'now'>,
  { threadMs, wallMs }: Stopwatches = { threadMs: threadTimeMs, wallMs: () => performance.now() },
): ProcessorBudget {
  const principals = createAccounts(PROCESSOR_BUDGETS.principal, clock);
  const workspaces = createAccounts(PROCESSOR_BUDGETS.workspace, clock);
  const running = new AsyncLocalStorage<Meter>();
  const rounds = countRounds();

  function meterOf(principal: string, workspace: string | null): Meter {
    let marked = { at: threadMs(), round: rounds.current() };
    const meter: Meter = {
      mark() {
        const [now, round] = [threadMs(), rounds.current()];
        if (round === marked.round) meter.charge(now - marked.at);
        marked = { at: now, round };
      },
      begin: () => void (marked = { at: threadMs(), round: rounds.current() }),
      charge(ms) {
        principals.charge(principal, ms);
        if (workspace !== null) workspaces.charge(workspace, ms);
      },
    };
    return meter;
  }

  return {
    demand({ actor }, request) {
      if (!isCharged(actor)) return;
      principals.demand(nameOf(actor));
      const workspace = workspaceOf(request);
      if (workspace !== null) workspaces.demand(workspace);
    },

    chargeRequests(app) {
      app.addHook('preValidation', (request, _reply, done) => {
        const actor = principalIfAny(request)?.actor;
        if (actor && isCharged(actor)) running.run(meterOf(nameOf(actor), workspaceOf(request)), done);
        else done();
      });
      app.addHook('onSend', async () => running.getStore()?.mark());
    },

    metered: (turns) => ({
      isExpired() {
        running.getStore()?.mark();
        return turns.isExpired();
      },
      async yield() {
        const meter = running.getStore();
        meter?.mark();
        await turns.yield();
        meter?.begin();
      },
    }),

    meteredTemplates: (templates) => ({
      ...templates,
      async render(...order) {
        const meter = running.getStore();
        meter?.mark();
        const began = wallMs();
        try {
          return await templates.render(...order);
        } finally {
          meter?.charge(Math.min(MAX_RENDER_MS, wallMs() - began));
          meter?.begin();
        }
      },
    }),
  };
}

function threadTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const isCharged = ({ kind }: Principal['actor']): boolean => kind === 'person' || kind === 'token';
const nameOf = ({ kind, id }: Principal['actor']): string => `${kind} ${id}`;

function workspaceOf({ params }: Pick<FastifyRequest, 'params'>): string | null {
  const { workspace } = params as { readonly workspace?: string };
  return workspace === undefined || workspace === EVERY_WORKSPACE ? null : workspace;
}

/** Counts ticks of the event loop while someone reads the count. */
function countRounds(): { current(): number } {
  let [round, isCounting] = [0, false];
  return {
    current() {
      if (!isCounting) {
        isCounting = true;
        setImmediate(() => {
          round += 1;
          isCounting = false;
        });
      }
      return round;
    },
  };
}
