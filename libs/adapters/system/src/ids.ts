import { ID_PREFIXES } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import { base32 } from './base32.ts';
import { drawBytes } from './random-bytes.ts';
import { createKeyedHash, sha256 } from './sha256.ts';

const ILL_FORMED = 0x8000_0000;
const LENGTH_BYTES = 4;
/** The most bytes that UTF-8 takes for one unit of UTF-16; UTF-16 itself takes two. */
const MAX_BYTES_A_UNIT = 3;

/** Buffer in which the hash input is assembled if it fits: one call of the hash instead of two per part. */
const scratch = Buffer.allocUnsafe(4096);
const NO_HEAD = new Uint8Array();

/**
 * Joins parts with their lengths, so that (`a`,`bc`) and (`ab`,`c`) differ. Text with lone surrogates is written as
 * UTF-16 with a separate mark, because UTF-8 would make all of them the same character, and two slots equal. `head`
 * comes first. Valid until the next call.
 */
function framed(parts: readonly string[], head: Uint8Array = NO_HEAD): Uint8Array {
  const most = parts.reduce((sum, part) => sum + LENGTH_BYTES + part.length * MAX_BYTES_A_UNIT, head.length);
  const frame = most <= scratch.length ? scratch : Buffer.allocUnsafe(most);
  frame.set(head);
  let end = head.length;
  for (const part of parts) {
    const wellFormed = part.isWellFormed();
    const bytes = frame.write(part, end + LENGTH_BYTES, wellFormed ? 'utf8' : 'utf16le');
    frame.writeUInt32BE(wellFormed ? bytes : ILL_FORMED + bytes, end);
    end += LENGTH_BYTES + bytes;
  }
  return frame.subarray(0, end);
}

/** Ids of this deployment. `ledgerKey` never rotates: slots and record keys are told apart by it for ever. */
export function createIds(ledgerKey: Uint8Array): Ids {
  const keyed = createKeyedHash(ledgerKey);
  return {
    derive: (kind, ...parts) => ID_PREFIXES[kind] + base32(sha256(framed([kind, ...parts]))),
    random: (kind) => ID_PREFIXES[kind] + base32(drawBytes(16)),
    inOrder(kind, at) {
      const bytes = drawBytes(16);
      for (let place = 5, rest = at; place >= 0; place -= 1, rest = Math.floor(rest / 256)) bytes[place] = rest % 256;
      return ID_PREFIXES[kind] + base32(bytes);
    },
    keyed: (...parts) => base32(keyed.of(framed(parts, keyed.head))),
    token: () => base32(drawBytes(16)),
    chance: () => Math.random(),
  };
}
