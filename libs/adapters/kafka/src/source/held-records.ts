import { END, OLDEST, type ForeignCluster, type PlacedOffset } from './foreign-cluster.ts';

const sum = (offsets: readonly PlacedOffset[]): number => offsets.reduce((total, { offset }) => total + offset, 0);

/** Returns how many records topics hold. Transaction markers and records that compaction removed count too. */
export async function heldRecords(cluster: ForeignCluster, topics: readonly string[]): Promise<number> {
  const metadata = await cluster.metadata(topics);
  const found = metadata.topics.filter(({ errorCode }) => errorCode === 0);
  const [ends, oldest] = await Promise.all([cluster.offsets(found, END), cluster.offsets(found, OLDEST)]);
  return Math.max(0, sum(ends) - sum(oldest));
}
