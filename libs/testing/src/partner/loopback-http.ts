import { createAddressGuard, createGuardedHttp } from '@carillon/adapter-guarded-http';
import type { AddressGuard, OutboundHttp } from '@carillon/ports';

/** Address of each name; a function for an address that changes. */
export type LoopbackNames = Readonly<Record<string, string | (() => string)>>;

/** The guard of a deployment that lists loopback, and nothing else that is private, in a world of just these names. */
export const createLoopbackGuard = (names: LoopbackNames = {}): AddressGuard =>
  createAddressGuard({
    allowed: ['127.0.0.0/8'],
    resolveName: async (host) => {
      const named = names[host];
      return named === undefined ? [] : [{ address: typeof named === 'string' ? named : named() }];
    },
  });

/** HTTP as such a deployment has it. */
export const createLoopbackHttp = (names: LoopbackNames = {}): OutboundHttp =>
  createGuardedHttp({ guard: createLoopbackGuard(names) });
