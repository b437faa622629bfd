import type { LogId } from '@carillon/kernel';
import type { ConfigurationStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { insertOnce } from '../compare-and-set.ts';
import { RetryFromStart } from '../failures.ts';

const IDENTITY = 'deployment';

export const createConfigurationStore = (
  { identity }: Pick<Collections, 'identity'>,
  attempt: Attempt,
): ConfigurationStore => ({
  identity: ({ logId, keyFingerprint }) =>
    attempt(async () => {
      const stored = await identity.findOne({ _id: IDENTITY });
      if (stored) return { logId: stored.logId as LogId, keyFingerprint: stored.keyFingerprint };
      if (await insertOnce(identity, { _id: IDENTITY, logId, keyFingerprint })) return { logId, keyFingerprint };
      throw new RetryFromStart('another process is writing the identity');
    }),
});
