import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import type { AddressGuard, OutboundHttp } from '@carillon/ports';

/** The guard of a deployment that lists loopback, and nothing else that is private. */
export const createLoopbackGuard = (): AddressGuard => createAddressGuard({ allowed: ['127.0.0.0/8'] });

/** HTTP as such a deployment has it. */
export const createLoopbackHttp = (): OutboundHttp => createGuardedHttp({ guard: createLoopbackGuard() });
