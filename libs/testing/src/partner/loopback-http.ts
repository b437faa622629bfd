import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import type { OutboundHttp } from '@carillon/ports';

/** HTTP as a deployment has it that lists loopback, and nothing else that is private, in a world of just these names. */
export const createLoopbackHttp = (names: Readonly<Record<string, string>> = {}): OutboundHttp =>
  createGuardedHttp({
    guard: createAddressGuard({
      allowed: ['127.0.0.0/8'],
      resolveName: async (host) => (names[host] === undefined ? [] : [{ address: names[host] }]),
    }),
  });
