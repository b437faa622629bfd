import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropDamaged, lookAtWal } from '../src/damage/look-at-wal.ts';
import { INDEX_BYTES } from '../src/damage/wal-frames.ts';
import { temporaryFolder } from './open-embedded.ts';

const HEADER = 32;
const FRAME = 24 + 4096;
const BESIDE = ['', '-wal', '-shm'] as const;

const folder = temporaryFolder();
afterAll(() => folder.remove());
let copies = 0;

/** The files as a process leaves them that is killed now. */
function leave(database: string): string {
  copies += 1;
  const copy = join(folder.path, `copy-${copies}.db`);
  for (const end of BESIDE) if (existsSync(database + end)) copyFileSync(database + end, copy + end);
  return copy;
}
const remove = (database: string): void => BESIDE.forEach((end) => rmSync(database + end, { force: true }));

/** What SQLite finds, which makes its own of the log. */
function found(database: string): number {
  const db = new DatabaseSync(database);
  try {
    return Number(db.prepare('SELECT count(*) AS n FROM t').get()?.['n']);
  } finally {
    db.close();
  }
}

function flip(file: string, at: number, bits = 0x10): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ bits;
  writeFileSync(file, bytes);
}

const INSERT = 'INSERT INTO t VALUES (?, randomblob(?))';

describe('the check of a write-ahead log that SQLite wrote', () => {
  const COMMITS = 12;
  let killed = '';
  let rows = 0;
  beforeAll(() => {
    const database = join(folder.path, 'made.db');
    const db = new DatabaseSync(database);
    db.exec(
      'PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER, v BLOB)',
    );
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    // Some take one page, some several.
    for (let at = 0; at < COMMITS; at += 1) db.prepare(INSERT).run(at, at % 3 === 0 ? 9000 : 100);
    rows = COMMITS;
    killed = leave(database);
    db.close();
  });

  /** Damages a copy, and answers what we say and what SQLite is left with. */
  function afterDamage(damage: (database: string) => void, index: boolean) {
    const copy = leave(killed);
    if (!index) rmSync(`${copy}-shm`);
    damage(copy);
    const verdict = lookAtWal(copy);
    const left = found(copy);
    remove(copy);
    return { verdict, left };
  }

  it('finds it intact if it is unchanged, with and without its index', () => {
    for (const index of [true, false]) {
      const { verdict, left } = afterDamage(() => undefined, index);
      expect(verdict.kind).toBe('whole');
      expect(left).toBe(rows);
    }
  });

  const walSize = (): number => statSync(`${killed}-wal`).size;
  /** Beginning, middle and end of each part of header and frames: page number, size, salts, checksums, content. */
  const places = (): number[] => {
    const inFrame = [0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23, 24, 100, 2048, 4095, FRAME - 1];
    const frames = (walSize() - HEADER) / FRAME;
    return [
      ...Array.from({ length: HEADER }, (_, at) => at),
      ...Array.from({ length: frames }, (_, frame) => inFrame.map((at) => HEADER + frame * FRAME + at)).flat(),
    ];
  };

  it('finds one flipped bit damaging exactly if SQLite would lose a commit, when the index is there', () => {
    for (const at of places()) {
      const { verdict, left } = afterDamage((copy) => flip(`${copy}-wal`, at), true);
      expect({ at, kind: verdict.kind }).toEqual({ at, kind: left < rows ? 'damaged' : 'whole' });
    }
  });

  it('finds damage without the index if SQLite would lose more than the last commit', () => {
    let [lost, last] = [0, 0];
    for (const at of places()) {
      const { verdict, left } = afterDamage((copy) => flip(`${copy}-wal`, at), false);
      if (left < rows - 1) {
        lost += 1;
        expect({ at, kind: verdict.kind }).toEqual({ at, kind: 'damaged' });
      } else if (left === rows) expect({ at, kind: verdict.kind }).toEqual({ at, kind: 'whole' });
      else if (verdict.kind === 'whole') last += 1;
    }
    expect(lost).toBeGreaterThan(100);
    // The end of the last commit looks as a torn one does.
    expect(last).toBeLessThan(20);
  });

  it('finds a truncated end damaged if the index contradicts it, and only unfinished without the index', () => {
    for (let size = 0; size <= walSize(); size += 517) {
      const cut = (copy: string): void => truncateSync(`${copy}-wal`, size);
      const { verdict, left } = afterDamage(cut, true);
      // SQLite cannot even read a table of a log that is gone: then nothing of it is left.
      expect({ size, kind: verdict.kind }).toEqual({ size, kind: left < rows ? 'damaged' : 'whole' });
      expect(afterDamage(cut, false).verdict.kind).toBe('whole');
    }
  });

  it('finds damage if the log was removed while its index is there', () => {
    expect(afterDamage((copy) => rmSync(`${copy}-wal`), true).verdict).toMatchObject({ kind: 'damaged', committed: 0 });
  });

  it('reports zeroed pages in the middle, with the number of writes after them', () => {
    const zeros = (copy: string): void => {
      const bytes = readFileSync(`${copy}-wal`);
      bytes.fill(0, HEADER + 2 * FRAME, HEADER + 4 * FRAME);
      writeFileSync(`${copy}-wal`, bytes);
    };
    for (const index of [true, false]) {
      const { verdict, left } = afterDamage(zeros, index);
      expect(verdict).toMatchObject({ kind: 'damaged', at: HEADER + 2 * FRAME });
      if (verdict.kind === 'damaged') expect(verdict.commitsBehind).toBeGreaterThan(rows - left - 3);
    }
  });

  it('finds it intact after it is cut at the damage; SQLite continues from there, and the damaged log is kept', () => {
    const copy = leave(killed);
    flip(`${copy}-wal`, HEADER + 5 * FRAME + 77);
    const other = leave(copy);
    const verdict = lookAtWal(copy);
    if (verdict.kind !== 'damaged') throw new Error('it is damaged');
    const before = readFileSync(`${copy}-wal`);
    const file = readFileSync(copy);
    const kept = dropDamaged(copy, verdict, 'then');
    expect(readFileSync(kept.log ?? '').equals(before)).toBe(true);
    expect(readFileSync(kept.file).equals(file)).toBe(true);
    expect(lookAtWal(copy)).toEqual({ kind: 'whole', committed: verdict.committed });
    expect(found(copy)).toBe(found(other));
  });
});

