import type { ProviderVerdict } from '@carillon/domain/deliveries';
import { isJsonObject, parseJson, type Json, type JsonObject } from '@carillon/kernel';

/** What an answer of FCM means for the message, the device and the account. */
export type Outcome = {
  readonly verdict: Exclude<ProviderVerdict, 'accepted'>;
  /** The token is dead: the app is gone from that device, or the token never was one. */
  readonly suppress: 'dead_token' | null;
  readonly alert: boolean;
};

const refusedToken: Outcome = { verdict: 'refused_recipient', suppress: null, alert: false };
const deadToken: Outcome = { ...refusedToken, suppress: 'dead_token' };
const refusedContent: Outcome = { verdict: 'refused_content', suppress: null, alert: false };
const refusedAccount: Outcome = { verdict: 'refused_account', suppress: null, alert: true };
const throttled: Outcome = { verdict: 'throttled', suppress: null, alert: false };
const ambiguous: Outcome = { verdict: 'ambiguous', suppress: null, alert: false };

/**
 * FCM's own codes (docs/internals/provider-outcomes.md; https://firebase.google.com/docs/cloud-messaging/error-codes). UNAVAILABLE and
 * INTERNAL ask to be repeated, yet such messages were seen to arrive, so nobody can say.
 */
const CODES: ReadonlyMap<string, Outcome> = new Map([
  ['UNREGISTERED', deadToken],
  ['INVALID_ARGUMENT', refusedContent],
  ['SENDER_ID_MISMATCH', { ...refusedToken, alert: true }],
  ['THIRD_PARTY_AUTH_ERROR', refusedAccount],
  ['QUOTA_EXCEEDED', throttled],
  ['UNAVAILABLE', ambiguous],
  ['INTERNAL', ambiguous],
]);

export type FcmProblem = {
  /** The code of an FcmError in the details; null where FCM itself did not speak. */
  readonly errorCode: string | null;
  /** Google's status, such as NOT_FOUND. Null if the body is not from Google. */
  readonly status: string | null;
  readonly message: string;
  /** The message or the details say that the token is not a registration token. */
  readonly blamesToken: boolean;
};

const FCM_ERROR = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';
/**
 * FCM often says so in words alone: the details then hold INVALID_ARGUMENT, as for a fault of the content. Only the beginning
 * counts, because FCM may quote content further on.
 */
const NOT_A_TOKEN =
  /^(?:the )?registration token is not a valid (?:fcm )?registration token\b|^invalid registration token\b/i;
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';

/** Reads Google's error body (https://google.aip.dev/193). What is in front of FCM may answer in HTML. */
export function readProblem(body: string): FcmProblem {
  const error = fieldOf(jsonOf(body), 'error');
  const details = fieldOf(error, 'details');
  const all = (Array.isArray(details) ? details : []) as readonly Json[];
  const ofType = (type: string): Json | undefined => all.find((detail) => fieldOf(detail, '@type') === type);
  const code = fieldOf(ofType(FCM_ERROR), 'errorCode');
  const violations = fieldOf(ofType(BAD_REQUEST), 'fieldViolations');
  const fields = (Array.isArray(violations) ? (violations as readonly Json[]) : []).map((each) =>
    fieldOf(each, 'field'),
  );
  const message = textOr(fieldOf(error, 'message'), '');
  return {
    errorCode: textOr(code, null),
    status: textOr(fieldOf(error, 'status'), null),
    message,
    blamesToken:
      NOT_A_TOKEN.test(message) || fields.some((field) => field === 'message.token' || field === 'message.fid'),
  };
}

/**
 * Returns what a complete answer other than 2xx means. A token is dead only if FCM itself says that it is unregistered or not a
 * registration token. A bare 404 is the answer of a wrong project, for every device.
 */
export function classify(status: number, problem: FcmProblem): Outcome {
  if (problem.errorCode === 'INVALID_ARGUMENT' && problem.blamesToken) return deadToken;
  const known = problem.errorCode === null ? undefined : CODES.get(problem.errorCode);
  if (known && status >= 400) return known;
  if (status >= 500) return ambiguous;
  if (status === 429) return throttled;
  if (status === 400) return problem.blamesToken ? deadToken : refusedContent;
  return status === 401 || status === 403 || status === 404 || status < 400 ? refusedAccount : refusedContent;
}

function jsonOf(body: string): Json | undefined {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

const fieldOf = (json: Json | undefined, name: string): Json | undefined =>
  isJsonObject(json) && Object.hasOwn(json, name) ? (json satisfies JsonObject)[name] : undefined;

const textOr = <Otherwise>(value: Json | undefined, otherwise: Otherwise): string | Otherwise =>
  typeof value === 'string' ? value : otherwise;
