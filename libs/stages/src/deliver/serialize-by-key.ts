/** Works that share a name take turns; works of different names do not wait for each other. */
export type SerializeByKey = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * Lets works of one name begin in the order of their calls, each after the one before has ended, however it ended. A name
 * that nobody waits for takes no memory. Turns are of this process alone: what several processes may do to one document
 * is decided by compare-and-set, and turns only spare those of one process from losing to each other.
 */
export function serializeByKey(): SerializeByKey {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = last.get(name);
    const own = before ? before.then(work, work) : work();
    last.set(name, own);
    try {
      return await own;
    } finally {
      if (last.get(name) === own) last.delete(name);
    }
  };
}
