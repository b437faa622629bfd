import {
  callBegun,
  callEnded,
  callNotMade,
  CLOSED,
  mayCallAt,
  probedElsewhere,
  type Breaker,
  type CallEnd,
} from '@carillon/domain/breaker';
import { canonical } from '@carillon/domain/configuration';
import {
  accountsOf,
  findNotification,
  providerResult,
  reaches,
  sendingSecrets,
  type AccountChoice,
  type Delivery,
  type ProviderResult,
} from '@carillon/domain/deliveries';
import type { FoundMessage } from '@carillon/domain/receipts';
import type { Duration, Instant } from '@carillon/kernel';
import type { ChannelSender, ConfigurationView, RenderedMessage, Secrets, SenderFactory } from '@carillon/ports';
import type { AccountHold } from '@carillon/stages';
import { createProbes, type ProbePorts } from './probes.ts';

type Ports = ProbePorts & {
  readonly configuration: ConfigurationView;
  readonly secrets: Secrets;
  readonly senders: readonly SenderFactory[];
  /** An account changed its state. `why`: the code and words of the answer that did it. */
  readonly state: (account: string, state: AccountState, why: string) => void;
};

/**
 * `suspended`: the provider refuses us, so one message a minute tries it, of all processes that share the store. `failing`: most
 * calls fail, so it rests half a minute between probes.
 */
export type AccountState = 'good' | 'suspended' | 'failing';

type Open = { readonly settings: string; readonly sender: ChannelSender };

/** How long a provider may take to say what it has. */
const FIND: Duration = 30_000;

/** The lane of deliveries that no account can take now: they are judged, postponed or failed, never called. */
export const NO_ACCOUNT = 'none';

/**
 * The provider accounts of this process: opens a sender per account when it is first used (again when its settings
 * change), keeps a breaker for each, and says which one takes a delivery next. Each process finds out by its own calls that an
 * account refuses us or fails; of all that know, one at a time tries it again.
 */
