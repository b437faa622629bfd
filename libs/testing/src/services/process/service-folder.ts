import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether a process with this number lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The process that a folder belongs to stands in its name: `kafka-1234-x7Yq2b`. */
const ownerOf = (name: string): number => Number(/-(\d+)-[^-]+$/.exec(name)?.[1] ?? 0);

async function parentFolder(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `carillon-services-${uid}`);
  await mkdir(folder, { recursive: true });
  if ((await stat(folder)).uid !== uid) throw new Error(`${folder} belongs to somebody else`);
  // To be passed through by the user that PostgreSQL runs as.
  await chmod(folder, 0o711);
  return folder;
}

/** A new folder for the data and the logs of a service. Folders whose process is gone are removed on the way. */
export async function createServiceFolder(service: string): Promise<string> {
  const parent = await parentFolder();
  const abandoned = (await readdir(parent)).filter((name) => ownerOf(name) > 0 && !isAlive(ownerOf(name)));
  await Promise.all(abandoned.map((name) => rm(join(parent, name), { recursive: true, force: true })));
  const folder = await mkdtemp(join(parent, `${service}-${process.pid}-`));
  await chmod(folder, 0o755);
  return folder;
}
