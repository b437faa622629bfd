import { providerResult, type ProviderResult } from '@carillon/domain/deliveries';
import { providerWords } from '@carillon/domain/receipts';
import { isJsonObject, parseJson, type Duration, type Instant, type JsonObject } from '@carillon/kernel';
import {
  createHttp1Client,
  resultOfUnanswered,
  retryAfter,
  type Http1Options,
  type RequestEnd,
} from '@carillon/one-request';
import type { Twilio as TwilioClient } from 'twilio';
import { classify } from './outcome-table.ts';

export const TWILIO_URL = 'https://api.twilio.com';

export type TwilioCredentials = {
  readonly accountSid: string;
  /** An API key's `SK…`, or the account's own sid. */
  readonly user: string;
  /** The API key's secret, or the auth token. */
  readonly password: string;
};

export type SmsRequest = {
  /** E.164. */
  readonly to: string;
  readonly body: string;
  /** A number or a short code; or the sid of a Messaging Service. */
  readonly sender: { readonly from: string } | { readonly messagingService: string };
  /** Where Twilio reports what becomes of it; null: nowhere. */
  readonly statusCallback: string | null;
  /** Twilio gives up after this; null leaves it to Twilio. From 1 s to 10 h. */
  readonly validity: Duration | null;
};

/** A message that Twilio has, as its list shows it. */
export type ListedSms = {
  readonly sid: string;
  readonly from: string | null;
  readonly messagingService: string | null;
  readonly body: string;
  readonly status: string;
  readonly createdAt: Instant | null;
};

/** One page of the list. */
export const MAX_LISTED = 100;
const HOUR = 3_600_000;
const MAX_VALIDITY = 10 * HOUR;
const LIMITS = { connect: 10_000, answer: 30_000, bytes: 1024 * 1024 } as const;
/** Imported when first used: it takes most of a second and 30 MB. */
const loadTwilio = async () => (await import('twilio')).default;
const NOT_LOADED = 'The library for Twilio could not be loaded.';

/** How a request of the library ended without an answer that it could read. */
class RequestEnded extends Error {
  readonly end: RequestEnd;
  constructor(end: RequestEnd) {
    super('the request ended');
    this.end = end;
  }
}

export type TwilioApiOptions = Omit<Http1Options, 'limits'> & {
  /** Another address stands in for Twilio in tests, or is a proxy. */
  readonly url?: string;
  readonly limits?: Partial<Http1Options['limits']>;
  readonly now: () => Instant;
};

/**
 * Twilio's Messages resource over an HTTP client of ours: one call is one request. The library, which takes most of a
 * second to load, is loaded by the first call.
 */
export function createTwilioApi(credentials: TwilioCredentials, options: TwilioApiOptions) {
  const http = createHttp1Client({ ...options, limits: { ...LIMITS, ...options.limits } });
  const baseUrl = options.url ?? TWILIO_URL;
  const { origin } = new URL(baseUrl);
  let loading: ReturnType<typeof loadTwilio> | undefined;

  /** A failure to load it is not kept: the next call tries again. */
  async function library() {
    loading ??= loadTwilio();
    try {
      return await loading;
    } catch {
      loading = undefined;
      return null;
    }
  }

  /**
   * Returns a client for one call, or null if the library could not be loaded. `ends` records how the request really
   * ended, whatever the library makes of a failure.
   */
  async function clientFor(signal: AbortSignal, ends: RequestEnd[]): Promise<TwilioClient | null> {
    const loaded = await library();
    if (loaded === null) return null;
    const { Twilio, RequestClient } = loaded;
    class OneRequestHttp extends RequestClient {
      // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the library's own signature
      override async request<Data>(asked: Parameters<InstanceType<typeof RequestClient>['request']>[0]) {
        const end = await http.send(requestOf(asked, origin), signal);
        ends.push(end);
        if (end.kind !== 'answered') throw new RequestEnded(end);
        return { statusCode: end.status, body: end.body as Data, headers: end.headers, toString: () => end.body };
      }
    }
    const client = new Twilio(credentials.user, credentials.password, {
      accountSid: credentials.accountSid,
      httpClient: new OneRequestHttp(),
      autoRetry: false,
    });
    client.api.baseUrl = baseUrl;
    return client;
  }

  async function send(sms: SmsRequest, signal: AbortSignal): Promise<ProviderResult> {
    const ends: RequestEnd[] = [];
    const client = await clientFor(signal, ends);
    if (client === null) return providerResult('transient', '', NOT_LOADED, { alert: true });
    const created = await client.messages.create(parametersOf(sms)).catch(() => null);
    const [end] = ends;
    if (!end) return providerResult('refused_content', '', 'The message could not be written as a request to Twilio.');
    const result = resultOf(end, created?.sid ?? null, options.now());
    // A server in place of Twilio may repeat what it was sent.
    return { ...result, detail: result.detail.replaceAll(credentials.password, '<credential>') };
  }

  return {
    send,

    /**
     * The messages to a number that Twilio sent at `since` or later, newest first, at most `MAX_LISTED`. Null: it could not be found
     * out.
     */
    async list(to: string, since: Instant, signal: AbortSignal): Promise<readonly ListedSms[] | null> {
      const client = await clientFor(signal, []);
      if (client === null) return null;
      const asked = { to, dateSentAfter: new Date(since), limit: MAX_LISTED, pageSize: MAX_LISTED };
      const found = await client.messages.list(asked).catch(() => null);
      return (
        found?.map((each) => ({
          sid: each.sid,
          from: each.from,
          messagingService: each.messagingServiceSid,
          body: each.body,
          status: each.status,
          createdAt: each.dateCreated?.getTime() ?? null,
        })) ?? null
      );
    },

    /** Reads the account and sends to nobody. */
    async check(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }> {
      const ends: RequestEnd[] = [];
      const client = await clientFor(signal, ends);
      if (client === null) return { ok: false, detail: NOT_LOADED };
      const account = await client.api.v2010
        .accounts(credentials.accountSid)
        .fetch()
        .catch(() => null);
      if (account) return { ok: account.status === 'active', detail: `the account is ${account.status}` };
      const [end] = ends;
      if (end?.kind !== 'answered') return { ok: false, detail: end?.words ?? 'Twilio could not be asked.' };
      return { ok: false, detail: refusalWords(end.status, problemOf(end.body)) };
    },

    close: () => http.close(),
  };
}
export type TwilioApi = ReturnType<typeof createTwilioApi>;

