import type { Outcome } from '../src/outcome-table.ts';

/** Status, status of the body, details, what the answer means for the message, and which list the token goes on. */
type Row = readonly [
  status: number,
  word: string,
  details: readonly object[],
  verdict: Outcome['verdict'],
  suppress: Outcome['suppress'],
];

const fcm = (errorCode: string) => ({ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode });
const blame = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'no' }],
});

/** Codes of docs/internals/provider-outcomes.md that respond to a request, and unknown codes. */
export const ANSWERS: readonly Row[] = [
  [404, 'NOT_FOUND', [fcm('UNREGISTERED')], 'refused_recipient', 'dead_token'],
  // The project does not exist: a purge here would forget every device.
  [404, 'NOT_FOUND', [], 'refused_account', null],
  [404, 'UNREGISTERED', [], 'refused_account', null],
  [400, 'INVALID_ARGUMENT', [fcm('INVALID_ARGUMENT')], 'refused_content', null],
  [400, 'INVALID_ARGUMENT', [fcm('INVALID_ARGUMENT'), blame('message.token')], 'refused_recipient', 'dead_token'],
  [400, 'INVALID_ARGUMENT', [blame('message.fid')], 'refused_recipient', 'dead_token'],
  [400, 'INVALID_ARGUMENT', [blame('message.notification.image')], 'refused_content', null],
  [403, 'PERMISSION_DENIED', [fcm('SENDER_ID_MISMATCH')], 'refused_recipient', null],
  [403, 'PERMISSION_DENIED', [], 'refused_account', null],
  [401, 'UNAUTHENTICATED', [], 'refused_account', null],
  [401, 'UNAUTHENTICATED', [fcm('THIRD_PARTY_AUTH_ERROR')], 'refused_account', null],
  [429, 'RESOURCE_EXHAUSTED', [fcm('QUOTA_EXCEEDED')], 'throttled', null],
  [429, 'RESOURCE_EXHAUSTED', [], 'throttled', null],
  [503, 'UNAVAILABLE', [fcm('UNAVAILABLE')], 'ambiguous', null],
  [500, 'INTERNAL', [fcm('INTERNAL')], 'ambiguous', null],
  [418, 'TEAPOT', [], 'refused_content', null],
  [599, 'NEW', [], 'ambiguous', null],
];

/** The body of such an answer, as Google writes errors (https://google.aip.dev/193). */
export const bodyOf = (code: number, status: string, details: readonly object[]): object => ({
  error: { code, status, message: 'said FCM', details },
});
