/**
 * Tracks which assignment has a partition of a group within this process. After an expulsion, or when a member stops
 * while its handler runs, the group may give the partition to another member here. Its worker starts when the old one
 * has ended.
 */
export type Handovers = {
  /** Resolves when no assignment in this process holds the partition. */
  before(place: string): Promise<void>;
  /** Holds the place until `ended` resolves, after all who held it before. */
  hold(place: string, ended: Promise<void>): Promise<void>;
};

export function createHandovers(): Handovers {
  const held = new Map<string, Promise<void>>();
  const before = (place: string): Promise<void> => held.get(place) ?? Promise.resolve();
  return {
    before,
    hold(place, ended) {
      const all = Promise.all([before(place), ended]).then(() => undefined);
      held.set(place, all);
      void all.finally(() => {
        if (held.get(place) === all) held.delete(place);
      });
      return all;
    },
  };
}
