import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { CarillonError } from '@carillon/kernel';
import { dataFiles, makeFolder, makePrivateFile, syncFolder } from './data-folder.ts';
import { APPLICATION_ID } from './schema/migrations.ts';

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

const refuse = (detail: string): CarillonError => new CarillonError('wrong_usage', detail);

/**
 * Unpacks a backup into a folder that is empty or not there. Either the whole folder appears, or none of it. What was
 * sent after the backup was made is not in it, so deliveries that were waiting then go out again.
 */
export async function restoreBackup(file: string, dataDir: string): Promise<void> {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw refuse(`${dataDir} is not empty; restore into an empty folder, then start with it`);
  }
  if (!existsSync(file)) throw refuse(`there is no file ${file}`);
  const unfinished = `${dataDir.replace(/[/\\]+$/, '')}.${randomBytes(6).toString('hex')}.unfinished`;
  makeFolder(unfinished);
  try {
    const files = dataFiles(unfinished);
    makePrivateFile(files.database);
    await copyFile(file, files.database);
    unpackKeys(files.database, files.keys, file);
    if (existsSync(dataDir)) rmdirSync(dataDir);
    renameSync(unfinished, dataDir);
    syncFolder(dirname(dataDir));
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

function unpackKeys(database: string, keyFolder: string, file: string): void {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(database);
    if (db.prepare('PRAGMA application_id').get()?.['application_id'] !== APPLICATION_ID)
      throw new Error('another application');
    if (db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] !== 'ok') throw new Error('damaged');
    const keys = db.prepare('SELECT name, content FROM backup_keys').all() as { name: string; content: Uint8Array }[];
    makeFolder(keyFolder);
    for (const { name, content } of keys) {
      if (!/^[a-z-]+\.key$/.test(name)) throw new Error('key name');
      writeFileSync(join(keyFolder, name), content, { mode: 0o600, flag: 'wx' });
    }
    db.exec('DROP TABLE backup_keys');
  } catch (error) {
    throw new CarillonError('wrong_usage', `${file} is not a whole backup of Carillon`, {}, { cause: error });
  } finally {
    db?.close();
  }
}
