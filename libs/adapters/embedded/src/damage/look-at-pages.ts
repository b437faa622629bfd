import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '@carillon/kernel';
import { blamesFile } from '../writing/commit.ts';

/** Damages, none where the file is whole; or why it could not be looked at. */
export type PagesFound = { readonly damages: readonly string[] } | { readonly unseen: string };

/** Damaged pages listed in a report; the file may have more. */
const MAX_REPORTED_DAMAGES = 3;

/** Looks at every page of a data file once, which may be in use. Reading all of a large file takes its time. */
export function lookAtPages(file: string): PagesFound {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    const rows = db.prepare(`PRAGMA quick_check(${MAX_REPORTED_DAMAGES})`).all();
    const damages = rows.map((row) => String(row['quick_check'])).filter((damage) => damage !== 'ok');
    return { damages: damages.flatMap((damage) => damage.split('\n')).slice(0, MAX_REPORTED_DAMAGES) };
  } catch (error) {
    return blamesFile(error) ? { damages: [messageOf(error)] } : { unseen: messageOf(error) };
  } finally {
    db?.close();
  }
}
