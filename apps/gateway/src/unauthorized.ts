import { CarillonError } from '@carillon/kernel';

const refusal = (detail: string): CarillonError =>
  new CarillonError('unauthorized', `${detail} as Authorization: Bearer <API key or token>.`);

/** The one refusal of every credential that is not one of this workspace. */
export const unauthorized = (): CarillonError => refusal('Send a valid API key or token of this workspace');

/**
 * The refusal of a request that was not let in, by its Authorization header. The words depend on the header alone, never on the path, so
 * that nobody learns which paths exist.
 */
export function unauthorizedBy(authorization: string | undefined): CarillonError {
  if (authorization === undefined || authorization.trim() === '')
    return refusal('The request has no Authorization header. Send an API key or token of this workspace');
  if (!/^bearer +\S/i.test(authorization))
    return refusal('The Authorization header does not begin with Bearer. Send an API key or token of this workspace');
  return unauthorized();
}
