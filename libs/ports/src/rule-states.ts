import type { Instant, LogId } from '@carillon/kernel';
import type { FencedWrite } from './checkpoints.ts';

/** State of all rules of a stream for one entity, in one document. */
export type RuleState = {
  readonly id: string;
  readonly logId: LogId;
  readonly partition: number;
  /** Record at which the state last changed, by an event or a deadline. Saves are compared by it. */
  readonly offset: number;
  /** When the earliest wait may fire. Null: the entity waits for nothing. */
  readonly nextDue: Instant | null;
  /** When the state may be removed if nothing waits by then. Null: never. Best a whole day, because an index holds it. */
  readonly forgetAt: Instant | null;
  /** The waits of the entity, at most one for each rule. */
  readonly waits: readonly RuleWait[];
  readonly data: string;
  /**
   * Number of erasures that changed the state. Left out if there was none, or if erasures pause the writers of states. A save with another number than the stored one is
   * `refused`, because its writer still knows what was erased.
   */
  readonly erasures?: number;
};

/** A wait of an entity. `rule` is the name that the caller gives a rule, the same for all entities. `due`: when the wait may end. */
export type RuleWait = { readonly rule: string; readonly due: Instant };

/** Entities that wait by a rule, and the earliest `due` of their waits. Null: no entity waits. */
export type WaitingEntities = { readonly count: number; readonly nextDue: Instant | null };

/** A state with a wait, without its data: a caller that has this version need not load it. */
export type DueRuleState = Pick<RuleState, 'id' | 'offset'> & { readonly nextDue: Instant };

export type RuleStateStore = {
  load(ids: readonly string[]): Promise<readonly RuleState[]>;
  /**
   * Saves each state unless the stored one is newer or of another log id or partition, which is `refused`. A stored state of
   * the same offset counts as done and is kept. Of two states with one id the later in the list counts as the later save.
   * Durable when the promise resolves.
   */
  save(states: readonly RuleState[]): Promise<readonly FencedWrite[]>;
  /**
   * Returns at most `limit` states of a partition whose `nextDue` is earlier than `before`, earliest first. The next page is
   * asked for in the same way once these are saved.
   */
  due(partition: number, before: Instant, limit: number): Promise<readonly DueRuleState[]>;
  /** Returns the earliest `nextDue` of a partition. Null: nothing waits there. */
  earliestDue(partition: number): Promise<Instant | null>;
  /** Counts entities that wait by a rule, up to `limit`. It reads no more index entries than that, however many wait. */
  waiting(rule: string, limit: number): Promise<WaitingEntities>;
  /** Lists all states in the order of their ids, at most `limit` after the id `after`. */
  list(limit: number, after?: string): Promise<readonly RuleState[]>;
  /**
   * Removes at most `limit` states of a partition that wait for nothing and whose `forgetAt` is earlier than `before`. Returns
   * how many. A caller passes the watermark of the partition, so that no unread record still needs what is removed.
   */
  sweep(partition: number, before: Instant, limit: number): Promise<number>;
  /** Removes each of these states that still has this offset, with its waits. A state that changed meanwhile stays. Idempotent. */
  remove(states: readonly Pick<RuleState, 'id' | 'offset'>[]): Promise<void>;
};
