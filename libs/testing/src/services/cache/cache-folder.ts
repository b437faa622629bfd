import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

type Surroundings = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly isRoot?: boolean;
  readonly home?: string;
};

/**
 * Where downloads are kept, outside of git. Root's is not in root's home: PostgreSQL refuses to run as root, and whom
 * it runs as instead cannot look into that home.
 */
export function cacheFolder(surroundings: Surroundings = {}): string {
  const { env = process.env, isRoot = process.getuid?.() === 0, home = homedir() } = surroundings;
  const told = env['CARILLON_CACHE'];
  if (told !== undefined && told !== '') return isAbsolute(told) ? told : resolve(told);
  return isRoot ? '/var/cache/carillon' : join(home, '.cache/carillon');
}
