import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The ports of this machine at which a process has connections, or listens; none where it has ended. */
export function portsOf(pid: number): ReadonlySet<number> {
  try {
    const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => inodeAt(`/proc/${pid}/fd/${fd}`)));
    const lines = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'));
    return new Set(
      lines.flatMap((line) => {
        // Its number, local address and port, and seven columns on the inode of the socket.
        const [, local = '', , , , , , , , inode = ''] = line.trim().split(/\s+/);
        return sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
      }),
    );
  } catch {
    return new Set();
  }
}

function inodeAt(path: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1];
  } catch {
    // Closed since it was listed.
    return undefined;
  }
}