export function createAccounts(ports: Ports) {
  const open = new Map<string, Open>();
  const breakers = new Map<string, Breaker>();
  const states = new Map<string, AccountState>();
  const probes = createProbes(ports);

  const choices = (delivery: Delivery): readonly AccountChoice[] => {
    const newest = ports.configuration.current();
    const notification = findNotification(newest, delivery.slot);
    return notification ? accountsOf(newest, notification, delivery.slot.channel) : [];
  };
  /** Returns the accounts that may send to the address of the delivery. */
  const fitting = (delivery: Delivery): readonly AccountChoice[] =>
    choices(delivery).filter(({ body }) => reaches(body, delivery.intent.to));
  const breakerOf = (key: string): Breaker => breakers.get(key) ?? CLOSED;

  const isNext = ({ key }: AccountChoice, { tried }: Delivery, now: Instant): boolean =>
    !tried.includes(key) && mayCallAt(breakerOf(key), now) <= now;

  /** Told once for each change, however many calls end alike. */
  function recordCallEnd(key: string, after: Breaker, end: CallEnd): void {
    const before = states.get(key) ?? 'good';
    const state = !after.halfOpen ? 'good' : end === 'shut' ? 'suspended' : before === 'good' ? 'failing' : before;
    if (state === before) return;
    states.set(key, state);
    ports.state(key, state, after.why);
  }

  async function senderOf(choice: AccountChoice): Promise<ChannelSender> {
    const secrets = await resolveSecrets(choice, ports.secrets);
    // No await from here on: of many first calls one opens the account. A new password is a new setting.
    const settings = canonical([choice.body, secrets]);
    const known = open.get(choice.key);
    if (known?.settings === settings) return known.sender;
    const factory = ports.senders.find((one) => one.kind === choice.body.kind);
    if (!factory) throw new Error(`no adapter for accounts of kind ${choice.body.kind}`);
    const sender = factory.create(choice.body, secrets, choice.workspace);
    open.set(choice.key, { settings, sender });
    // The replaced sender finishes its calls in the background.
    if (known) void known.sender.close().catch((error: unknown) => ports.trouble('close a provider account', error));
    return sender;
  }

  return {
    /** The account to try next: by priority, not tried since the last pause, breaker closed. */
    route(delivery: Delivery, now: Instant): AccountChoice | null {
      return fitting(delivery).find((choice) => isNext(choice, delivery, now)) ?? null;
    },
    /** When one of its accounts may be tried again; null where it has none. */
    retryAt(delivery: Delivery, now: Instant): Instant | null {
      const all = fitting(delivery);
      if (all.length === 0) return null;
      return Math.max(now + 1000, Math.min(...all.map((choice) => mayCallAt(breakerOf(choice.key), now))));
    },
    /** Whether it has accounts, of which none may send to its address. */
    noneReaches: (delivery: Delivery): boolean => choices(delivery).length > 0 && fitting(delivery).length === 0,
    another(delivery: Delivery, than: string, now: Instant): boolean {
      return fitting(delivery).some((choice) => choice.key !== than && isNext(choice, delivery, now));
    },
    /**
     * Counts from the moment it is called, so that of those routed together only one is the probe of an open breaker. Null: another
     * process makes the probe, and the account is not free here.
     */
    async hold(choice: AccountChoice): Promise<AccountHold | null> {
      const isProbe = breakerOf(choice.key).halfOpen;
      breakers.set(choice.key, callBegun(breakerOf(choice.key), ports.clock.now()));
      if (isProbe && !(await probes.take(choice.key))) {
        breakers.set(choice.key, probedElsewhere(breakerOf(choice.key), ports.clock.now()));
        return null;
      }
      const sender = await senderOf(choice).catch((error: unknown) => {
        ports.trouble('open a provider account', error);
        return unusableSender(choice);
      });
      return {
        choice,
        sender,
        release(result: ProviderResult | null) {
          const before = breakerOf(choice.key);
          if (result === null || result.code === 'stopped') {
            breakers.set(choice.key, callNotMade(before));
            if (isProbe) probes.give(choice.key);
            return;
          }
          const end = endOf(result);
          const after = callEnded(before, end, `${result.code} ${result.detail}`.trim(), ports.clock.now());
          breakers.set(choice.key, after);
          recordCallEnd(choice.key, after, end);
          if (!after.halfOpen && isProbe) probes.give(choice.key);
          else if (after.halfOpen && (isProbe || !before.halfOpen)) probes.rests(choice.key, after.openUntil);
        },
      };
    },
    /**
     * Asks the provider of the last attempt for messages that resemble the delivery's. Null if the provider cannot say
     * now. Undefined if it never can, if the account no longer exists, or if the message cannot be rendered again.
     */
    async find(
      delivery: Delivery,
      since: Instant,
      render: (choice: AccountChoice) => Promise<RenderedMessage | null>,
      stopping: AbortSignal,
    ): Promise<readonly FoundMessage[] | null | undefined> {
      const key = delivery.attempts.at(-1)?.account;
      const choice = choices(delivery).find((one) => one.key === key);
      if (!choice) return undefined;
      return withinLimit(stopping, async (signal) => {
        const sender = await senderOf(choice);
        if (!sender.find) return undefined;
        const message = await render(choice);
        return message ? sender.find(message, since, signal) : undefined;
      });
    },
    async close(): Promise<void> {
      await Promise.all([...open.values()].map(({ sender }) => sender.close()));
      open.clear();
    },
  };
}
export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Runs `work` for as long as a provider may take. Resolves to null when the time is over or the process stops, because a sender may ignore its
 * signal, and a secret or a template may never come.
 */
async function withinLimit<Value>(
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value | null> {
  const late = new AbortController();
  const signal = AbortSignal.any([stopping, late.signal]);
  const ended = new Promise<null>((done) => {
    if (signal.aborted) done(null);
    signal.addEventListener('abort', () => done(null), { once: true });
  });
  const timer = setTimeout(() => late.abort(), FIND);
  return Promise.race([work(signal), ended]).finally(() => clearTimeout(timer));
}

/** Returns what an attempt shows about its account. A problem of a single message shows nothing. */
function endOf({ verdict }: ProviderResult): CallEnd {
  if (verdict === 'refused_account') return 'shut';
  return verdict === 'throttled' || verdict === 'transient' || verdict === 'ambiguous' ? 'bad' : 'good';
}

/**
 * Stands in for an account that cannot be opened, such as one whose secret cannot be read: what is to go over it waits
 * with a reason that people see, and ends like any other when it is too late.
 */
const unusableSender = (choice: AccountChoice): ChannelSender => {
  const detail = `the account ${choice.key} cannot be opened: its secret cannot be read or its settings do not fit`;
  return {
    send: async () => providerResult('refused_account', '', detail, { alert: true }),
    check: async () => [{ step: 'account', ok: false, detail }],
    close: async () => undefined,
  };
};

async function resolveSecrets(
  { workspace, body }: AccountChoice,
  secrets: Secrets,
): Promise<Readonly<Record<string, string>>> {
  const read = await Promise.all(
    sendingSecrets(body).map(async (name) => [name, await secrets.resolve(workspace, name)] as const),
  );
  // An adapter says of each that is missing what cannot be done without it.
  return Object.fromEntries(read.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
