import type { Delivery } from '@carillon/domain/deliveries';
import { deliveryOf, type DeliveryFacts } from '@carillon/testing';
import { givenIds, neverYield, orderShop, type Wish } from '@carillon/testing/given';
import {
  createDirectWire,
  createMemoryStores,
  createMemoryLedger,
  createMemoryLog,
  createMemoryReadModels,
  createMemorySuppressions,
  WireFault,
  type Wire,
} from '@carillon/testing/memory';
import type { LogId } from '@carillon/kernel';
import { createJobRunner, type JobRunner } from '../src/jobs/runner.ts';
import type { ControlPorts } from '../src/index.ts';
import type { Principal } from '../src/access/principal.ts';
import { accessOf, openControl, type Fixture, publishWishes } from './control-fixture.ts';

/** A process that is killed at its nth write, before it happened or after; from then on nothing of it is heard or done. */
export function mortalWire(dies: {
  readonly at: number;
  readonly reached: boolean;
}): Wire & { readonly writes: () => number } {
  let writes = 0;
  let isDead = false;
  const direct = createDirectWire();
  return {
    writes: () => writes,
    async ask(port, effect, asked = {}) {
      if (isDead) throw new WireFault(port, false);
      if (asked.writes) {
        writes += 1;
        if (writes === dies.at) {
          isDead = true;
          if (dies.reached) effect();
          throw new WireFault(port, dies.reached);
        }
      }
      return direct.ask(port, effect, asked);
    },
    tell: (what, told) => direct.tell(what, told),
  };
}

/** A wire on which `meanwhile` happens, once, after that many writes: before whoever wrote the last of them hears that it is done. */
export function interruptedWire(after: number, meanwhile: () => Promise<unknown>): Wire {
  let writes = 0;
  const direct = createDirectWire();
  return {
    async ask(port, effect, asked = {}) {
      const answer = await direct.ask(port, effect, asked);
      if (asked.writes) {
        writes += 1;
        if (writes === after) await meanwhile();
      }
      return answer;
    },
    tell: (what, told) => direct.tell(what, told),
  };
}

/** A shop with deliveries, and processes over its stores, each over a wire of its own. */
export async function openJobsFixture() {
  const stores = {
    documents: createMemoryStores(),
    ledger: createMemoryLedger(),
    readModels: createMemoryReadModels(),
    suppressions: createMemorySuppressions(),
    log: createMemoryLog({ logId: 'log_0000000000000000000000000A' as LogId, partitions: 1, now: () => clock() }),
  };
  let clock: () => number = () => 0;
  const over = (wire: Wire) => ({
    jobs: stores.documents.connect(wire).jobs,
    runs: stores.documents.connect(wire).runs,
    runChild: { known: async () => [], forget: async () => undefined } as unknown as ControlPorts['runChild'],
    ledger: stores.ledger.connect(wire),
    readModels: stores.readModels.connect(wire),
    suppressions: stores.suppressions.connect(wire),
    consents: stores.documents.connect(wire).consents,
    erasures: stores.documents.connect(wire).erasures,
    log: stores.log.connect(wire),
  });
  const people = createMemoryStores().connect().people;
  const own = { ...over(createDirectWire()), people };
  const troubles: unknown[] = [];
  const watch = { trouble: (_where: string, error: unknown) => void troubles.push(error) } as ControlPorts['watch'];
  const backups: string[] = [];
  const backup: ControlPorts['backup'] = async (file) => {
    backups.push(file);
    return { bytes: 1 };
  };
  const fixtures: Fixture[] = [];

  /** The routes as this one asks them. */
  async function as(who: Principal, more: Partial<ControlPorts> = {}) {
    const fixture = await openControl(accessOf(who), { ...own, watch, backup, ...more });
    fixtures.push(fixture);
    clock = fixture.clock.now;
    return {
      ...fixture,
      async ask(method: 'GET' | 'POST', url: string, payload?: object) {
        const whole = url.startsWith('/') ? url : `/v1/workspaces/shop/${url}`;
        const answer = await fixture.control.app.inject({ method, url: whole, ...(payload && { payload }) });
        return { status: answer.statusCode, headers: answer.headers, body: answer.json<Record<string, unknown>>() };
      },
    };
  }

  async function publishShop(fixture: Fixture): Promise<void> {
    const wishes = ['shop', 'club'].flatMap((name): readonly Wish[] => [
      { ref: { kind: 'workspace', workspace: name, name: '' }, body: {} },
      ...orderShop(undefined, name),
    ]);
    await publishWishes(fixture, wishes);
  }

  let runners = 0;
  return {
    ...own,
    as,
    publishShop,
    troubles,
    backups,
    /** A runner in a process of its own. */
    runner(
      fixture: Fixture,
      wire: Wire = createDirectWire(),
      slice = neverYield,
      more: Partial<ControlPorts> = {},
      isAlone = false,
    ): JobRunner {
      runners += 1;
      const { configuration, codecs, clock: time } = fixture;
      const ports = {
        configuration,
        codecs,
        clock: time,
        ids: givenIds,
        watch,
        backup,
        people,
        slice,
        ...over(wire),
        ...more,
      };
      return createJobRunner(ports as unknown as ControlPorts, `runner-${runners}`, isAlone);
    },
    async deliver(count: number, facts: DeliveryFacts = { state: 'FAILED' }): Promise<readonly Delivery[]> {
      const made = Array.from({ length: count }, (_, at) =>
        deliveryOf({ createdAt: 1_000 + at, nextAt: null, ...facts }),
      );
      await own.ledger.insert(made);
      return made;
    },
    close: () => Promise.all(fixtures.map(({ control }) => control.app.close())),
  };
}
export type JobsFixture = Awaited<ReturnType<typeof openJobsFixture>>;
