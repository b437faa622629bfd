import { CarillonError } from '@carillon/kernel';

/** The one answer to whoever has no credential of this workspace. */
export const unauthorized = (): CarillonError =>
  new CarillonError(
    'unauthorized',
    'Send a valid API key or token of this workspace as Authorization: Bearer <API key or token>.',
  );
