import type { Line } from '@carillon/domain/runs';

/** A SHA-256 under way. `createHash('sha256')` of Node is one. */
export type StreamingHash = {
  update(text: string): unknown;
  digest(encoding: 'hex'): string;
};

/**
 * Fields of a line that the checksum covers, in the order by which its lines are sorted. Positions and times are left out, because
 * the same events have others on another backend.
 */
export const CHECKSUM_FIELDS = [
  'eventId',
  'ruleId',
  'slot',
  'side',
  'channel',
  'content',
  'person',
  'otherSlot',
] as const satisfies readonly (keyof Line)[];

/** Compares two lines for sorting before `checksumOf`. All fields are ASCII, so a database sorts them alike by bytes. */
export function compareForChecksum(a: Line, b: Line): number {
  for (const field of CHECKSUM_FIELDS) {
    const [left, right] = [a[field] ?? '', b[field] ?? ''];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** Lines that are hashed in one call. */
const BATCH_SIZE = 500;

/** Returns the checksum of a comparison as 64 hexadecimal digits. `lines` are sorted by `compareForChecksum`. */
export function checksumOf(lines: Iterable<Line>, hash: StreamingHash): string {
  let texts: string[] = [];
  const flush = (): void => {
    hash.update(texts.join(''));
    texts = [];
  };
  for (const line of lines) {
    texts.push(`${JSON.stringify(CHECKSUM_FIELDS.map((field) => line[field]))}\n`);
    if (texts.length >= BATCH_SIZE) flush();
  }
  flush();
  return hash.digest('hex');
}
