import { pollEvery, type CohortRef } from '@carillon/domain/cohorts';
import { isPolled, listResources, type PolledIntegration, type Resource } from '@carillon/domain/configuration';
import { messageOf, type Duration, type Instant } from '@carillon/kernel';
import type { Clock, CohortStore, ConfigurationView, LeaseStore, Secrets } from '@carillon/ports';
import { startLoop } from '@carillon/runtime';
import { pollCohort, type PollPorts, type Polled } from './poll-cohort.ts';

export type PollerPorts = Omit<PollPorts, 'skipped'> & {
  readonly cohorts: Pick<CohortStore, 'load'>;
  readonly configuration: Pick<ConfigurationView, 'current'>;
  readonly leases: LeaseStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly watch: {
    trouble(where: string, error: unknown): void;
    /** An operator should look. */
    partnerAlert(partner: string, detail: string): void;
    /** Members of a cohort came without a usable user id; `integration` with its workspace. */
    membersSkipped(integration: string, count: number): void;
  };
};

export type Poller = { stop(): Promise<void> };

const ROUND: Duration = 2_000;
/** Longer than one page may take; taken again before each. */
const LEASE: Duration = 90_000;
/**
 * Integrations polled concurrently, so that a slow one delays few others. Cohorts of one integration are polled in
 * sequence.
 */
const CONCURRENCY = 8;
const FIRST_PAUSE: Duration = 30_000;

type Setback = { readonly failures: number; readonly until: Instant };
type Place = { readonly workspace: string; readonly name: string; readonly body: PolledIntegration };

/**
 * Polls platforms that do not push cohorts. A cohort is due when its newest complete result is older than the
 * integration's interval. The lease of the integration ensures that one process polls at a time.
 */
export function startPoller(ports: PollerPorts): Poller {
  const { clock, cohorts, configuration, ids, leases, secrets, watch } = ports;
  const holder = ids.random('request');
  const ending = new AbortController();
  const running = new Map<string, Promise<void>>();
  const setbacks = new Map<string, Setback>();

  function begin(place: Place): void {
    const lease = `poll ${place.workspace}/${place.name}`;
    if (running.has(lease) || running.size >= CONCURRENCY) return;
    const polling = pollIntegration(place, lease)
      .catch((error: unknown) => watch.trouble(`poll ${place.workspace}/${place.name}`, error))
      .finally(() => running.delete(lease));
    running.set(lease, polling);
  }

  async function pollIntegration(place: Place, lease: string): Promise<void> {
    const { workspace, name, body } = place;
    const hold = async (): Promise<boolean> => {
      const now = clock.now();
      return leases.acquire(lease, holder, now, now + LEASE);
    };
    for (const cohort of body.cohorts) {
      const ref = { workspace, integration: name, cohort };
      if (ending.signal.aborted || !(await isDue(ref, body))) continue;
      if (!(await hold())) return;
      // Another process may have asked while this one waited for its turn.
      if (await isDue(ref, body)) note(ref, body, await poll(ref, body, hold));
    }
    await leases.release(lease, holder);
  }

  const skipped = ({ workspace, integration }: CohortRef, count: number): void =>
    watch.membersSkipped(`${workspace}/${integration}`, count);

  async function isDue(ref: CohortRef, body: PolledIntegration): Promise<boolean> {
    const now = clock.now();
    if ((setbacks.get(keyOf(ref))?.until ?? 0) > now) return false;
    const known = await cohorts.load(ref);
    return known?.replacedAt ? now - known.replacedAt.time >= pollEvery(body) : true;
  }

  async function poll(
    ref: CohortRef,
    integration: PolledIntegration,
    mayGoOn: () => Promise<boolean>,
  ): Promise<Polled> {
    const { key, second_key: second } = integration.authorization;
    const names = [key.secret, ...(second ? [second.secret] : [])];
    const keys = (await Promise.all(names.map((one) => secrets.resolve(ref.workspace, one)))).filter(
      (one) => one !== null,
    );
    if (keys.length === 0) {
      return { kind: 'refused', detail: `the secret ${key.secret} is neither in the environment nor stored` };
    }
    try {
      return await pollCohort({ ref, integration, keys, signal: ending.signal, mayGoOn }, { ...ports, skipped });
    } catch (error) {
      return { kind: 'unavailable', detail: messageOf(error), retryAfter: null };
    }
  }

  /**
   * Schedules the next poll: after failures with a growing pause, and after a complete answer not before it was
   * applied.
   */
  function note(ref: CohortRef, body: PolledIntegration, polled: Polled): void {
    const { failures = 0 } = setbacks.get(keyOf(ref)) ?? {};
    const every = pollEvery(body);
    const now = clock.now();
    if (polled.kind === 'done' || polled.kind === 'given_up') {
      setbacks.set(keyOf(ref), { failures: 0, until: now + Math.min(every, FIRST_PAUSE) });
      return;
    }
    if (polled.kind === 'refused')
      watch.partnerAlert(`${ref.workspace}/${ref.integration}`, `cohort ${ref.cohort}: ${polled.detail}`);
    else watch.trouble(`poll ${keyOf(ref)}`, new Error(polled.detail));
    const pause =
      Math.min(Math.max(every, FIRST_PAUSE), FIRST_PAUSE * 2 ** Math.min(failures, 20)) * (1 + ids.chance() / 2);
    const asked = polled.kind === 'unavailable' ? (polled.retryAfter ?? 0) : 0;
    setbacks.set(keyOf(ref), { failures: failures + 1, until: now + Math.max(pause, Math.min(asked, 24 * 3_600_000)) });
  }

  const keeper = startLoop(
    ROUND,
    async () => {
      for (const place of placesIn(listResources(configuration.current(), 'integration'))) begin(place);
    },
    (error) => watch.trouble('look for cohorts that are due', error),
  );

  return {
    async stop() {
      ending.abort();
      await keeper.stop();
      await Promise.all(running.values());
    },
  };
}

const keyOf = ({ workspace, integration, cohort }: CohortRef): string => `${workspace}/${integration} cohort ${cohort}`;

const placesIn = (integrations: readonly Resource<'integration'>[]): Place[] =>
  integrations.flatMap(({ ref, body }) => (isPolled(body) ? [{ workspace: ref.workspace, name: ref.name, body }] : []));
