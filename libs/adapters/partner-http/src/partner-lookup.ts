import type { LookupIntegration } from '@carillon/domain/configuration';
import { lookupTimeouts } from '@carillon/domain/lookups';
import type { Clock, OutboundFailure, OutboundHttp, PartnerAnswer, PartnerCall, PartnerLookup } from '@carillon/ports';
import { readAnswer } from './answer.ts';

export type PartnerLookupOptions = { readonly http: OutboundHttp; readonly clock: Clock };

const MAX_BYTES = 1024 * 1024;
const TOO_LATE = 'the process stood still for so long that another one may have asked';

/** Asks partners over HTTP: the request of specification 4.2, and what its answer comes to. */
export const createPartnerLookup = ({ http, clock }: PartnerLookupOptions): PartnerLookup => ({
  async ask(call) {
    const { connect, total } = lookupTimeouts(call.integration);
    if (clock.now() > (call.beginUntil ?? Number.POSITIVE_INFINITY)) return { kind: 'not_made', detail: TOO_LATE };
    const answered = await http.request({
      method: 'POST',
      url: call.integration.url,
      headers: headersOf(call),
      body: JSON.stringify({ user_ids: call.userIds }),
      maxBytes: MAX_BYTES,
      connectTimeout: connect,
      totalTimeout: total,
      ...(call.signal && { signal: call.signal }),
      ...(call.room && { room: call.room }),
    });
    return answered.ok ? readAnswer(answered.value, clock.now(), call.room) : answerOf(answered.error);
  },
});

function headersOf({ integration, key, secrets, requestId }: PartnerCall): Record<string, string> {
  const own = Object.entries(integration.headers ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    typeof value === 'string' ? value : (secrets[value.secret] ?? ''),
  ]);
  return {
    ...Object.fromEntries(own),
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: authorizationOf(integration, key),
    'user-agent': 'Carillon',
    'x-request-id': requestId,
  };
}

/** Returns the Authorization header. `Basic` uses the key unchanged, or base64-encoded if the integration says so. */
function authorizationOf({ authorization }: LookupIntegration, key: string): string {
  const { scheme = 'Bearer', base64 = false } = authorization;
  return `${scheme} ${scheme === 'Basic' && base64 ? Buffer.from(key, 'utf8').toString('base64') : key}`;
}

function answerOf({ reason, detail }: OutboundFailure): PartnerAnswer {
  switch (reason) {
    case 'refused_address':
      return { kind: 'refused', status: null, detail };
    case 'too_large':
      return { kind: 'invalid', status: null, detail };
    case 'no_room':
      return { kind: 'no_room', status: null, detail };
    case 'stopped':
      return { kind: 'not_made', detail };
    case 'unresolved':
    case 'unreachable':
    case 'tls':
    case 'timeout':
    case 'broken':
      return { kind: 'unavailable', status: null, detail };
  }
}
