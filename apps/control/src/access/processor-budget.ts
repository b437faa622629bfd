import { CarillonError, type Instant } from '@carillon/kernel';
import type { Clock, TemplateRenderer, EventLoopSlice } from '@carillon/ports';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AsyncLocalStorage } from 'node:async_hooks';
import { principalIfAny, type Principal } from './principal.ts';
import { EVERY_WORKSPACE } from './visible-scope.ts';

/**
 * Milliseconds of processor time that the management API of one control process gives per second, and how much is saved up
 * while nothing is asked. A workspace has room for two principals that use all of theirs.
 */
export const PROCESSOR_BUDGETS = {
  principal: { msPerSecond: 250, savedMs: 5_000, of: 'one person or token' },
  workspace: { msPerSecond: 500, savedMs: 10_000, of: 'one workspace' },
} as const;
type Budget = (typeof PROCESSOR_BUDGETS)[keyof typeof PROCESSOR_BUDGETS];

/** Accounts beyond this number are forgotten, those first that were used longest ago. */
const MAX_ACCOUNTS = 10_000;
/** Milliseconds charged for one rendering at most. A worker stops a rendering then; the rest of the time is queueing. */
const MAX_RENDER_MS = 250;

export type Stopwatches = {
  /** Milliseconds that this thread computed: a busy machine makes no request dearer. */
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
  /** Charges the time since the last mark, unless the event loop went around since: then the request waited. */
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
  /** The same turns; what a request does between them is charged to it. */
  metered(slice: EventLoopSlice): EventLoopSlice;
  /** The same renderer; what its threads do for a request is charged to it. */
  meteredTemplates(templates: TemplateRenderer): TemplateRenderer;
};

/**
 * Keeps one principal or workspace from using up the processor through calls that are allowed by number and dear each. The
 * machine's own token is not charged: its files are the operator's.
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

/** Counts rounds of the event loop while somebody asks for them. */
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
