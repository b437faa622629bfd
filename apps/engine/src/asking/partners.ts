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
  /** Alerts an operator. */
  readonly alert: (partner: string, detail: string) => void;
  /** Called for each change of a partner's state. The initial state is open. */
  readonly changed: (partner: string, state: PartnerState) => void;
};

/** A secret with its name in the configuration. */
export type NamedKey = { readonly name: string; readonly value: string };

/** A partner that may be called now. */
export type OpenPartner = {
  readonly integration: LookupIntegration;
  /** The key to try first, then the second one if configured. */
  readonly keys: readonly NamedKey[];
  readonly secrets: Readonly<Record<string, string>>;
};

/** Why a partner cannot be called at all. */
export type Unusable = { readonly unusable: string };

type Place = { breaker: Breaker; pausedUntil: Instant };
type State = {
  readonly of: Partner;
  integration: LookupIntegration;
  /** The settings as text, so that unchanged settings are recognized. */
  readonly settings: string;
  readonly place: Place;
  /** Open while the partner refuses our keys; then one probe per minute. */
  suspension: Breaker;
  /** Single-trigger calls refused since its last answer. Null unless it may refuse everything. */
  refusedAlone: number | null;
  /** Name of the key that worked when the other was refused. */
  preferred: string | null;
  opened: { readonly partner: OpenPartner | Unusable; readonly until: Instant } | null;
};

/**
 * Number of triggers that are called alone after a shared call was refused. If all are refused, the partner refuses
 * everything. Each further refused shared call adds one.
 */
const SAMPLE = 8;
/** Age at which secrets are read again, so that a new secret applies soon and a burst reads it once. */
const SECRETS_FRESH: Duration = 2_000;

/**
 * State of each partner in this process: breaker, keys, and whether it may be called. Breaker and Retry-After apply per
 * workspace and host, a suspension per integration whose key is refused.
 */
export function createPartners({ configuration, secrets, clock, alert, changed }: Ports) {
  const find = createIntegrationLookup(configuration);
  const { states, stateOf } = createStates();
  const reported = new Map<string, PartnerState>();

  function partnerState(partner: Partner): PartnerState {
    const integration = find(partner);
    if (!integration) return 'called';
    const { suspension, place } = stateOf(partner, integration);
    return suspension.halfOpen ? 'suspended' : place.breaker.halfOpen ? 'failing' : 'called';
  }

  return {
    /** Reports all changes since the last call, including new settings and other partners on the same host. */
    tell(): void {
      for (const [title, { of }] of states) {
        const state = partnerState(of);
        if (state !== (reported.get(title) ?? 'called')) changed(title, state);
        reported.set(title, state);
      }
    },
    find,
    /** Returns when the partner may be called: `now` or earlier means at once. Null if it is not configured. */
    mayCallAt(partner: Partner, now: Instant): Instant | null {
      const integration = find(partner);
      if (!integration) return null;
      const { place, suspension } = stateOf(partner, integration);
      return Math.max(place.pausedUntil, mayCallAt(place.breaker, now), mayCallAt(suspension, now));
    },
    /** Must be called right before a call allowed by `mayCallAt`. The call counts as a probe if one is due. */
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
    /** Returns true if it has answered no trigger since it refused a shared call. */
    isDoubtful(partner: Partner): boolean {
      return this.apart(partner) !== Number.POSITIVE_INFINITY;
    },
    /**
     * Returns how many triggers may be called alone concurrently. 0 if it refuses everything, so that triggers are
     * called together.
     */
    apart(partner: Partner): number {
      const integration = find(partner);
      const refused = integration && stateOf(partner, integration).refusedAlone;
      return refused === null ? Number.POSITIVE_INFINITY : Math.max(0, SAMPLE - refused);
    },
    /** Must be called after each call. */
    ended(partner: Partner, answer: PartnerAnswer, call: FinishedCall): void {
      const integration = find(partner);
      if (!integration) return;
      const report = (detail: string): void => alert(partnerTitle(partner), detail);
      noteAnswer(stateOf(partner, integration), answer, call, clock.now(), report);
    },
  };
}
export type Partners = ReturnType<typeof createPartners>;

/** Finds the integration of a partner, cached per configuration because each call needs it several times. */
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

/** State by partner. Partners of a workspace on one host share a breaker. */
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
    // New settings reset the state.
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

/** A finished call. `tried`: names of the keys used; all but the last were refused. */
type FinishedCall = { readonly tried: readonly string[]; readonly sharedBy: number };
type Report = (detail: string) => void;

/** Updates breaker, suspension, shared calls and preferred key after an answer. */
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
  // Concurrent calls may reach the same result.
  if (taken === undefined || taken === state.preferred) return;
  state.preferred = taken;
  state.opened = null;
  report(`key ${refused} is refused and key ${taken} works: finish the rotation`);
}
