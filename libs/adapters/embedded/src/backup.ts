import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { syncFolder } from './data-folder.ts';

/** All pages in one step: one moment of the data, however much is written meanwhile. */
const ALL_PAGES = 0x7fff_ffff;

/**
 * Copies the data file as it is at one moment, with the key files in a table of the copy, because data without its keys
 * is of no use: one file to keep, for its owner alone. It takes its name only when it is whole and on the disk.
 */
export async function writeBackup(database: string, keyFolder: string, file: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.unfinished`;
  closeSync(openSync(unfinished, 'wx', 0o600));
  const source = new DatabaseSync(database, { readOnly: true });
  try {
    await backup(source, unfinished, { rate: ALL_PAGES });
    packKeys(unfinished, keyFolder);
    renameSync(unfinished, file);
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    source.close();
  }
}

function packKeys(file: string, keyFolder: string): void {
  const db = new DatabaseSync(file);
  try {
    // No files beside the copy: it travels alone.
    db.exec(
      'PRAGMA journal_mode = DELETE; BEGIN; CREATE TABLE backup_keys (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT',
    );
    const insert = db.prepare('INSERT INTO backup_keys VALUES (?, ?)');
    const names = existsSync(keyFolder) ? readdirSync(keyFolder).filter((name) => name.endsWith('.key')) : [];
    for (const name of names) insert.run(name, readFileSync(join(keyFolder, name)));
    db.exec('COMMIT');
  } finally {
    db.close();
  }
}
