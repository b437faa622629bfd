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

export type LeaseWrites = ReturnType<typeof leaseWrites>;

export const createLeaseStore = (write: Write<LeaseWrites>): LeaseStore => ({
  acquire: (name, holder, now, until) => write('leases.acquire', { bytes: 256 }, name, holder, now, until),
  release: (name, holder) => write('leases.release', { bytes: 256 }, name, holder),
});
