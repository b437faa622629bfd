import { createRecordCodecs } from '@carillon/contracts';
import type { AuditEntry } from '@carillon/domain/audit';
import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import type { LogId } from '@carillon/kernel';
import type { Clock, ErasureWork, EventLog, RecordCodecs } from '@carillon/ports';
import { createConfigurationView, publishConfiguration, type FollowedConfiguration } from '@carillon/stages';
import {
  changesOf,
  compileGiven,
  givenIds,
  neverYield,
  settableClock,
  type SettableClock,
  type Wish,
} from '@carillon/testing/given';
import { createDirectWire, createMemoryLog, createMemoryStores } from '@carillon/testing/memory';
import { createAccess, type Access } from '../src/access/access.ts';
import type { Permission } from '../src/access/permission.ts';
import type { Principal } from '../src/access/principal.ts';
import {
  buildControl,
  type Control,
  type ControlConfig,
  type ControlPorts,
  type ControlSurroundings,
} from '../src/index.ts';

export const TOKEN = 'own_0123456789abcdefghijklmnopqrstuvwxyz';
export const LOG_ID = 'log_0000000000000000000000000A' as LogId;

export const config: ControlConfig = {
  version: '0.1.0',
  backend: 'embedded',
  host: '127.0.0.1',
  port: 0,
  eventsUrl: 'http://127.0.0.1:7400/events',
  ownerToken: TOKEN,
  portalFolder: new URL('portal-of-tests', import.meta.url).pathname,
  docsFolder: new URL('docs-of-tests', import.meta.url).pathname,
};

/** Seals by writing down what is meant. */
export const plainSealer = {
  seal: (boundTo: readonly string[], text: string): string => JSON.stringify([boundTo.join('/'), text]),
  open(boundTo: readonly string[], sealed: string): string | null {
    const [meant, text = ''] = JSON.parse(sealed) as readonly string[];
    return meant === boundTo.join('/') ? text : null;
  },
};

/** Finds one delivery in the workspaces that it is asked about, and empties nothing. */
export const erasingOne = (asked: ErasureWork[] = []): ControlPorts['erasing'] => ({
  eraser: {
    async find(work) {
      asked.push(work);
      return { counts: { deliveries: 1 }, checksum: 'c1', undecided: [] };
    },
    erase: async () => ({ counts: {}, checksum: '', undecided: [] }),
    pauseConsumers: async () => () => undefined,
    finish: async () => undefined,
    bytesUntil: async () => null,
  },
  unreadOffsets: async () => () => Number.POSITIVE_INFINITY,
  readTopics: [],
  alone: (work) => work(),
  requireRoom: async () => undefined,
});

export type Fixture = {
  readonly control: Control;
  readonly log: EventLog;
  readonly configuration: FollowedConfiguration;
  readonly codecs: RecordCodecs;
  readonly clock: SettableClock;
};

/** The server over a log in memory and no stores: what it refuses is refused before anything of them is looked at. */
export async function openControl(
  access?: Access,
  ports: Partial<ControlPorts> = {},
  settings: Partial<ControlConfig> = {},
  surroundings: Pick<ControlSurroundings, 'stopwatches'> = {},
): Promise<Fixture> {
  const clock = settableClock();
  let schemas = 0;
  const codecs = await createRecordCodecs(
    { register: async () => (schemas += 1), schema: async () => null },
    clock.now,
  );
  const log = createMemoryLog({ logId: LOG_ID, partitions: 1, now: clock.now }).connect(createDirectWire());
  const configuration = createConfigurationView(log, codecs.configuration, clock);
  const people = createMemoryStores().connect().people;
  const own: Partial<ControlPorts> = {
    ids: givenIds,
    clock,
    log,
    codecs,
    configuration,
    people,
    factorSealer: plainSealer,
    undoSealer: plainSealer,
    runSealer: plainSealer,
    apiKeys: { make: () => ({ key: 'cln_once', keyId: 'id', digest: 'digest' }) },
    compileRule: compileGiven,
    readEverywhere: async () => undefined,
    diagnose: async () => [],
    deadLettersKept: () => null,
    unnamedRetention: null,
    erasing: erasingOne(),
    slice: neverYield,
  };
  const control = await buildControl({ ...config, ...settings }, { ...own, ...ports } as ControlPorts, {
    ...surroundings,
    ...(access && { access }),
  });
  return { control, log, configuration, codecs, clock };
}

/** Publishes these resources as the owner would; the view of this fixture has read them when it resolves. */
export async function publishWishes(
  { log, codecs, configuration, clock }: Pick<Fixture, 'log' | 'codecs' | 'configuration'> & { readonly clock: Clock },
  wishes: readonly Wish[],
): Promise<void> {
  await publishConfiguration(
    {
      log,
      codec: codecs.configuration,
      view: configuration,
      ids: givenIds,
      clock,
      readEverywhere: async () => undefined,
    },
    changesOf(await configuration.refresh(), wishes),
    CHANGED_BY_OWNER,
  );
}

/** Returns the actions on the audit, in order. */
export async function auditEntries({ log, codecs }: Pick<Fixture, 'log' | 'codecs'>): Promise<readonly AuditEntry[]> {
  const records = await log.read('carillon.audit', 0, 0, 10_000);
  return records.flatMap(({ value }) => {
    const decoded = codecs.audit.decode(value);
    return decoded.ok && decoded.value.kind === 'entry' ? [decoded.value] : [];
  });
}

/** Somebody who has these permissions, in one workspace or everywhere. */
export const personWith = (name: string, permissions: readonly Permission[], workspace?: string): Principal => ({
  kind: 'session',
  actor: { kind: 'person', id: name },
  name,
  may: (permission, where) => permissions.includes(permission) && (workspace === undefined || workspace === where),
});

/** Access that identifies every caller as this principal. */
export const accessOf = (who: Principal): Access => ({
  ...createAccess(
    { ownerToken: TOKEN },
    {
      ids: givenIds,
      clock: settableClock(),
      people: createMemoryStores().connect().people,
      factorSealer: plainSealer,
    },
  ),
  who: async () => who,
  stillWho: async () => who,
});
