import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether two secrets are the same. It takes as long whatever differs, their lengths included. */
export const sameSecret = (shown: string, expected: string): boolean =>
  timingSafeEqual(digest(shown), digest(expected));