describe('a damaged write-ahead log whose pages are partly in the data file', () => {
  const SENT = 60;
  /** Sends one after the other; a reader from `reader` on keeps a checkpoint from copying what comes later. */
  function sent(name: string, reader: number | null): string {
    const database = join(folder.path, name);
    const db = new DatabaseSync(database);
    let other: DatabaseSync | null = null;
    db.exec(
      'PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (n INTEGER PRIMARY KEY, state TEXT, v BLOB)',
    );
    for (let n = 0; n < SENT; n += 1) db.prepare("INSERT INTO t VALUES (?, 'WAITING', randomblob(1500))").run(n);
    for (let n = 0; n < SENT; n += 1) {
      if (n === reader) {
        other = new DatabaseSync(database);
        other.exec('BEGIN');
        other.prepare('SELECT count(*) FROM t').get();
      }
      db.prepare("UPDATE t SET state = 'SENT' WHERE n = ?").run(n);
    }
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    const copy = leave(database);
    db.close();
    other?.close();
    return copy;
  }
  function sentIn(database: string): number {
    const db = new DatabaseSync(database);
    const row = db.prepare("SELECT count(*) AS n FROM t WHERE state = 'SENT'").get();
    const check = db.prepare('PRAGMA quick_check').get();
    db.close();
    expect(check).toEqual({ quick_check: 'ok' });
    return Number(row?.['n']);
  }
  const framesOf = (database: string): number => (statSync(`${database}-wal`).size - HEADER) / FRAME;

  it('is always detected if all pages are in the data file; it is set aside, nothing is lost, and both files are kept', () => {
    const killed = sent('all.db', null);
    let older = 0;
    for (let frame = 0; frame < framesOf(killed); frame += 7) {
      const copy = leave(killed);
      flip(`${copy}-wal`, HEADER + frame * FRAME + 2000);
      const left = leave(copy);
      if (sentIn(left) < SENT) older += 1;
      const [file, log] = [readFileSync(copy), readFileSync(`${copy}-wal`)];
      const verdict = lookAtWal(copy);
      expect(verdict).toMatchObject({ kind: 'damaged', remedy: 'put aside' });
      if (verdict.kind !== 'damaged') continue;
      const kept = dropDamaged(copy, verdict, 'then');
      expect(existsSync(`${copy}-wal`)).toBe(false);
      expect(sentIn(copy)).toBe(SENT);
      expect(readFileSync(kept.log ?? '').equals(log)).toBe(true);
      expect(readFileSync(kept.file).equals(file)).toBe(true);
      remove(left);
      remove(copy);
    }
    // SQLite by itself would have gone back in time.
    expect(older).toBeGreaterThan(5);
  });

  it('is refused without a change if the data file has some, but not all, pages from after the damage', () => {
    const copy = sent('some.db', 40);
    flip(`${copy}-wal`, HEADER + 70 * FRAME + 2000);
    const before = ['', '-wal', '-shm'].map((end) => readFileSync(copy + end));
    const verdict = lookAtWal(copy);
    expect(verdict).toMatchObject({ kind: 'damaged', remedy: 'restore' });
    if (verdict.kind !== 'damaged') return;
    expect(() => dropDamaged(copy, verdict, 'then')).toThrow(/a backup has to be restored/);
    expect(['', '-wal', '-shm'].map((end) => readFileSync(copy + end))).toEqual(before);
  });

  it('is cut after the last page that the data file has', () => {
    const copy = sent('behind.db', 10);
    flip(`${copy}-wal`, HEADER + (framesOf(copy) - 4) * FRAME + 2000);
    const verdict = lookAtWal(copy);
    expect(verdict).toMatchObject({ kind: 'damaged', remedy: 'cut' });
    if (verdict.kind !== 'damaged') return;
    dropDamaged(copy, verdict, 'then');
    expect(sentIn(copy)).toBe(SENT - 4);
  });
});

