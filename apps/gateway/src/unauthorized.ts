import { CarillonError } from '@carillon/kernel';

const refusal = (detail: string): CarillonError =>
  new CarillonError('unauthorized', `${detail} as Authorization: Bearer <API key or token>.`);

/** The one refusal of every credential that is not one of this workspace. */
export const unauthorized = (): CarillonError => refusal('Send a valid API key or token of this workspace');

/**
 * Returns the refusal of an unauthorized request. Its text depends only on the Authorization header, never on the path,
 * so that outsiders cannot discover paths.
 */
export function unauthorizedBy(authorization: string | undefined): CarillonError {
  if (authorization === undefined || authorization.trim() === '')
    return refusal('The request has no Authorization header. Send an API key or token of this workspace');
  if (!/^bearer +\S/i.test(authorization))
    return refusal('The Authorization header does not begin with Bearer. Send an API key or token of this workspace');
  return unauthorized();
}
