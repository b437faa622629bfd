const MULTIPLIER = 0x5bd1e995;
const utf8 = new TextEncoder();

/**
 * The partition of a record key among `count`: the same in every process and for ever, because what shares a key has to
 * stay in order. It is the choice of Kafka's own partitioner, so that its tools and other clients agree with us.
 */
export const partitionOf = (key: string, count: number): number => (murmur2(utf8.encode(key)) & 0x7fff_ffff) % count;

function murmur2(data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const tail = data.length - (data.length % 4);
  let hash = 0x9747b28c ^ data.length;
  for (let at = 0; at < tail; at += 4) {
    let word = Math.imul(view.getInt32(at, true), MULTIPLIER);
    word ^= word >>> 24;
    hash = Math.imul(hash, MULTIPLIER) ^ Math.imul(word, MULTIPLIER);
  }
  if (data.length > tail) {
    for (let at = data.length - 1; at >= tail; at -= 1) hash ^= view.getUint8(at) << (8 * (at - tail));
    hash = Math.imul(hash, MULTIPLIER);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MULTIPLIER);
  return hash ^ (hash >>> 15);
}
