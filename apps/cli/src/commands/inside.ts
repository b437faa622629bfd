import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { UsageError } from '../failure.ts';
import { clean } from '../output.ts';

/**
 * Refuses a path of a folder that leads out of it by a link, and a link that leads nowhere. What is not there yet is judged
 * by the folder that it will be in. Throws UsageError with the path.
 */
export function refuseOutside(folder: string, path: string): void {
  const home = realpathSync(folder);
  let place = join(folder, path);
  while (lstatSync(place, { throwIfNoEntry: false }) === undefined) place = dirname(place);
  const target = existsSync(place) ? realpathSync(place) : '';
  if (target === home || target.startsWith(`${home}${home.endsWith(sep) ? '' : sep}`)) return;
  throw new UsageError(
    `${clean(path)} is a symbolic link to a file outside ${folder}: put a copy of that file in its place`,
  );
}
