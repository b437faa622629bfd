import { appendFile, chown, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runCommand } from '../process/run-command.ts';
import { ServiceProcess } from '../process/service-process.ts';
import { postgresProgram, type PostgresRelease } from './postgres-release.ts';

/** PostgreSQL refuses to run as root. This is `nobody`. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Root's home is closed to others, and a cache in it would fail in a way that nobody understands. */
async function assertOpenToOthers(folder: string): Promise<void> {
  for (let path = folder; path !== '/'; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) {
      throw new Error(
        `PostgreSQL does not run as root, and others cannot enter ${path}. Set CARILLON_CACHE to a folder elsewhere.`,
      );
    }
  }
}

export type PostgresWish = {
  readonly release: PostgresRelease;
  /** Folder of the release in the cache. */
  readonly programs: string;
  readonly dataDir: string;
  readonly port: number;
  /** Lines of `postgresql.conf` beside those that say where it listens. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** Arguments of `initdb` for the locale. */
  readonly locale: readonly string[];
  /** Content of `pg_hba.conf`. Left out: anybody of this machine may connect as anybody. */
  readonly hba?: string;
  /** Files of its data folder, by name. Only the server may read them. */
  readonly files?: Readonly<Record<string, string>>;
  readonly isReady: () => Promise<boolean>;
};

/** Makes the data of a PostgreSQL on the loopback interface, and the process that serves it. The process is not started. */
export async function preparePostgres(wish: PostgresWish): Promise<ServiceProcess> {
  const { release, programs, dataDir, port, settings } = wish;
  const isRoot = process.getuid?.() === 0;
  const home = join(dataDir, 'postgres');
  const data = join(home, 'data');
  const log = join(dataDir, 'postgres.log');
  await mkdir(home);
  if (isRoot) {
    await assertOpenToOthers(programs);
    await assertOpenToOthers(dataDir);
    await chown(home, NOBODY.uid, NOBODY.gid);
  }
  const common = { log, cwd: home, env: { HOME: home, LC_ALL: 'C' }, ...(isRoot && { user: NOBODY }) };
  await runCommand({
    ...common,
    command: postgresProgram(programs, release, 'initdb'),
    args: ['-D', data, '--auth=trust', '-U', 'postgres', ...wish.locale, '--encoding=UTF8', '--no-sync'],
  });
  const lines = Object.entries({
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    ...settings,
  }).map(([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`);
  await appendFile(join(data, 'postgresql.conf'), lines.join(''));
  if (wish.hba !== undefined) await writeFile(join(data, 'pg_hba.conf'), wish.hba);
  for (const [name, content] of Object.entries(wish.files ?? {})) {
    await writeFile(join(data, name), content, { mode: 0o600 });
    if (isRoot) await chown(join(data, name), NOBODY.uid, NOBODY.gid);
  }
  return new ServiceProcess({
    name: 'PostgreSQL',
    launch: { ...common, command: postgresProgram(programs, release, 'postgres'), args: ['-D', data] },
    isReady: wish.isReady,
    // "Fast": it does not wait for clients to leave.
    stopSignal: 'SIGINT',
    // After a kill its children take a moment to notice, and until then it refuses to start.
    attempts: 50,
  });
}
