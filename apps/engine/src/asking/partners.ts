import {
  callBegun,
  callEnded,
  callNotMade,
  canonical,
  CLOSED,
  findPartner,
  headerSecrets,
  mayCallAt,
  MAX_RETRY_AFTER,
  type Breaker,
  type Configuration,
  type LookupIntegration,
  type PartnerState,
} from '@carillon/domain';
import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, ConfigurationView, PartnerAnswer, Secrets } from '@carillon/ports';
import { partnerOfKind } from '@carillon/stages';

type Ports = {
  readonly configuration: Pick<ConfigurationView, 'current'>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** An operator should look. */
  readonly alert: (partner: string, detail: string) => void;
  /** Told of each change; before the first one a partner is called. */
  readonly changed: (partner: string, state: PartnerState) => void;
};

/** A secret with the name that the configuration has for it. */
export type NamedKey = { readonly name: string; readonly value: string };

/** A partner as it may be called now. */
export type OpenPartner = {
  readonly integration: LookupIntegration;
  /** The key to try first, then the other one where there are two. */
  readonly keys: readonly NamedKey[];
  readonly secrets: Readonly<Record<string, string>>;
};

/** Why no call can be made at all. */
export type Unusable = { readonly unusable: string };

/** A partner as the configuration has it. */
type Found = { readonly workspace: string; readonly integration: LookupIntegration };

type Place = { breaker: Breaker; pausedUntil: Instant };
type State = {
  integration: LookupIntegration;
  /** What the integration says, as text: the same settings written again are no new ones. */
  readonly settings: string;
  readonly place: Place;
  /** Shut while the partner refuses our keys: one probe a minute. */
  suspension: Breaker;
  /** Calls of one trigger that it refused since it last answered; null: whether it refuses everybody is not in doubt. */
  refusedAlone: number | null;
  /** The name of the key that was taken where the other one was refused. */
  preferred: string | null;
  opened: { readonly partner: OpenPartner | Unusable; readonly until: Instant } | null;
};

/**
 * After a shared call was refused so many triggers are asked one by one; where it refuses them all, it refuses everybody.
 * Each shared call that it refuses after that wants one more of them refused alone before the next shared one counts.
 */
const SAMPLE = 8;
/** Secrets are read again after this, so that a new one counts soon and a burst of calls reads it once. */
const SECRETS_FRESH: Duration = 2_000;

/**
 * The partners of this process: where each is, with which keys, and whether it may be called now. Breaker and Retry-After
 * count for the workspace's calls to one host, a suspension for the integration whose key is refused.
 */