type Asked = {
  readonly method: string;
  readonly uri: string;
  readonly username?: string;
  readonly password?: string;
  readonly headers?: object;
  readonly params?: object;
  readonly data?: unknown;
};

/** The library takes labels of a host away, and adds those of TWILIO_EDGE and TWILIO_REGION: `origin` is where to go. */
function requestOf({ method, uri, username = '', password = '', headers, params, data }: Asked, origin: string) {
  const { pathname, search } = new URL(uri);
  const url = new URL(`${origin}${pathname}${search}`);
  for (const [name, value] of Object.entries(params ?? {})) url.searchParams.append(name, String(value));
  const body = method.toUpperCase() === 'POST' ? formOf(data) : null;
  const own: Record<string, string> = {
    accept: 'application/json',
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  };
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (typeof value === 'string' && !Object.hasOwn(own, name.toLowerCase())) own[name.toLowerCase()] = value;
  }
  if (body !== null) {
    own['content-type'] = 'application/x-www-form-urlencoded';
    own['content-length'] = String(Buffer.byteLength(body));
  }
  return { method: body === null ? ('GET' as const) : ('POST' as const), url, headers: own, body };
}

function formOf(data: unknown): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(data ?? {})) {
    if (value !== undefined && value !== null) fields.append(name, String(value));
  }
  return fields.toString();
}

function parametersOf(sms: SmsRequest) {
  const { sender, statusCallback, validity } = sms;
  const seconds = validity === null ? null : Math.floor(Math.min(validity, MAX_VALIDITY) / 1000);
  return {
    to: sms.to,
    body: sms.body,
    ...('from' in sender ? { from: sender.from } : { messagingServiceSid: sender.messagingService }),
    ...(statusCallback === null ? {} : { statusCallback }),
    ...(seconds === null ? {} : { validityPeriod: Math.max(1, seconds) }),
  };
}

function resultOf(end: RequestEnd, sid: string | null, now: Instant): ProviderResult {
  if (end.kind !== 'answered') return resultOfUnanswered(end);
  const { status, headers, body } = end;
  if (status >= 200 && status < 300) {
    if (sid !== null && /^[A-Z]{2}[0-9a-f]{32}$/i.test(sid)) {
      return providerResult('accepted', String(status), `Twilio took it as ${sid}`, { providerId: sid });
    }
    return providerResult('ambiguous', String(status), 'Twilio answered without the id of a message.');
  }
  const problem = problemOf(body);
  const { verdict, suppress, alert } = classify(status, problem.code);
  const code = problem.code === null ? String(status) : String(problem.code);
  return providerResult(verdict, code, refusalWords(status, problem), {
    suppress,
    alert,
    retryAt: verdict === 'throttled' ? retryAfter(headers['retry-after'], now) : null,
  });
}

type Problem = { readonly code: number | null; readonly message: string };

function problemOf(body: string): Problem {
  let json: JsonObject | null = null;
  try {
    const parsed = parseJson(body);
    json = isJsonObject(parsed) ? parsed : null;
  } catch {
    // What is in front of Twilio may answer in HTML; its status is all that counts then.
    json = null;
  }
  const { code, message } = json ?? {};
  return {
    code: typeof code === 'number' ? code : null,
    message: typeof message === 'string' ? providerWords(message) : '',
  };
}

const refusalWords = (status: number, { message }: Problem): string =>
  message === '' ? `Twilio answered ${status}` : message;
