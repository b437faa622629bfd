import type { LeaseStore } from '@carillon/ports';
import type { Transaction, Write } from '../writing/protocol.ts';

export const leaseWrites = ({ sql }: Transaction) => ({
  'leases.acquire'(name: string, holder: string, at: number, until: number): boolean {
    const changed = sql.run(
      `INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE holder = excluded.holder OR until <= ?`,
      name,
      holder,
      until,
      at,
    );
    return changed === 1;
  },
  'leases.release'(name: string, holder: string): void {
    sql.run('DELETE FROM leases WHERE name = ? AND holder = ?', name, holder);
  },
});

export const createLeaseStore = (write: Write<ReturnType<typeof leaseWrites>>): LeaseStore => ({
  acquire: (name, holder, now, until) => write('leases.acquire', { bytes: 256 }, name, holder, now, until),
  release: (name, holder) => write('leases.release', { bytes: 256 }, name, holder),
});
