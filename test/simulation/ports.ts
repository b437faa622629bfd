import { neverYield } from '@carillon/testing/given';
import type { DeliveryPorts } from '@carillon/delivery';
import type { EnginePorts } from '@carillon/engine';
import type { ConsentStore, Ids, SourceStore } from '@carillon/ports';
import { createConfigurationView, type FollowedConfiguration } from '@carillon/stages';
import { withHashedPeople } from '@carillon/stores';
import type { Process } from './scheduler.ts';
import type { Shared, World } from './world.ts';

/** Everything that the roles ask for. */
export type Ports = Omit<EnginePorts & DeliveryPorts, 'watch' | 'configuration'> & {
  readonly configuration: FollowedConfiguration;
  /** Where it is written down what a person wants no more. */
  readonly deciding: ConsentStore;
  readonly watch: EnginePorts['watch'] & DeliveryPorts['watch'];
};

const NO_SOURCES: SourceStore = {
  load: async () => null,
  list: async () => [],
  advance: async () => 'stale',
  requestReset: async () => 'stale',
  remove: async () => 'stale',
};

/** A bug, or none: the ports of a process as its roles get them. Made anew for each process, as its memory is. */
export type Plant = (ports: Ports) => Ports;

/** The ports of one process: all of them over its wire. */
export function portsOf(process: Process, world: World, shared: Shared, plant: Plant): Ports {
  const { scheduler } = world;
  const wire = world.wireOf(process);
  const clock = { now: scheduler.now };
  const log = world.log.connect(wire);
  const { consents: stored, limits, digestHeads } = world.stores.connect(wire);
  const consents = withHashedPeople(stored, shared.ids);
  const ids: Ids = {
    ...shared.ids,
    random: (kind) => shared.ids.derive(kind, scheduler.name()),
    token() {
      const token = scheduler.name();
      world.gave(process.name, token);
      return token;
    },
    chance: scheduler.chance,
  };
  const note =
    (what: string) =>
    (error: unknown): void =>
      scheduler.note(() => `${process.name} reports ${what}: ${String(error)}`);
  const ports: Ports = {
    log,
    ids,
    clock,
    slice: neverYield,
    codecs: shared.codecs,
    compileRule: shared.compile,
    templates: shared.templates,
    configuration: createConfigurationView(log, shared.codecs.configuration, clock),
    checkpoints: world.checkpoints.connect(wire),
    ruleStates: world.ruleStates.connect(wire),
    claims: world.claims.connect(wire),
    leases: world.leases.connect(wire),
    suppressions: world.watched(world.suppressions.connect(wire)),
    consents: {
      ...consents,
      find(workspace, persons) {
        world.checks(process.name, persons);
        return consents.find(workspace, persons);
      },
    },
    deciding: consents,
    limits,
    digestHeads,
    links: { seal: () => 'link', open: () => null },
    ledger: world.ledger.connect(wire),
    tasks: world.tasks.connect(wire),
    cohorts: world.cohorts.connect(wire),
    partners: world.partner.connect(wire),
    senders: [world.provider.factory(wire, 'smtp'), world.provider.factory(wire, 'twilio')],
    secrets: { resolve: async () => 'secret' },
    sources: NO_SOURCES,
    changeSources: async () => {
      throw new Error('no database is read here');
    },
    topicSources: async () => {
      throw new Error('no topics are read here');
    },
    avroSchemas: async () => {
      throw new Error('no schemas are read here');
    },
    cohortPages: { page: async () => ({ kind: 'refused', detail: 'no platform has to be asked here' }) },
    watch: {
      consumes: () => undefined,
      stopped({ group, partition }) {
        world.find('stuck', `${group}/${partition} stands still`);
        return () => undefined;
      },
      membersSkipped: () => undefined,
      begun: () => () => undefined,
      failed: ({ group, partition, error }) => note(`${group}/${partition}`)(error),
      left: () => undefined,
      skipped: ({ group, partition }) => world.find('stuck', `${group}/${partition} was told of records that are gone`),
      call: () => () => undefined,
      asking: () => undefined,
      partnerState: () => undefined,
      partnerAlert: (partner, detail) => note('an alert')(`${partner} ${detail}`),
      trouble: (where, error) => note(where)(error),
      sourceState: () => undefined,
      sourceLeft: () => undefined,
      sourceChanges: () => undefined,
      sourceReset: () => undefined,
      attempt: () => () => undefined,
      accountState: () => undefined,
      sends: () => undefined,
      queued: () => undefined,
      alert: (account, code, detail) => note('an alert')(`${account} ${code} ${detail}`),
    },
  };
  return plant(ports);
}