describe('the check of a write-ahead log after SQLite was killed at any moment', () => {
  type Step = 'insert' | 'insert much' | 'take back' | 'take back much' | 'checkpoint' | 'restart' | 'close';
  const step = fc.constantFrom<Step>(
    'insert',
    'insert',
    'insert much',
    'take back',
    'take back much',
    'checkpoint',
    'restart',
    'close',
  );

  it('finds the log intact, with and without its index', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 14 }), (steps) => {
        copies += 1;
        const database = join(folder.path, `run-${copies}.db`);
        const open = (): DatabaseSync => {
          const made = new DatabaseSync(database);
          // A small cache, so that a large transaction is written to the log before it is committed.
          made.exec(
            'PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA cache_size = 10; PRAGMA wal_autocheckpoint = 20; CREATE TABLE IF NOT EXISTS t (n INTEGER, v BLOB)',
          );
          return made;
        };
        let db = open();
        const insert = (count: number): void => {
          for (let at = 0; at < count; at += 1) db.prepare(INSERT).run(at, 3000);
        };
        for (const each of steps) {
          if (each === 'insert') insert(1);
          if (each === 'checkpoint') db.exec('PRAGMA wal_checkpoint(PASSIVE)');
          if (each === 'restart') db.exec('PRAGMA wal_checkpoint(RESTART)');
          if (each === 'close') {
            db.close();
            db = open();
          }
          if (each.endsWith('much') || each === 'take back') {
            db.exec('BEGIN');
            insert(each.endsWith('much') ? 40 : 3);
            const under = leave(database);
            expect(lookAtWal(under).kind).toBe('whole');
            remove(under);
            db.exec(each === 'insert much' ? 'COMMIT' : 'ROLLBACK');
          }
          const rows = Number(db.prepare('SELECT count(*) AS n FROM t').get()?.['n']);
          for (const index of [true, false]) {
            const copy = leave(database);
            if (!index) rmSync(`${copy}-shm`, { force: true });
            expect(lookAtWal(copy).kind).toBe('whole');
            expect(found(copy)).toBe(rows);
            remove(copy);
          }
        }
        db.close();
        remove(database);
      }),
      { numRuns: 25 },
    );
  }, 120_000);

  it('ignores an index that is half-written or of an earlier log', () => {
    const database = join(folder.path, 'rounds.db');
    const db = new DatabaseSync(database);
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER, v BLOB)');
    for (let at = 0; at < 5; at += 1) db.prepare(INSERT).run(at, 100);
    const old = leave(database);
    db.exec('PRAGMA wal_checkpoint(RESTART)');
    db.prepare(INSERT).run(9, 100);
    const now = leave(database);
    db.close();
    copyFileSync(`${old}-shm`, `${now}-shm`);
    expect(lookAtWal(now).kind).toBe('whole');
    truncateSync(`${now}-shm`, INDEX_BYTES - 1);
    expect(lookAtWal(now).kind).toBe('whole');
  });
});
