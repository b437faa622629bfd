import type { DueTask } from '@carillon/ports';
import { freshName } from '@carillon/testing';

/** A task that is due at 1. */
export const taskOf = (): DueTask => ({
  id: freshName('task'),
  queue: { job: 'ask', workspace: 'shop', name: 'crm' },
  nextAt: 1,
  deadline: null,
  version: 1,
  leaseUntil: null,
  done: false,
  data: '{}',
});
