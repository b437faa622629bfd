/**
 * A share of the event loop. Long work asks now and then whether its slice has expired, and then yields, so that other workspaces and
 * the servers of the process are not held up. The result of the work must not depend on when it yields.
 */
export type EventLoopSlice = {
  /** Returns true if the current slice has lasted its time. Cheap enough to call for each item. */
  isExpired(): boolean;
  /** Resolves in a later tick, after input and timers were served. One waiter continues per tick. */
  yield(): Promise<void>;
};
