import { CarillonError, type Duration } from '@carillon/kernel';
import type { ErasureFindings } from '@carillon/ports';
import { pause } from '@carillon/runtime';

/** Maximum time that a request waits for its look. The server refuses a request that is not answered within 10 s. */
const WAIT: Duration = 8_000;
/** How long the result of a look is kept for the request that asks again. */
const RESULT_KEPT: Duration = 30_000;
/** Maximum looks at a time, because each reads the whole log. */
const MAX_LOOKS = 4;
const RETRY_AFTER: Duration = 1_000;

/** Runs a look, or joins the one that an earlier request with the same key began. */
export type LongLooks = (key: string, find: () => Promise<ErasureFindings>) => Promise<ErasureFindings>;

/**
 * Returns a function that runs a search which may take longer than a request. It rejects with CarillonError `overloaded` if the search is not
 * done in time; the search continues, and the next call with the same key gets its result. Each result is returned once.
 */
export function createLongLooks(): LongLooks {
  const looks = new Map<string, Promise<ErasureFindings>>();

  function begin(key: string, find: () => Promise<ErasureFindings>): Promise<ErasureFindings> {
    if (looks.size >= MAX_LOOKS) {
      throw new CarillonError('overloaded', 'other people are being looked for: send the same request again', {
        retryAfter: RETRY_AFTER,
      });
    }
    const look = find();
    looks.set(key, look);
    const forget = (): void => void (looks.get(key) === look && looks.delete(key));
    const forgetLater = (): void => void setTimeout(forget, RESULT_KEPT).unref();
    look.then(forgetLater, forgetLater);
    return look;
  }

  return async (key, find) => {
    const look = looks.get(key) ?? begin(key, find);
    const answered = new AbortController();
    const ended = look.then(
      () => true,
      () => true,
    );
    const isEnded = await Promise.race([ended, pause(WAIT, answered.signal).then(() => false)]);
    answered.abort();
    if (!isEnded) {
      throw new CarillonError('overloaded', 'the log is still being read: send the same request again', {
        retryAfter: RETRY_AFTER,
      });
    }
    looks.delete(key);
    return look;
  };
}
