import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../failure.ts';

const fileIn = (dataDir: string): string => join(dataDir, 'moved');

/** Leaves word in a data folder that its deliveries go on elsewhere; the answer undoes that, and keeps an older word. */
export function markMoved(dataDir: string, words: string): () => void {
  const file = fileIn(dataDir);
  const before = existsSync(file) ? readFileSync(file) : null;
  writeFileSync(file, `${words}\n`, { mode: 0o600 });
  return () => (before ? writeFileSync(file, before, { mode: 0o600 }) : rmSync(file, { force: true }));
}

/** A folder whose deliveries were exported must not go on by itself: what waits would go out here and there. */
export function refuseMoved(dataDir: string): void {
  const file = fileIn(dataDir);
  if (!existsSync(file)) return;
  throw new CommandError(
    `the deliveries of ${dataDir} were ${readFileSync(file, 'utf8').trim()}. If Carillon also starts here, people are notified twice. To continue here and never import that file, remove ${file}`,
  );
}
