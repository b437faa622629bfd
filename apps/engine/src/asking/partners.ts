import { callBegun, callEnded, callNotMade, CLOSED, mayCallAt, type Breaker } from '@carillon/domain/breaker';
import { canonical, type Configuration, type LookupIntegration } from '@carillon/domain/configuration';
import {
  findPartner,
  headerSecrets,
  MAX_RETRY_AFTER,
  partnerTitle,
  type Partner,
  type PartnerState,
} from '@carillon/domain/lookups';
import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, ConfigurationView, PartnerAnswer, Secrets } from '@carillon/ports';

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

type Place = { breaker: Breaker; pausedUntil: Instant };
type State = {
  readonly of: Partner;
  integration: LookupIntegration;
  /** What the integration says, as text: the same settings written again are no new ones. */
  readonly settings: string;
  readonly place: Place;
  /** Shut while the partner refuses our keys: one probe a minute. */
  suspension: Breaker;
  /** Calls of one trigger that it refused since it last answered. Null: nothing suggests that it refuses everybody. */
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
  const find = createIntegrationLookup(configuration);
  const { states, stateOf } = createStates();
  const told = new Map<string, PartnerState>();

  function partnerState(partner: Partner): PartnerState {
    const integration = find(partner);
    if (!integration) return 'called';
    const { suspension, place } = stateOf(partner, integration);
    return suspension.halfOpen ? 'suspended' : place.breaker.halfOpen ? 'failing' : 'called';
  }

  return {
    /** Tells what has changed since it was last asked to, new settings and other partners of the same host included. */
    tell(): void {
      for (const [title, { of }] of states) {
        const state = partnerState(of);
        if (state !== (told.get(title) ?? 'called')) changed(title, state);
        told.set(title, state);
      }
    },
    find,
    /** When it may be called: `now` or earlier means at once; null where the configuration has no such partner. */
    mayCallAt(partner: Partner, now: Instant): Instant | null {
      const integration = find(partner);
      if (!integration) return null;
      const { place, suspension } = stateOf(partner, integration);
      return Math.max(place.pausedUntil, mayCallAt(place.breaker, now), mayCallAt(suspension, now));
    },
    /** To be asked right before a call that `mayCallAt` allowed: from here on it counts as a probe where one is due. */
    begin(partner: Partner): void {
      const integration = find(partner);
      if (!integration) return;
      const state = stateOf(partner, integration);
      const now = clock.now();
      state.place.breaker = callBegun(state.place.breaker, now);
      state.suspension = callBegun(state.suspension, now);
    },
    async open(partner: Partner): Promise<OpenPartner | Unusable> {
      const integration = find(partner);
      if (!integration) return { unusable: 'the configuration has no such partner any more' };
      return openPartner(partner.workspace, stateOf(partner, integration), secrets, clock);
    },
    /** It has answered nobody since it refused a shared call. */
    isDoubtful(partner: Partner): boolean {
      return this.apart(partner) !== Number.POSITIVE_INFINITY;
    },
    /** Triggers that may be asked one by one at a time; 0: it refuses everybody, so they are asked together. */
    apart(partner: Partner): number {
      const integration = find(partner);
      const refused = integration && stateOf(partner, integration).refusedAlone;
      return refused === null ? Number.POSITIVE_INFINITY : Math.max(0, SAMPLE - refused);
    },
    /** To be called after each call. */
    ended(partner: Partner, answer: PartnerAnswer, call: FinishedCall): void {
      const integration = find(partner);
      if (!integration) return;
      const report = (detail: string): void => alert(partnerTitle(partner), detail);
      noteAnswer(stateOf(partner, integration), answer, call, clock.now(), report);
    },
  };
}
export type Partners = ReturnType<typeof createPartners>;

/** Finds the integration of a partner. It is asked several times for each call, so it looks once for each configuration. */
function createIntegrationLookup(configuration: Ports['configuration']) {
  const found = new Map<string, LookupIntegration | null>();
  let foundIn: Configuration | null = null;
  return (partner: Partner): LookupIntegration | null => {
    if (foundIn !== configuration.current()) {
      found.clear();
      foundIn = configuration.current();
    }
    const title = partnerTitle(partner);
    const known = found.get(title);
    if (known !== undefined) return known;
    const looked = findPartner(configuration.current(), partner) ?? null;
    found.set(title, looked);
    return looked;
  };
}

