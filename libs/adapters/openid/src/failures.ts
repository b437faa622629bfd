import type { ProofFailure } from '@carillon/ports';
import * as openid from 'openid-client';
import { NoAnswer } from './bounded-fetch.ts';

/** Words that a provider may send in a browser's address: shown without what could be more than a word. */
const word = (text: string): string => text.replaceAll(/[^\w .-]/g, '').slice(0, 60);

/** Describes a provider's failure without codes, tokens and secrets. */
export function failureOf(error: unknown): ProofFailure {
  const chain = causesOf(error);
  const unanswered = chain.find((one) => one instanceof NoAnswer);
  if (unanswered) return { reason: 'unavailable', detail: unanswered.message };
  for (const one of chain) {
    if (one instanceof openid.AuthorizationResponseError) {
      return { reason: 'declined', detail: `the provider sent you back: ${word(one.error)}` };
    }
    if (one instanceof openid.ResponseBodyError) {
      return { reason: 'invalid', detail: `the provider refused the request of Carillon: ${word(one.error)}` };
    }
    if (one instanceof openid.WWWAuthenticateChallengeError) {
      const detail =
        'the provider refused the credentials of Carillon: an owner must check client_id and client_secret';
      return { reason: 'invalid', detail };
    }
  }
  const timedOut = chain.some((one) => 'code' in one && (one.code === 'OAUTH_TIMEOUT' || one.code === 'OAUTH_ABORT'));
  if (timedOut) return { reason: 'unavailable', detail: 'the provider sent no complete response in time' };
  // Messages of the library are fixed texts; what was compared is in other places.
  const texts = chain.filter((one) => 'code' in one || one instanceof openid.ClientError).map(({ message }) => message);
  return { reason: 'invalid', detail: texts.at(-1) ?? 'its answer cannot be read' };
}

function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < 10; one = one.cause) chain.push(one);
  return chain;
}
