import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import type { AddressGuard, OutboundHttp } from '@carillon/ports';

/** The guard of a deployment that lists loopback, and nothing else that is private, in a world of just these names. */
export const createLoopbackGuard = (names: Readonly<Record<string, string>> = {}): AddressGuard =>
  createAddressGuard({
    allowed: ['127.0.0.0/8'],
    resolveName: async (host) => (names[host] === undefined ? [] : [{ address: names[host] }]),
  });

/** HTTP as such a deployment has it. */
export const createLoopbackHttp = (names: Readonly<Record<string, string>> = {}): OutboundHttp =>
  createGuardedHttp({ guard: createLoopbackGuard(names) });
