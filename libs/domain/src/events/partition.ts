/**
 * The partition of a record key among `count`: the same in every process and for ever, because what shares a key has to
 * stay in order. FNV-1a over the characters, then mixed, so that few partitions share the keys evenly.
 */
export function partitionOf(key: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % count;
}
