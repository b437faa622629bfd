import { MAX_PUSH_BYTES } from '@carillon/domain/channels';
import { providerResult, type ProviderResult } from '@carillon/domain/deliveries';
import { providerWords } from '@carillon/domain/receipts';
import type { Duration, Instant } from '@carillon/kernel';
import { createHttp2Session, resultOfUnanswered, retryAfter, type Answered } from '@carillon/one-request';
import type { AddressGuard } from '@carillon/ports';
import { messageBody, payloadBytes, type PushContent, type PushRequest } from './body.ts';
import { createAccessTokens, type ServiceAccount } from './credentials.ts';
import { classify, readProblem, type FcmProblem, type Outcome } from './outcome-table.ts';

export const FCM_URL = 'https://fcm.googleapis.com';

/** FCM's own clients wait for at least 15 s: shorter ones made duplicates. */
const TIMEOUTS = { connect: 10_000, answer: 30_000 } as const;
const MAX_ANSWER_BYTES = 256 * 1024;
/** Pause after QUOTA_EXCEEDED without Retry-After (docs/internals/provider-outcomes.md). */
const QUOTA_PAUSE: Duration = 60_000;

export type FcmApiOptions = {
  /** Another address stands in for FCM in tests, or is a proxy. */
  readonly url?: string;
  /** Says where FCM may be reached; null where the operator chose the address. */
  readonly guard: AddressGuard | null;
  readonly trusted: readonly string[];
  readonly now: () => Instant;
  readonly timeouts?: Partial<typeof TIMEOUTS>;
  /** Says where access tokens may be asked for. */
  readonly tokenGuard: AddressGuard;
};

/** FCM's HTTP v1 interface: one call is one POST over a shared HTTP/2 connection, never repeated. */
export function createFcmApi(account: ServiceAccount, options: FcmApiOptions) {
  const tokens = createAccessTokens(account, { guard: options.tokenGuard, trusted: options.trusted });
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const session = createHttp2Session({
    origin: new URL(options.url ?? FCM_URL),
    guard: options.guard,
    trusted: options.trusted,
    connectTimeout: timeouts.connect,
    answerTimeout: timeouts.answer,
    maxBytes: MAX_ANSWER_BYTES,
  });
  const mismatches = createShare();
  const path = `/v1/projects/${encodeURIComponent(account.project_id)}/messages:send`;

  async function post(body: object, signal: AbortSignal): Promise<ProviderResult | Answered> {
    const access = await tokens.get();
    if (access.kind === 'refused') return providerResult('refused_account', '', access.words, { alert: true });
    if (access.kind === 'unavailable') return providerResult('transient', '', access.words);
    const headers = { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' };
    const end = await session.post({ path, headers, body: JSON.stringify(body) }, signal);
    return end.kind === 'answered' ? end : resultOfUnanswered(end);
  }

  function outcomeOf(status: number, problem: FcmProblem): Outcome {
    // A token that FCM no longer takes is not asked with again.
    if (status === 401) tokens.forget();
    const outcome = classify(status, problem);
    const wrongSender = mismatches.add(problem.errorCode === 'SENDER_ID_MISMATCH');
    return wrongSender ? { verdict: 'refused_account', suppress: null, alert: true } : outcome;
  }

  return {
    async send(request: PushRequest, signal: AbortSignal): Promise<ProviderResult> {
      const bytes = payloadBytes(request.content);
      if (bytes > MAX_PUSH_BYTES) {
        const words = `The notification has ${bytes} bytes; FCM takes ${MAX_PUSH_BYTES}.`;
        return providerResult('refused_content', '', words);
      }
      const end = await post(messageBody(request), signal);
      if (!('status' in end)) return end;
      if (end.status >= 200 && end.status < 300) {
        mismatches.add(false);
        const name = /"name"\s*:\s*"(projects\/[\w.:%/-]{1,200})"/.exec(end.body)?.[1] ?? null;
        return name === null
          ? providerResult('ambiguous', String(end.status), 'FCM answered without the name of a message.')
          : providerResult('accepted', String(end.status), `FCM took it as ${name}`, { providerId: name });
      }
      const problem = readProblem(end.body);
      const { verdict, suppress, alert } = outcomeOf(end.status, problem);
      const words = providerWords(problem.message) || `FCM answered ${end.status}`;
      return providerResult(verdict, codeOf(end.status, problem), words, {
        suppress,
        alert,
        retryAt: verdict === 'throttled' ? pauseOf(end.headers['retry-after'], options.now()) : null,
      });
    },

    /** Proves credentials and project by a message that FCM only checks: nobody gets it. */
    async check(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }> {
      const request: PushRequest = { token: 'carillon-check', content: CHECK, timeToLive: 0, now: options.now() };
      const end = await post(messageBody(request, true), signal);
      if (!('status' in end)) return { ok: false, detail: end.detail };
      const problem = readProblem(end.body);
      // Missing permission is reported before the token is checked, and this token is invalid.
      if (end.status < 300 || problem.blamesToken || problem.errorCode === 'INVALID_ARGUMENT') {
        return { ok: true, detail: `FCM takes messages of project ${account.project_id}` };
      }
      return { ok: false, detail: providerWords(problem.message) || `FCM answered ${end.status}` };
    },

    async close(): Promise<void> {
      tokens.close();
      await session.close();
    },
  };
}
export type FcmApi = ReturnType<typeof createFcmApi>;

/** FCM's codes are capitals alone. Anything else is not shown, and cannot pass for a code of our own. */
const codeOf = (status: number, { errorCode, status: name }: FcmProblem): string =>
  [errorCode, name].find((code) => code !== null && /^[A-Z_]{1,64}$/.test(code)) ?? String(status);

const CHECK: PushContent = {
  title: 'Carillon',
  body: 'A check of the account',
  image: null,
  link: null,
  data: {},
  priority: null,
  collapse: null,
  androidChannel: null,
  apnsSound: null,
};

/** A minute where FCM does not say how long. */
const pauseOf = (text: string | undefined, now: Instant): Instant => retryAfter(text, now) ?? now + QUOTA_PAUSE;

const LOOKED_AT = 20;
const ENOUGH = 10;

/**
 * Whether most of the last answers were alike. A token of another sender is that device's affair; when most are, the
 * account belongs to another app than the devices, and it is the account that must rest.
 */
function createShare() {
  const last: boolean[] = [];
  return {
    add(alike: boolean): boolean {
      last.push(alike);
      if (last.length > LOOKED_AT) last.shift();
      return alike && last.length >= ENOUGH && last.filter(Boolean).length * 2 > last.length;
    },
  };
}
