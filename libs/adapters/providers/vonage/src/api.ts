import { providerResult, type ProviderResult } from '@carillon/domain/deliveries';
import type { Duration, Instant } from '@carillon/kernel';
import {
  createHttp1Client,
  resultOfUnanswered,
  retryAfter,
  type Answered,
  type Http1Options,
  type RequestEnd,
} from '@carillon/one-request';
import { randomUUID, sign, type KeyObject } from 'node:crypto';
import { readCallback, textAt } from '../../callbacks/fields.ts';
import { classify } from './outcome-table.ts';
import { readProblem } from './problem.ts';

export const VONAGE_URL = 'https://api.nexmo.com';

export type VonageCredentials = { readonly applicationId: string; readonly privateKey: KeyObject };

export type SmsRequest = {
  /** E.164. */
  readonly to: string;
  /** E.164, a short code or a name. */
  readonly from: string;
  readonly text: string;
  /** Address of the status callbacks of this message. Null: none of its own. */
  readonly statusUrl: string | null;
  /** Vonage stops trying after this time. */
  readonly validity: Duration;
};

/** Lifetime of the token of one request. */
const TOKEN_SECONDS = 300;
/** Bounds of `ttl`, in seconds: 20 s to 7 days. */
const TTL = { min: 20, max: 604_800 } as const;
const LIMITS = { connect: 10_000, answer: 30_000, bytes: 1024 * 1024 } as const;

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Vonage takes numbers without the plus sign. */
const withoutPlus = (number: string): string => number.replace(/^\+/, '');

export type VonageApiOptions = Omit<Http1Options, 'limits'> & {
  /** Base URL instead of that of Vonage, for tests and proxies. */
  readonly url?: string;
  readonly limits?: Partial<Http1Options['limits']>;
  readonly now: () => Instant;
};

/** The Messages API (https://developer.vonage.com/en/api/messages). One call is one request, never repeated. */
export function createVonageApi({ applicationId, privateKey }: VonageCredentials, options: VonageApiOptions) {
  const http = createHttp1Client({ ...options, limits: { ...LIMITS, ...options.limits } });
  const url = new URL(`${options.url ?? VONAGE_URL}/v1/messages`);

  /** Signs a token for one request: https://developer.vonage.com/en/getting-started/concepts/authentication. */
  function createToken(): string {
    const issuedAt = Math.floor(options.now() / 1000);
    const claims = { application_id: applicationId, iat: issuedAt, exp: issuedAt + TOKEN_SECONDS, jti: randomUUID() };
    const signed = `${base64url({ alg: 'RS256', typ: 'JWT' })}.${base64url(claims)}`;
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  /** Posts with a new token. The response has no token, since a server in place of Vonage may echo the request. */
  async function post(message: object, signal: AbortSignal): Promise<RequestEnd> {
    const token = createToken();
    const body = JSON.stringify(message);
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    const end = await http.send({ method: 'POST', url, headers, body }, signal);
    return end.kind === 'answered' ? { ...end, body: end.body.replaceAll(token, '<credential>') } : end;
  }

  return {
    async send(sms: SmsRequest, signal: AbortSignal): Promise<ProviderResult> {
      return resultOf(await post(messageOf(sms), signal), options.now());
    },

    /** Posts a message without a recipient. Vonage refuses it with 422 once the token is accepted, and sends nothing. */
    async check(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }> {
      const end = await post({ channel: 'sms', message_type: 'text' }, signal);
      if (end.kind !== 'answered') return { ok: false, detail: end.words };
      if (end.status === 422) return { ok: true, detail: 'Vonage accepts the application and its key' };
      return { ok: false, detail: detailOf(end) };
    },

    close: () => http.close(),
  };
}
export type VonageApi = ReturnType<typeof createVonageApi>;

const messageOf = ({ to, from, text, statusUrl, validity }: SmsRequest) => ({
  channel: 'sms',
  message_type: 'text',
  to: withoutPlus(to),
  from: withoutPlus(from),
  text,
  ttl: Math.min(TTL.max, Math.max(TTL.min, Math.floor(validity / 1000))),
  ...(statusUrl !== null && { webhook_url: statusUrl, webhook_version: 'v1' }),
});

const jsonOf = ({ body }: Pick<Answered, 'body'>) => {
  const read = readCallback(Buffer.from(body));
  return read.ok ? read.value : undefined;
};

const detailOf = (answer: Answered): string => readProblem(jsonOf(answer)).detail || `Vonage answered ${answer.status}`;

function resultOf(end: RequestEnd, now: Instant): ProviderResult {
  if (end.kind !== 'answered') return resultOfUnanswered(end);
  const { status, headers } = end;
  const json = jsonOf(end);
  if (status >= 200 && status < 300) {
    const id = textAt(json, 'message_uuid');
    return /^[0-9a-f-]{36}$/i.test(id)
      ? providerResult('accepted', String(status), `Vonage took it as ${id}`, { providerId: id })
      : providerResult('ambiguous', String(status), 'Vonage answered without the id of a message.');
  }
  const { code } = readProblem(json);
  const { verdict, suppress, alert } = classify(status, code);
  return providerResult(verdict, code || String(status), detailOf(end), {
    suppress,
    alert,
    retryAt: verdict === 'throttled' ? retryAfter(headers['retry-after'], now) : null,
  });
}
