import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { createTokenVerifier } from '@carillon/adapter-jwks';
import { createApiKeys, createIds, systemClock, type ApiKeys } from '@carillon/adapter-system';
import { createRecordCodecs, type AvroRecordCodecs } from '@carillon/contracts';
import type { Clock, EventLog, Ids, KeyUseStore, Secrets, TokenVerifier } from '@carillon/ports';
import { loopbackHttp } from '@carillon/testing/tokens';

/** The embedded backend in a folder of its own, for tests of what stands above the ports. */
export type RealBackend = {
  readonly log: EventLog;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly apiKeys: ApiKeys;
  readonly codecs: AvroRecordCodecs;
  /** Knows none. */
  readonly secrets: Secrets;
  readonly tokens: TokenVerifier;
  readonly keyUses: KeyUseStore;
  close(): Promise<void>;
};

export async function openRealBackend(): Promise<RealBackend> {
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-test-'));
  const embedded = await openEmbedded({ dataDir, clock: systemClock });
  return {
    log: embedded.log,
    ids: createIds(new Uint8Array(32).fill(7)),
    clock: systemClock,
    secrets: { resolve: async () => null },
    codecs: await createRecordCodecs(embedded.registry, systemClock.now),
    apiKeys: createApiKeys(new Uint8Array(32).fill(9)),
    keyUses: embedded.keyUses,
    tokens: createTokenVerifier({ http: loopbackHttp, clock: systemClock }),
    async close() {
      await embedded.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
