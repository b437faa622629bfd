import type { Change } from '../../harness/planting.ts';

const FOUNDATION = 'apps/cli/src/process/foundation.ts';
const PORTS = JSON.stringify(new URL('./fallible-ports.ts', import.meta.url).href);
const ORDERS = JSON.stringify(new URL('./failpoints.ts', import.meta.url).href);

/**
 * What is planted into the product so that it can be made to fail: its ports are wrapped where a process is put together.
 * No failpoint is in what a release carries.
 */
export const FAILPOINTS_IN_THE_PRODUCT: readonly Change[] = [
  {
    file: FOUNDATION,
    from: 'const backend = await openOwnBackend(settings, watches, closing, { clock, slice, holder: name, fatal });',
    to: `const fallible = await import(${PORTS});
  const failpoints = (await import(${ORDERS})).readFailpoints(env['FAILPOINTS']) ?? { hit: async () => undefined };
  const own = await openOwnBackend(settings, watches, closing, { clock, slice, holder: name, fatal });
  const backend = fallible.withFailpoints(own, failpoints);`,
  },
  {
    file: FOUNDATION,
    from: '    partners,\n',
    to: '    partners: fallible.withAskingFailpoints(partners, failpoints),\n',
  },
  {
    file: FOUNDATION,
    from: '    senders,\n',
    to: '    senders: fallible.withSendingFailpoints(senders, failpoints),\n',
  },
  {
    file: FOUNDATION,
    from: 'receipts: createReceiptReaders({ http: outboundHttp, clock, leases: backend.leases }),',
    to: 'receipts: fallible.withReceiptFailpoints(createReceiptReaders({ http: outboundHttp, clock, leases: backend.leases }), failpoints),',
  },
  {
    file: FOUNDATION,
    from: 'bounceMail: createBounceMail(),',
    to: 'bounceMail: fallible.withListenerFailpoints(createBounceMail(), failpoints),',
  },
];
