import {
  canPassOver,
  describeDoneReset,
  postgresPosition,
  readUntil,
  type SourceState,
} from '@carillon/domain/changes';
import type { ConfiguredSource } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';
import type { SourceRef, SourceTarget, StoredSource, TopicEnd } from '@carillon/ports';
import { pause } from '@carillon/runtime';
import { failedState } from './failed-state.ts';
import { leaveSource } from './leave-source.ts';
import { openSource, readingOf, secretsToKeep } from './open-source.ts';
import type { OpenedSource } from './opened-source.ts';
import { ReadingEnded, readSource } from './read-source.ts';
import { readAfterReset } from './read-tables.ts';
import { createSavedSource, newSource, StaleSource, type SavedSource } from './saved-source.ts';
import { createSourceLease, NO_LEASE, type SourceLease } from './source-lease.ts';
import { resetRecord } from './reset-record.ts';
import { nameOf, type SourcePorts, type SourceTiming } from './source-ports.ts';

export type SourceRunOptions = {
  readonly ref: SourceRef;
  /** Names this process in leases. */
  readonly holder: string;
  /** Returns the current configuration of the source. Null if its integration was removed. */
  readonly configured: () => ConfiguredSource | null;
  readonly signal: AbortSignal;
  readonly timing: SourceTiming;
};

/** A state that a reset may end. */
type HeldState = Extract<SourceState, { readonly kind: 'stopped' | 'waiting' }>;

type Missing = { readonly detail: string; readonly fix: string | null };

/**
 * Next action of a source's loop: `again` at once, `retry` after a growing pause, `idle` after a round, `ended` if the
 * source was removed.
 */
type Step = 'again' | 'retry' | 'idle' | 'ended';

const isOfOtherKind = (stored: StoredSource | null, source: ConfiguredSource | null): boolean =>
  stored !== null && source !== null && stored.kind !== source.body.kind;

/**
 * Reads one source until `signal` aborts or the source is removed. Takes its lease, reads, waits, stays stopped until a
 * person requests a reset, and drops the slot once the integration was removed or has another kind. Never rejects.
 */
export const runSource = (options: SourceRunOptions, ports: SourcePorts): Promise<void> =>
  new SourceRun(options, ports).run();

class SourceRun {
  readonly #options: SourceRunOptions;
  readonly #ports: SourcePorts;
  readonly #name: string;
  readonly #lease: SourceLease;
  /** Source as shown in metrics and log. Null while another process reads it. */
  #shown: StoredSource | null = null;
  #lastTarget: SourceTarget | null = null;
  #retryMs: Duration;

  constructor(options: SourceRunOptions, ports: SourcePorts) {
    this.#options = options;
    this.#ports = ports;
    this.#name = nameOf(options.ref);
    const { holder, timing } = options;
    const name = `source ${this.#name}`;
    this.#lease = ports.aloneOnStore ? NO_LEASE : createSourceLease(ports, { name, holder, leaseMs: timing.leaseMs });
    this.#retryMs = options.timing.firstPauseMs;
  }

