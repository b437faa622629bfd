import { randomFillSync } from 'node:crypto';

const pool = Buffer.allocUnsafe(4096);
let used = pool.length;

/** Unpredictable bytes, each handed out once. Many are drawn at once: a call into the generator costs 5 µs, the bytes nothing. */
export function drawBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const drawn = Uint8Array.prototype.slice.call(pool, used, used + count);
  // Bytes that were handed out may be a secret, so they are erased here.
  pool.fill(0, used, used + count);
  used += count;
  return drawn;
}
