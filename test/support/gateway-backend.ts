import { createBounceMail } from '@carillon/adapter-bounces';
import { createCohortReaders } from '@carillon/adapter-cohorts';
import { createTokenVerifier } from '@carillon/adapter-jwks';
import { createReceiptReaders } from '@carillon/adapter-providers';
import { createApiKeys, createIds, createLinkTokens, systemClock, type ApiKeys } from '@carillon/adapter-system';
import { createRecordCodecs, type AvroRecordCodecs } from '@carillon/contracts';
import type {
  BounceMail,
  Clock,
  CohortReaders,
  ConsentStore,
  EventLog,
  Ids,
  KeyUseStore,
  LinkTokens,
  ReceiptReaders,
  Secrets,
  TokenVerifier,
} from '@carillon/ports';
import { createDirectWire, createMemoryBackend } from '@carillon/testing/memory';
import { loopbackHttp } from '@carillon/testing/tokens';
import { withHashedPeople } from '@carillon/stores';

/** What a gateway stands on: log and stores in memory, and the real parts beside them. */
export type GatewayBackend = {
  readonly log: EventLog;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly apiKeys: ApiKeys;
  readonly codecs: AvroRecordCodecs;
  /** Knows none. */
  readonly secrets: Secrets;
  readonly tokens: TokenVerifier;
  readonly keyUses: KeyUseStore;
  readonly consents: ConsentStore;
  readonly links: LinkTokens;
  readonly bounceMail: BounceMail;
  readonly cohortReaders: CohortReaders;
  readonly receipts: ReceiptReaders;
};

export async function openGatewayBackend(): Promise<GatewayBackend> {
  const backend = createMemoryBackend({ clock: systemClock, partitions: 8 }).connect(createDirectWire());
  return {
    log: backend.log,
    ids: createIds(new Uint8Array(32).fill(7)),
    clock: systemClock,
    secrets: { resolve: async () => null },
    codecs: await createRecordCodecs(backend.registry, systemClock.now),
    apiKeys: createApiKeys(new Uint8Array(32).fill(9)),
    keyUses: backend.keyUses,
    consents: withHashedPeople(backend.consents, createIds(new Uint8Array(32).fill(7))),
    links: createLinkTokens(new Uint8Array(32).fill(7)),
    bounceMail: createBounceMail(),
    cohortReaders: createCohortReaders(),
    receipts: createReceiptReaders({ http: loopbackHttp, clock: systemClock, leases: backend.leases }),
    tokens: createTokenVerifier({ http: loopbackHttp, clock: systemClock }),
  };
}