  async run(): Promise<void> {
    const { signal, timing } = this.#options;
    const { watch, ids } = this.#ports;
    try {
      while (!signal.aborted) {
        const next = await this.#step().catch((error: unknown): Step => {
          if (error instanceof StaleSource) return 'retry';
          watch.trouble(`read ${this.#name}`, error);
          this.#showFailure(error);
          return 'retry';
        });
        if (next === 'ended') return;
        if (next === 'idle') await this.#rest(timing.roundMs);
        if (next === 'retry') {
          await this.#rest(this.#retryMs * (1 + ids.chance() / 2));
          this.#retryMs = Math.min(this.#retryMs * 2, timing.longestPauseMs);
        }
      }
    } finally {
      watch.sourceLeft(this.#name);
      await this.#lease.release().catch((error: unknown) => watch.trouble(`release the lease of ${this.#name}`, error));
    }
  }

  async #step(): Promise<Step> {
    const { ref, configured } = this.#options;
    if (!(await this.#lease.hold())) {
      if (this.#shown !== null) this.#ports.watch.sourceLeft(this.#name);
      this.#shown = null;
      return 'idle';
    }
    const stored = await this.#ports.sources.load(ref);
    // A slot is dropped only after a look at the newest configuration, because this process may lag behind.
    if (configured() === null || isOfOtherKind(stored, configured())) await this.#ports.configuration.refresh();
    const source = configured();
    if (source === null) return stored === null || stored.moved ? 'ended' : this.#leave(stored);
    // The integration has another kind now: the old source leaves before the new one begins.
    if (stored !== null && isOfOtherKind(stored, source)) return this.#leave(stored);
    // Without streams the reader still follows an existing slot, because an unread slot fills the disk of the database.
    const hasSlot = postgresPosition(stored?.position ?? null) !== null || stored?.state.kind === 'stopped';
    if (source.streams.length === 0 && !hasSlot) {
      return stored === null ? 'ended' : this.#leave(stored);
    }
    const saved = createSavedSource(stored ?? newSource(source, this.#ports.clock.now()), this.#ports);
    if (stored?.state.kind === 'leaving' && stored.state.stopped !== undefined) {
      const state: SourceState = { kind: 'stopped', reason: stored.state.stopped, detail: null, fix: null };
      await saved.save({ state, reset: null, secrets: secretsToKeep(source) });
      return 'again';
    }
    if (stored?.state.kind === 'waiting' && stored.reset !== null && canPassOver(stored)) {
      return this.#reset(source, saved, stored.state);
    }
    if (stored?.state.kind !== 'stopped') return this.#read(source, saved);
    this.#show(stored);
    if (stored.reset === null) return 'idle';
    if (!stored.reset.gone) return this.#reset(source, saved, stored.state);
    await saved.save({ reset: null });
    return 'idle';
  }

  #show(source: StoredSource): void {
    this.#shown = source;
    const { state, position, lagBytes, lagRecords = null } = source;
    this.#ports.watch.sourceState(this.#name, { state, readUntil: readUntil(position), lagBytes, lagRecords });
  }

  /** A store that rejects stores no state, but metrics and log show it. A stopped source stays stopped there too. */
  #showFailure(error: unknown): void {
    const source = this.#shown;
    if (source === null || source.state.kind === 'stopped' || source.state.kind === 'leaving') return;
    this.#show({ ...source, state: failedState(error, this.#ports.aloneOnStore) });
  }

  /** Stores a state. If the store refuses too, as on a full disk, metrics and log still show the state. */
  async #enter(
    saved: SavedSource,
    source: ConfiguredSource,
    state: SourceState,
    lagRecords: number | null = saved.current().lagRecords ?? null,
  ): Promise<void> {
    this.#show({ ...saved.current(), state });
    const lag = lagRecords === null ? {} : { lagRecords };
    await saved.save({ state, secrets: secretsToKeep(source), moved: false, ...lag });
  }

  /** Returns the source with its secrets. `missing` is told if a secret is not set. */
  async #opened(source: ConfiguredSource, missing: (problem: Missing) => Promise<void>): Promise<OpenedSource | null> {
    const opened = await openSource(source, this.#ports);
    if (opened.ok) {
      this.#lastTarget = opened.value.database;
      return opened.value;
    }
    const fix = `npx carillon secret set ${opened.error} --workspace ${this.#options.ref.workspace}`;
    await missing({ detail: `The secret ${opened.error} is not set.`, fix });
    return null;
  }

  async #read(source: ConfiguredSource, saved: SavedSource): Promise<Step> {
    const { configured, signal, timing } = this.#options;
    // A person asked for it while the source was leaving. Kept, it would end a later stop.
    if (saved.current().reset !== null) await saved.save({ reset: null });
    const opened = await this.#opened(source, (problem) =>
      this.#enter(saved, source, { kind: 'waiting', reason: 'refused_login', ...problem }),
    );
    if (opened === null) return 'retry';
    const reading = readingOf(source);
    const isCurrent = (): boolean => {
      const now = configured();
      return !signal.aborted && now !== null && readingOf(now) === reading;
    };
    const mayContinue = async (): Promise<boolean> => {
      this.#show(saved.current());
      if (saved.current().state.kind === 'running') this.#retryMs = timing.firstPauseMs;
      return this.#lease.hold().catch(() => false);
    };
    const pauseFor = (ms: Duration): Promise<void> => pause(ms, signal);
    const order = { configured: source, saved, isCurrent, mayContinue, pause: pauseFor, timing };
    const end = await readSource(order, opened, this.#ports);
    return this.#afterEnd(end, source, saved);
  }

  async #afterEnd(end: TopicEnd, source: ConfiguredSource, saved: SavedSource): Promise<Step> {
    if (end.kind !== 'closed') {
      const { detail, fix } = end;
      if (end.kind === 'waiting') {
        const { reason, topic } = end;
        await this.#enter(saved, source, {
          kind: 'waiting',
          reason,
          detail,
          fix,
          ...(topic !== undefined && { topic }),
        });
        return 'retry';
      }
      await this.#enter(saved, source, { kind: 'stopped', reason: end.reason, detail, fix }, end.lagRecords);
      return 'idle';
    }
    const { error } = end;
    if (error === null || error instanceof ReadingEnded) return 'again';
    if (error instanceof StaleSource) return 'retry';
    this.#ports.watch.trouble(`read ${this.#name}`, error);
    await this.#enter(saved, source, failedState(error, this.#ports.aloneOnStore));
    return 'retry';
  }

  /** A source whose reset fails keeps its state, and reports what the reset waits for. */
  async #reset(source: ConfiguredSource, saved: SavedSource, state: HeldState): Promise<Step> {
    const { position: from, reset: request, tables } = saved.current();
    const waits = ({ detail, fix }: Missing): Promise<void> =>
      this.#enter(saved, source, { ...state, detail: `The reset waits: ${detail}`, fix });
    const opened = await this.#opened(source, waits);
    if (opened === null || from === null || request === null) return 'retry';
    const held =
      state.kind === 'stopped' ? { reason: state.reason, topic: null } : { reason: null, topic: state.topic ?? null };
    const begun = await opened.reset({ from, ...held, request });
    if (!begun.ok) {
      const { detail, reason, fix } = begun.error;
      await waits({ detail: detail ?? reason, fix });
      return 'retry';
    }
    const { position, left } = begun.value;
    const record = resetRecord({ ref: this.#options.ref, request, from, to: position, left }, this.#ports);
    const read = { position, tables: readAfterReset(tables, from, position), secrets: secretsToKeep(source) };
    await saved.save({ ...read, state: { kind: 'running' }, reset: null }, [record]);
    this.#ports.watch.sourceReset(this.#name, describeDoneReset(from, position));
    return 'again';
  }

  async #leave(stored: StoredSource): Promise<Step> {
    const left = await leaveSource(stored, this.#lastTarget, this.#ports);
    if (left === null) return 'ended';
    this.#show(left);
    return 'retry';
  }

  /** Waits, and ends early if there is a new configuration. */
  async #rest(ms: Duration): Promise<void> {
    const { configured, signal, timing } = this.#options;
    const before = configured();
    const until = performance.now() + ms;
    while (!signal.aborted && configured() === before && performance.now() < until) {
      if (this.#shown !== null) this.#show(this.#shown);
      await pause(Math.min(timing.roundMs, Math.max(1, until - performance.now())), signal);
    }
  }
}
