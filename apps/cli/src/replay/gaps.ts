import type { Instant } from '@carillon/kernel';

/** Records of a stream that a run cannot read. What it knew of the stream's entities counts no more. */
export type Gap = {
  /** Offset of the last of these records. */
  readonly offset: number;
  /** Time up to which they were appended. */
  readonly time: Instant;
};

/** A gap in a stream of a partition. Null: in all its streams. */
export type StreamGap = Gap & { readonly partition: number; readonly stream: string | null };

/** Returns the newest gap of a stream in a partition, or null. */
export function gapOf(gaps: readonly StreamGap[], partition: number, stream: string): StreamGap | null {
  let newest: StreamGap | null = null;
  for (const gap of gaps) {
    const isOfStream = gap.partition === partition && (gap.stream === null || gap.stream === stream);
    if (isOfStream && gap.offset >= (newest?.offset ?? gap.offset)) newest = gap;
  }
  return newest;
}

/** Adds gaps. Only the newest of a stream counts. */
export function withGaps(known: readonly StreamGap[], news: readonly StreamGap[]): readonly StreamGap[] {
  if (news.length === 0) return known;
  const newest = new Map([...known, ...news].map((gap) => [`${gap.partition} ${gap.stream}`, gap]));
  return [...newest.values()];
}
