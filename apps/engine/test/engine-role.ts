import type { PartnerAnswer } from '@carillon/ports';
import type { Topology } from '@carillon/testing/topology';
import { startEngine, type EnginePorts, type EngineRole } from '../src/index.ts';

export type WatchedEngine = EngineRole & {
  readonly troubles: unknown[];
  readonly alerts: string[];
  /** Changes of whether a partner is called. */
  readonly states: string[];
  /** Members of cohorts that came without a usable user id. */
  readonly skipped: string[];
  /** What came of each call to a partner. */
  readonly outcomes: PartnerAnswer['kind'][];
  /** Calls that have begun and are not over. */
  openCalls(): number;
};

const noSources = async (): Promise<never> => {
  throw new Error('the configuration names no source');
};

/** The engine role over a topology, with what it tells kept for the test. */
export async function startEngineOn(topology: Topology, more: Partial<EnginePorts> = {}): Promise<WatchedEngine> {
  const troubles: unknown[] = [];
  const alerts: string[] = [];
  const states: string[] = [];
  const skipped: string[] = [];
  const outcomes: PartnerAnswer['kind'][] = [];
  let begun = 0;
  const watch: EnginePorts['watch'] = {
    ...topology.witness,
    trouble: (_where, error) => void troubles.push(error),
    call: () => {
      begun += 1;
      return ({ outcome }) => void outcomes.push(outcome);
    },
    asking: () => undefined,
    membersSkipped: (name, count) => void skipped.push(`${name} ${count}`),
    partnerState: (partner, state) => void states.push(`${partner} ${state}`),
    sourceState: () => undefined,
    sourceLeft: () => undefined,
    sourceChanges: () => undefined,
    sourceReset: () => undefined,
    partnerAlert: (partner, detail) => void alerts.push(`${partner} ${detail}`),
  };
  const engine = await startEngine({
    ...topology.ports,
    changeSources: noSources,
    topicSources: noSources,
    avroSchemas: noSources,
    watch,
    ...more,
  });
  return { ...engine, troubles, alerts, states, skipped, outcomes, openCalls: () => begun - outcomes.length };
}