export function createPartners({ configuration, secrets, clock, alert, changed }: Ports) {
  const states = new Map<string, State>();
  const places = new Map<string, Place>();
  const told = new Map<string, PartnerState>();
  const lookedUp = new Map<string, Found | null>();
  let lookedIn: Configuration | null = null;

  function look(kind: string): Found | null {
    const named = partnerOfKind(kind);
    const integration = named && findPartner(configuration.current(), named.workspace, named.integration);
    return integration ? { workspace: named.workspace, integration } : null;
  }

  /** Asked several times for each call, so it looks once for each configuration. */
  function find(kind: string): Found | null {
    if (lookedIn !== configuration.current()) {
      lookedUp.clear();
      lookedIn = configuration.current();
    }
    const known = lookedUp.get(kind);
    if (known !== undefined) return known;
    const looked = look(kind);
    lookedUp.set(kind, looked);
    return looked;
  }

  function stateOf(kind: string, workspace: string, integration: LookupIntegration): State {
    const known = states.get(kind);
    if (known?.integration === integration) return known;
    const settings = canonical(integration);
    if (known?.settings === settings) {
      known.integration = integration;
      return known;
    }
    const where = `${workspace} ${new URL(integration.url).origin}`;
    const place = places.get(where) ?? { breaker: CLOSED, pausedUntil: 0 };
    places.set(where, place);
    // New settings deserve a new chance.
    const state: State = {
      integration,
      settings,
      place,
      suspension: CLOSED,
      refusedAlone: 0,
      preferred: null,
      opened: null,
    };
    states.set(kind, state);
    return state;
  }

  async function openPartner(
    workspace: string,
    integration: LookupIntegration,
    state: State,
  ): Promise<OpenPartner | Unusable> {
    if (state.opened && clock.now() < state.opened.until) return state.opened.partner;
    const { key, second_key: second } = integration.authorization;
    const values: Record<string, string> = {};
    for (const name of [key.secret, ...headerSecrets(integration), ...(second ? [second.secret] : [])]) {
      const value = await secrets.resolve(workspace, name);
      if (value !== null) values[name] = value;
      else if (name !== second?.secret) {
        return { unusable: `the secret ${name} is neither in the environment nor stored` };
      }
    }
    const named = [key, ...(second ? [second] : [])].flatMap(({ secret: name }) => {
      const value = values[name];
      return value === undefined ? [] : [{ name, value }];
    });
    const [first] = named;
    const keys = state.preferred === null || state.preferred === first?.name ? named : named.toReversed();
    const partner = { integration, keys, secrets: values };
    state.opened = { partner, until: clock.now() + SECRETS_FRESH };
    return partner;
  }

  function partnerState(kind: string): PartnerState {
    const found = find(kind);
    if (!found) return 'called';
    const { suspension, place } = stateOf(kind, found.workspace, found.integration);
    return suspension.halfOpen ? 'suspended' : place.breaker.halfOpen ? 'failing' : 'called';
  }

  return {
    /** Tells what has changed since it was last asked to, new settings and other partners of the same host included. */
    tell(): void {
      for (const kind of states.keys()) {
        const state = partnerState(kind);
        if (state !== (told.get(kind) ?? 'called')) changed(kind.replace('ask ', ''), state);
        told.set(kind, state);
      }
    },
    find: (kind: string): LookupIntegration | null => find(kind)?.integration ?? null,
    /** When it may be called: `now` or earlier means at once; null where the configuration has no such partner. */
    mayCallAt(kind: string, now: Instant): Instant | null {
      const found = find(kind);
      if (!found) return null;
      const { place, suspension } = stateOf(kind, found.workspace, found.integration);
      return Math.max(place.pausedUntil, mayCallAt(place.breaker, now), mayCallAt(suspension, now));
    },
    /** To be asked right before a call that `mayCallAt` allowed: from here on it counts as a probe where one is due. */
    begin(kind: string): void {
      const found = find(kind);
      if (!found) return;
      const state = stateOf(kind, found.workspace, found.integration);
      const now = clock.now();
      state.place.breaker = callBegun(state.place.breaker, now);
      state.suspension = callBegun(state.suspension, now);
    },
    async open(kind: string): Promise<OpenPartner | Unusable> {
      const found = find(kind);
      if (!found) return { unusable: 'the configuration has no such partner any more' };
      return openPartner(found.workspace, found.integration, stateOf(kind, found.workspace, found.integration));
    },
    /** It has answered nobody since it refused a shared call. */
    isDoubtful(kind: string): boolean {
      return this.apart(kind) !== Number.POSITIVE_INFINITY;
    },
    /** Triggers that may be asked one by one at a time; 0: it refuses everybody, so they are asked together. */
    apart(kind: string): number {
      const found = find(kind);
      const refused = found && stateOf(kind, found.workspace, found.integration).refusedAlone;
      return refused === null ? Number.POSITIVE_INFINITY : Math.max(0, SAMPLE - refused);
    },
    /** To be told after each call; `tried`: names of the keys it was made with, all but the last of which were refused. */
    ended(
      kind: string,
      answer: PartnerAnswer,
      { tried, sharedBy }: { tried: readonly string[]; sharedBy: number },
    ): void {
      const found = find(kind);
      if (!found) return;
      const state = stateOf(kind, found.workspace, found.integration);
      const now = clock.now();
      const name = kind.replace('ask ', '');
      if (answer.kind === 'not_made' || answer.kind === 'no_room') {
        state.place.breaker = callNotMade(state.place.breaker);
        state.suspension = callNotMade(state.suspension);
        return;
      }
      if (answer.kind === 'unauthorized') {
        if (mayCallAt(state.suspension, now) <= now) alert(name, `suspended: ${answer.detail}`);
        state.suspension = callEnded(state.suspension, 'shut', answer.detail, now);
        state.place.breaker = callEnded(state.place.breaker, 'good', '', now);
        return;
      }
      if (answer.kind === 'answered') state.refusedAlone = null;
      else if (answer.kind === 'refused' || answer.kind === 'invalid') {
        if (sharedBy > 1) state.refusedAlone = Math.min(state.refusedAlone ?? 0, SAMPLE - 1);
        else if (state.refusedAlone !== null) state.refusedAlone = Math.min(state.refusedAlone + 1, SAMPLE);
      }
      const end = answer.kind === 'throttled' || answer.kind === 'unavailable' ? 'bad' : 'good';
      const before = state.place.breaker;
      state.place.breaker = callEnded(before, end, 'detail' in answer ? answer.detail : '', now);
      if (state.place.breaker.openUntil > before.openUntil && before.openUntil === 0) {
        alert(name, `most calls fail, so it is called less: ${state.place.breaker.why}`);
      }
      if (answer.kind === 'throttled') {
        const pause = Math.min(answer.retryAfter ?? 0, MAX_RETRY_AFTER);
        state.place.pausedUntil = Math.max(state.place.pausedUntil, now + pause);
      }
      // Whatever else it says: it was not our key that it refused.
      if (answer.kind !== 'unavailable') state.suspension = callEnded(state.suspension, 'good', '', now);
      const [refused, taken] = tried;
      // Calls that were under way at once find out the same.
      if (taken === undefined || answer.kind === 'unavailable' || taken === state.preferred) return;
      state.preferred = taken;
      state.opened = null;
      alert(name, `of its two keys ${refused} is refused and ${taken} is taken: finish the rotation`);
    },
  };
}
export type Partners = ReturnType<typeof createPartners>;
