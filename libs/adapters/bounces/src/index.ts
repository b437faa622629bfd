export { MAX_BOUNCE_BYTES, startBounceListener, type BounceListener, type BounceListenerOptions } from './listener.ts';
export { readMailReport, type MailReading } from './read-report.ts';
