import { DEFAULTS } from '@carillon/shapes/values';
import type { AccountBody, TwilioAccount } from '../configuration/resources.ts';

/** Whether an account may send to an address: some are for the numbers of a few countries alone. */
export const reaches = (body: AccountBody, address: string | null): boolean =>
  body.kind !== 'twilio' ||
  body.allow === undefined ||
  body.allow.some((prefix) => address?.startsWith(prefix) === true);

/** The secrets that sending over an account takes. Others that its body names prove what is reported of it. */
export function sendingSecrets(body: AccountBody): readonly string[] {
  switch (body.kind) {
    case 'smtp':
      return [body.password, body.dkim?.key].flatMap((one) => (one ? [one.secret] : []));
    case 'twilio':
      return [body.api_key?.secret.secret ?? body.auth_token.secret];
    case 'fcm':
      return [body.credentials.secret];
    case 'sandbox':
      return [];
  }
}

/** How many calls an account takes at once, in each process. */
export function callsAtOnce(body: AccountBody): number {
  switch (body.kind) {
    case 'smtp':
      return body.connections ?? DEFAULTS.smtp.connections;
    case 'twilio':
      return body.connections ?? DEFAULTS.twilio.connections;
    case 'fcm':
      return body.requests ?? DEFAULTS.fcm.requests;
    case 'sandbox':
      return SANDBOX_CALLS;
  }
}
const SANDBOX_CALLS = 16;

/** Segments that a text may have, whoever sends it: more of them cost more than anybody means to spend on one message. */
export const MAX_SEGMENTS = 10;

/** Segments that a text may have to go over the account. */
export const maxSegments = ({
  kind,
  max_segments: most,
}: {
  readonly kind?: string;
  readonly max_segments?: number;
}): number => Math.min(most ?? (kind === TWILIO ? DEFAULTS.twilio.max_segments : MAX_SEGMENTS), MAX_SEGMENTS);
const TWILIO: TwilioAccount['kind'] = 'twilio';

/** Messages a second over all processes; null: as many as there are. */
export const rateOf = (body: AccountBody): number | null => ('rate' in body && body.rate ? body.rate.per_second : null);
