import type { BounceMail } from '@carillon/ports';

export { MAX_BOUNCE_BYTES } from './limits.ts';

/** Mail that comes back, by SMTP or LMTP. The libraries for mail are loaded by the first listener: most deployments have none. */
export const createBounceMail = (): BounceMail => ({
  listen: async (options) => (await import('./listener.ts')).startBounceListener(options),
});
