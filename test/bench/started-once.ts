/** Something that several sides of a case use: started by the first of them, ended after the last has let go. */
export type Shared<T> = {
  take(): Promise<T>;
  release(): Promise<void>;
};

export function shared<T>(start: () => Promise<T>, stop: (started: T) => Promise<void>): Shared<T> {
  let users = 0;
  let starting: Promise<T> | null = null;
  return {
    async take() {
      users += 1;
      starting ??= start();
      return starting;
    },
    async release() {
      users -= 1;
      if (users > 0 || !starting) return;
      const ending = starting;
      starting = null;
      // Where it never started there is nothing to end, and whoever took it knows already.
      const started = await ending.catch(() => null);
      if (started !== null) await stop(started);
    },
  };
}
