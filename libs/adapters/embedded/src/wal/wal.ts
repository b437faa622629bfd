import type { DatabaseSync } from 'node:sqlite';
import type { Duration } from '@carillon/kernel';
import { FRAME_HEADER_BYTES } from '../damage/wal-frames.ts';

export const PAGE_BYTES = 4096;
const FRAME_BYTES = PAGE_BYTES + FRAME_HEADER_BYTES;

/** The write-ahead log, in bytes of the file beside the data file. */
export type WalState = {
  /** Up to the last commit of this round: the file itself is never shorter, and may be longer. */
  readonly bytes: number;
  /** The part of these bytes that the data file lacks. */
  readonly left: number;
};

export type Wal = {
  /** Takes two microseconds, and no lock. */
  state(): WalState;
  /** Copies frames that no reader of an old state needs. Blocks nobody, and does nothing while another copy runs. */
  copy(): WalState;
  /** Copies the rest; whether the next commit begins the log anew. Waits so long for those who read old states. */
  beginAnew(patience: Duration): boolean;
  /** Copies the rest and empties the file of the log; whether it could. Waits so long for those who read old states. */
  truncate(patience: Duration): boolean;
};

/** The log of the connection. SQLite calls the copying a checkpoint, and so are other things called here. */
export function walOf(db: DatabaseSync): Wal {
  const asked = db.prepare('PRAGMA wal_checkpoint(NOOP)');
  const copying = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const state = (): WalState => {
    const row = asked.get();
    const frames = Math.max(0, Number(row?.['log']));
    return { bytes: frames * FRAME_BYTES, left: (frames - Math.max(0, Number(row?.['checkpointed']))) * FRAME_BYTES };
  };
  const waiting = (patience: Duration, how: 'RESTART' | 'TRUNCATE'): boolean => {
    const before = Number(db.prepare('PRAGMA busy_timeout').get()?.['timeout']);
    db.exec(`PRAGMA busy_timeout = ${patience}`);
    try {
      return db.prepare(`PRAGMA wal_checkpoint(${how})`).get()?.['busy'] === 0;
    } finally {
      db.exec(`PRAGMA busy_timeout = ${before}`);
    }
  };
  return {
    state,
    copy() {
      copying.get();
      return state();
    },
    beginAnew: (patience) => waiting(patience, 'RESTART'),
    truncate: (patience) => waiting(patience, 'TRUNCATE'),
  };
}