/** What is known of each partner. Partners of a workspace on one host share their breaker. */
function createStates() {
  const states = new Map<string, State>();
  const places = new Map<string, Place>();

  function stateOf(partner: Partner, integration: LookupIntegration): State {
    const title = partnerTitle(partner);
    const known = states.get(title);
    if (known?.integration === integration) return known;
    const settings = canonical(integration);
    if (known?.settings === settings) {
      known.integration = integration;
      return known;
    }
    const where = `${partner.workspace} ${new URL(integration.url).origin}`;
    const place = places.get(where) ?? { breaker: CLOSED, pausedUntil: 0 };
    places.set(where, place);
    // New settings deserve a new chance.
    const state: State = {
      of: partner,
      integration,
      settings,
      place,
      suspension: CLOSED,
      refusedAlone: 0,
      preferred: null,
      opened: null,
    };
    states.set(title, state);
    return state;
  }

  return { states, stateOf };
}

async function openPartner(
  workspace: string,
  state: State,
  secrets: Ports['secrets'],
  clock: Ports['clock'],
): Promise<OpenPartner | Unusable> {
  const { integration } = state;
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
  const open = { integration, keys, secrets: values };
  state.opened = { partner: open, until: clock.now() + SECRETS_FRESH };
  return open;
}

/** A call that ended. `tried`: names of the keys it was made with, all but the last of which were refused. */
type FinishedCall = { readonly tried: readonly string[]; readonly sharedBy: number };
type Report = (detail: string) => void;

/** Draws the conclusions of an answer: for the breaker of the host, the suspension of the key, shared calls, and the choice of key. */
function noteAnswer(state: State, answer: PartnerAnswer, call: FinishedCall, now: Instant, report: Report): void {
  if (answer.kind === 'not_made' || answer.kind === 'no_room') {
    state.place.breaker = callNotMade(state.place.breaker);
    state.suspension = callNotMade(state.suspension);
    return;
  }
  if (answer.kind === 'unauthorized') {
    if (mayCallAt(state.suspension, now) <= now) report(`suspended: ${answer.detail}`);
    state.suspension = callEnded(state.suspension, 'shut', answer.detail, now);
    state.place.breaker = callEnded(state.place.breaker, 'good', '', now);
    return;
  }
  noteRefusal(state, answer, call.sharedBy);
  noteHealth(state, answer, now, report);
  if (answer.kind === 'unavailable') return;
  // Any other answer means that the partner did not refuse our key.
  state.suspension = callEnded(state.suspension, 'good', '', now);
  noteKeys(state, call.tried, report);
}

function noteRefusal(state: State, answer: PartnerAnswer, sharedBy: number): void {
  if (answer.kind === 'answered') state.refusedAlone = null;
  else if (answer.kind === 'refused' || answer.kind === 'invalid') {
    if (sharedBy > 1) state.refusedAlone = Math.min(state.refusedAlone ?? 0, SAMPLE - 1);
    else if (state.refusedAlone !== null) state.refusedAlone = Math.min(state.refusedAlone + 1, SAMPLE);
  }
}

function noteHealth({ place }: State, answer: PartnerAnswer, now: Instant, report: Report): void {
  const end = answer.kind === 'throttled' || answer.kind === 'unavailable' ? 'bad' : 'good';
  const before = place.breaker;
  place.breaker = callEnded(before, end, 'detail' in answer ? answer.detail : '', now);
  if (place.breaker.openUntil > before.openUntil && before.openUntil === 0) {
    report(`most calls fail, so it is called less: ${place.breaker.why}`);
  }
  if (answer.kind === 'throttled') {
    const pause = Math.min(answer.retryAfter ?? 0, MAX_RETRY_AFTER);
    place.pausedUntil = Math.max(place.pausedUntil, now + pause);
  }
}

function noteKeys(state: State, [refused, taken]: readonly string[], report: Report): void {
  // Calls that were under way at once find out the same.
  if (taken === undefined || taken === state.preferred) return;
  state.preferred = taken;
  state.opened = null;
  report(`key ${refused} is refused and key ${taken} works: finish the rotation`);
}
