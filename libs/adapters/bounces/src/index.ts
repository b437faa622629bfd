import type { Duration } from '@carillon/kernel';
import type { BounceMail } from '@carillon/ports';

export { MAX_BOUNCE_BYTES } from './limits.ts';

/** Mail that comes back, by SMTP or LMTP. The libraries for mail are loaded by the first listener: most deployments have none. */
export const createBounceMail = ({
  connectionLife,
}: {
  /** How long a connection lasts, however busy it is; 30 s. */
  readonly connectionLife?: Duration;
} = {}): BounceMail => ({
  listen: async (options) => (await import('./listener.ts')).startBounceListener(options, connectionLife),
});
