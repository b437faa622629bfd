import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from '../failure.ts';

const fileIn = (dataDir: string): string => join(dataDir, 'moved');

/** Leaves word in a data folder that its deliveries go on elsewhere. */
export const markMoved = (dataDir: string, words: string): void =>
  writeFileSync(fileIn(dataDir), `${words}\n`, { mode: 0o600 });

/** A folder whose deliveries were exported must not go on by itself: what waits would go out here and there. */
export function refuseMoved(dataDir: string): void {
  const file = fileIn(dataDir);
  if (!existsSync(file)) return;
  throw new CommandError(
    `the deliveries of ${dataDir} were ${readFileSync(file, 'utf8').trim()}. Started here as well, they would tell people twice. To go on here, and never import that file, remove ${file}`,
  );
}
