/** Runs work of one key in sequence; work of different keys runs concurrently. */
export type SerializeByKey = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * Creates a serializer: work of one key starts in call order, each after the previous one has settled. An idle key
 * takes no memory. It only avoids lost compare-and-sets within this process; between processes the compare-and-set
 * decides.
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
