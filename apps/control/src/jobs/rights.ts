import type { Job, JobAction } from '@carillon/domain';
import { rightsOf } from '../access/people/rights.ts';
import type { Permission } from '../access/permission.ts';
import type { ControlPorts } from '../ports.ts';

/** Who may begin it may end it. */
export const PERMISSION_OF: Readonly<Record<JobAction, Permission>> = {
  resend_deliveries: 'operate',
  cancel_deliveries: 'operate',
  dismiss_deliveries: 'operate',
  redrive_dead_letters: 'operate',
  dismiss_receipts: 'operate',
  promote: 'configure',
  write_backup: 'people',
};

/** Whether whoever began a job may do today what it does: not once they are removed or disabled, or have lost the role. */
export async function mayGoOn(
  { by, work, workspace }: Job,
  ports: Pick<ControlPorts, 'people' | 'clock' | 'ids'>,
): Promise<boolean> {
  const may = await rightsOf(by, ports);
  const permission = PERMISSION_OF[work.action];
  return may(permission, workspace) && (work.action !== 'promote' || may(permission, work.from));
}
