import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

/** A process that listens on a port. The command is its program and script only: arguments may hold secrets. */
export type PortHolder = { readonly pid: number; readonly command: string };

const LISTENING = '0A';

/**
 * Finds the process that listens on a TCP port of this machine. Null if the system does not tell (other systems, other
 * users).
 */
export async function findPortHolder(port: number): Promise<PortHolder | null> {
  const wanted = new Set((await Promise.all(['tcp', 'tcp6'].map((table) => inodesOf(table, port)))).flat());
  if (wanted.size === 0) return null;
  for (const entry of await listing('/proc')) {
    if (/^\d+$/.test(entry) && (await holdsSocket(entry, wanted))) {
      return { pid: Number(entry), command: await commandOf(entry) };
    }
  }
  return null;
}

async function inodesOf(table: string, port: number): Promise<string[]> {
  const text = await readFile(`/proc/net/${table}`, 'utf8').catch(() => '');
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTENING)
    .map((fields) => `socket:[${fields[9]}]`);
}

async function holdsSocket(pid: string, wanted: ReadonlySet<string>): Promise<boolean> {
  for (const descriptor of await listing(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
    if (wanted.has(target)) return true;
  }
  return false;
}

async function commandOf(pid: string): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const [program = '', script = ''] = line.split('\0');
  return [basename(program), /^[\w./@-]+\.[cm]?[jt]s$|^[\w./@-]*carillon$/.test(script) ? script : '']
    .filter((part) => part !== '')
    .join(' ');
}

const listing = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
