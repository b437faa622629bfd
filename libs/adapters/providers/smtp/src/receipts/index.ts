export { isRecent, OLDEST_SIGNATURE, type Callback, type Reading } from '../../../callbacks/callback.ts';
export { mailgunNonce, readMailgun } from './mailgun.ts';
export { isFromPostmark, readPostmark } from './postmark.ts';
export { isFromSendGrid, readSendGrid } from './sendgrid.ts';
export { readSes } from './ses.ts';
export { createMailReceiptReader } from './readers.ts';
export { isSnsCertificateUrl, isSnsUrl, readSns, verifySns, type SnsKind, type SnsMessage } from './sns.ts';
