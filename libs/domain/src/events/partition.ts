const MULTIPLIER = 0x5bd1e995;
const utf8 = new TextEncoder();
const LONGEST_SHORT = 64;
/** In UTF-8 a unit of UTF-16 takes at most three bytes. */
const scratch = new Uint8Array(3 * LONGEST_SHORT);
const scratchView = new DataView(scratch.buffer);

/**
 * The partition of a record key among `count`: the same in every process and for ever, because what shares a key has to
 * stay in order. It is the choice of Kafka's own partitioner, so that its tools and other clients agree with us.
 */
export function partitionOf(key: string, count: number): number {
  // Keys of ours are short, and written into memory that is there already: making some takes three times as long.
  const data = key.length <= LONGEST_SHORT ? scratch : utf8.encode(key);
  const length = data === scratch ? utf8.encodeInto(key, scratch).written : data.length;
  return (murmur2(data, length) & 0x7fff_ffff) % count;
}

function murmur2(data: Uint8Array, length: number): number {
  const view = data === scratch ? scratchView : new DataView(data.buffer, data.byteOffset, length);
  const tail = length - (length % 4);
  let hash = 0x9747b28c ^ length;
  for (let at = 0; at < tail; at += 4) {
    let word = Math.imul(view.getInt32(at, true), MULTIPLIER);
    word ^= word >>> 24;
    hash = Math.imul(hash, MULTIPLIER) ^ Math.imul(word, MULTIPLIER);
  }
  if (length > tail) {
    for (let at = length - 1; at >= tail; at -= 1) hash ^= view.getUint8(at) << (8 * (at - tail));
    hash = Math.imul(hash, MULTIPLIER);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MULTIPLIER);
  return hash ^ (hash >>> 15);
}
