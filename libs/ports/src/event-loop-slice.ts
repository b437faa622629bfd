/**
 * Turns of the event loop. Long work asks in between whether its turn has lasted long enough, and goes on in a later one, so
 * that other workspaces and the servers of the same process are not held. What the work comes to must not depend on it.
 */
export type EventLoopSlice = {
  /** Whether the running turn has lasted some milliseconds; costs next to nothing. */
  isExpired(): boolean;
  /** Resolves in a later turn, after what waited for input and timers has had its own; one waiter a turn. */
  yield(): Promise<void>;
};
