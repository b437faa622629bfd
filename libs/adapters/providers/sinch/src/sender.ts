import type { AccountOf } from '@carillon/domain/configuration';
import { callsAtOnce, providerResult, type ProviderResult } from '@carillon/domain/deliveries';
import {
  createHttp1Client,
  createProviderSender,
  resultOfUnanswered,
  retryAfter,
  unusableSender,
  type RequestEnd,
} from '@carillon/one-request';
import type { AddressGuard, Clock, SenderFactory } from '@carillon/ports';
import { readCallback, textAt } from '../../callbacks/fields.ts';
import { refusedByAccount } from '../../sms-limits.ts';

export type SinchSenderDeps = {
  readonly clock: Clock;
  /** Allows addresses for accounts of workspaces. Those of the deployment may be anywhere. */
  readonly guard: AddressGuard;
};

const SINCH_URL = 'https://eu.sms.api.sinch.com';
const LIMITS = { connect: 10_000, answer: 30_000, bytes: 1024 * 1024 } as const;
/** Characters of `body`: https://developers.sinch.com/docs/sms/api-reference/sms/batches/sendsms. */
const MAX_CHARACTERS = 2000;

const withoutPlus = (number: string): string => number.replace(/^\+/, '');

function resultOf(end: RequestEnd, at: number): ProviderResult {
  if (end.kind !== 'answered') return resultOfUnanswered(end);
  const read = readCallback(Buffer.from(end.body));
  const json = read.ok ? read.value : undefined;
  const { status, headers } = end;
  if (status === 201) {
    const id = textAt(json, 'id');
    return id === ''
      ? providerResult('ambiguous', '201', 'Sinch answered without the id of a batch.')
      : providerResult('accepted', '201', `Sinch took it as ${id}`, { providerId: id });
  }
  const code = textAt(json, 'code') || String(status);
  const words = textAt(json, 'text') || `Sinch answered ${status}`;
  if (status === 429) {
    return providerResult('throttled', code, words, { retryAt: retryAfter(headers['retry-after'], at) });
  }
  if (status === 401 || status === 403) return providerResult('refused_account', code, words, { alert: true });
  return providerResult(status >= 500 ? 'ambiguous' : 'refused_content', code, words);
}

function open(account: AccountOf<'sinch'>, token: string, { clock, guard }: SinchSenderDeps, workspace: string) {
  const base = `${account.url?.replace(/\/+$/, '') ?? SINCH_URL}/xms/v1/${account.service_plan_id}`;
  const http = createHttp1Client({
    connections: callsAtOnce(account),
    guard: workspace === '' ? null : guard,
    trusted: [],
    limits: LIMITS,
  });
  const call = async (method: 'GET' | 'POST', path: string, message: object | null, signal: AbortSignal) => {
    const body = message === null ? '' : JSON.stringify(message);
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    const end = await http.send({ method, url: new URL(`${base}${path}`), headers, body }, signal);
    return end.kind === 'answered' ? { ...end, body: end.body.replaceAll(token, '<credential>') } : end;
  };
  return createProviderSender({
    channel: 'sms',
    carries: 'A Sinch account carries SMS only.',
    async attempt({ to, text }, { signal }) {
      const refused = refusedByAccount(account, to, text);
      if (refused) return refused;
      if (text.length > MAX_CHARACTERS) {
        const words = `The text has ${text.length} characters; Sinch takes at most ${MAX_CHARACTERS}.`;
        return providerResult('refused_content', '', words);
      }
      const message = { from: withoutPlus(account.from), to: [withoutPlus(to)], body: text };
      return resultOf(await call('POST', '/batches', message, signal), clock.now());
    },
    async check() {
      const end = await call('GET', '/batches?page_size=1', null, new AbortController().signal);
      const ok = end.kind === 'answered' && end.status === 200;
      const detail = end.kind === 'answered' ? `Sinch answered ${end.status}` : end.words;
      return [{ step: 'sign in', ok, detail: ok ? 'Sinch accepts the token' : detail }];
    },
    close: () => http.close(),
  });
}

/** Makes senders for Sinch accounts. `secrets` holds the token under the name that the account refers to. */
export const createSinchSenderFactory = (deps: SinchSenderDeps): SenderFactory => ({
  kind: 'sinch',
  create(account, secrets, workspace) {
    if (account.kind !== 'sinch') throw new TypeError(`a Sinch sender got an account of kind ${account.kind}`);
    const token = secrets[account.api_token.secret] ?? '';
    if (token === '') return unusableSender('secret', `The secret ${account.api_token.secret} has no value.`);
    return open(account, token, deps, workspace);
  },
});
