import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import type { OutboundHttp } from '@carillon/ports';

/** HTTP as a deployment has it that lists loopback, and nothing else that is private. */
export const createLoopbackHttp = (): OutboundHttp =>
  createGuardedHttp({ guard: createAddressGuard({ allowed: ['127.0.0.0/8'] }) });
