import { CarillonError, type Duration } from '@carillon/kernel';

/** Owner of a permit. */
export type Holder = {
  readonly workspace: string;
  /** The presented credential, or the client address while nothing is verified. */
  readonly credential: string;
};

/** Resources of one request, from its headers to the log's response. */
export type Permit = {
  /**
   * Announces that the body starts to arrive. Until `whole`, `cutOff` may be called once, with the response to send.
   */
  arriving(cutOff: (refusal: CarillonError) => void): void;
  /**
   * Counts received bytes. Throws `overloaded` without counting them if all bodies together would exceed the limit, or
   * if the permit was released or revoked.
   */
  take(bytes: number): void;
  /** Releases counted bytes. */
  giveBack(bytes: number): void;
  /** The body is complete, so the permit can no longer be revoked. */
  whole(): void;
  /** Releases everything. May be called twice. */
  release(): void;
};

/**
 * Why a permit was refused or revoked. `full`: none was left, and the requester held at least as much as others.
 * `others_need`: revoked for a requester who held less. `slow`: below the minimum speed. `too_many_slow`: too many slow
 * bodies of one owner.
 */
export type AdmissionRefusal = 'full' | 'others_need' | 'slow' | 'too_many_slow';

export type AdmissionControl = {
  /** Returns a permit. Throws `overloaded` if none is available for this owner. */
  enter(holder: Holder): Permit;
  held(): { readonly places: number; readonly bytes: number };
};

export type AdmissionBounds = { readonly maxInFlightBytes: number; readonly maxInFlightRequests: number };

/** Time after which an arriving body must keep the minimum speed. */
const SLOW_AFTER: Duration = 2000;
/** Bytes per millisecond: 1 KB/s. */
const MIN_BYTES_PER_MS = 1;
/** Fractions of the permits that slow bodies of one workspace or credential may hold. */
const SLOW_SHARE = { workspace: 0.2, credential: 0.1 } as const;
/**
 * Fraction reserved for owners with small usage: extra permits for owners below their share, and bytes for owners below
 * half of that fraction.
 */
const SPARE_SHARE = 1 / 8;
/** Time during which owners above their share get no further permit, after one below its share found none. */
const SHORT_FOR: Duration = 1000;
/**
 * Age from which a body below the minimum speed is cut off for another one of the same owner when no permit is left.
 */
const HOPELESS_AFTER: Duration = 250;
const LOOK_EVERY: Duration = 500;

type Share = { places: number; bytes: number; slow: number };
type Workspace = Share & { readonly credentials: Map<string, Credential> };
type Credential = Share & {
  readonly workspace: Workspace;
  readonly holder: Holder;
  /** Oldest first. */
  readonly arriving: Set<Arriving>;
};
type Arriving = {
  readonly of: Credential;
  readonly since: number;
  readonly cutOff: (refusal: CarillonError) => void;
  /** Releases the permit. */
  readonly release: () => void;
  bytes: number;
  slow: boolean;
};
type Measure = 'places' | 'bytes';

/**
 * Limits concurrent requests and the bytes of their bodies, counted on arrival, and shares both when they are scarce. A
 * single workspace or credential may use everything while no other asks. A requester below its share still gets a
 * permit: an incomplete body of the largest owner is cut off, or a reserved permit is used, and owners at or above
 * their share get none for a second. Slow bodies may hold only a fraction of the permits.
 */
export function createAdmissionControl(
  bounds: AdmissionBounds,
  refused: (why: AdmissionRefusal) => void = () => undefined,
): AdmissionControl {
  const { maxInFlightBytes: mostBytes, maxInFlightRequests: most } = bounds;
  const holders = createHolders(most);
  const { all, credentialOf, add, isBelowShare } = holders;
  const bodies = createArrivingBodies(most, holders, cutOff);
  /** 0 if no requester below its share was refused recently. */
  let shortUntil = 0;

  function refuse(why: AdmissionRefusal): never {
    refused(why);
    throw REFUSALS[why];
  }

  function cutOff(body: Arriving, why: AdmissionRefusal): void {
    refused(why);
    body.release();
    body.cutOff(REFUSALS[why]);
  }

  /**
   * Cuts off a body of the largest owner if it holds more than the requester, else a too slow body of the requester.
   * Returns false if there is none. Never cuts off the body that needs the room (`wanted`).
   */
  function makeRoom(asking: Credential, measure: Measure, wanted: Arriving | null): boolean {
    if (!bodies.anyArriving()) return false;
    const crowd = mostOf(holders.workspaces(), measure);
    const other = crowd !== null && crowd[measure] > asking.workspace[measure];
    const candidates = (other ? crowd : asking.workspace).credentials.values();
    const fuller = [...candidates].filter(
      (one) => one.arriving.size > 0 && one !== asking && (other || one[measure] > asking[measure]),
    );
    const [oldest] = mostOf(fuller, measure)?.arriving ?? [];
    const victim = oldest ?? [...asking.arriving].find((body) => body !== wanted && isHopeless(body));
    if (!victim) return false;
    cutOff(victim, 'others_need');
    return true;
  }

  /** Checks for a free permit and makes room if necessary. */
  function findPlace(asking: Credential): void {
    const now = performance.now();
    if (now >= shortUntil) shortUntil = 0;
    const below = isBelowShare(asking);
    if (all.places < most) {
      if (shortUntil > 0 && !below) refuse('full');
      return;
    }
    if (below) shortUntil = now + SHORT_FOR;
    if (makeRoom(asking, 'places', null)) return;
    if (!below || all.places >= most + Math.floor(most * SPARE_SHARE)) refuse('full');
  }

  function takeBytes(asking: Credential, bytes: number, wanted: Arriving | null): void {
    const spare = mostBytes * SPARE_SHARE;
    const limit = (): number => (asking.bytes + bytes <= spare / 2 ? mostBytes : mostBytes - spare);
    while (all.bytes + bytes > limit()) if (!makeRoom(asking, 'bytes', wanted)) refuse('full');
    add(asking, 'bytes', bytes);
  }

  const parts: PermitParts = { holders, bodies, takeBytes };
  return {
    held: () => ({ places: all.places, bytes: all.bytes }),
    enter(holder) {
      const asking = credentialOf(holder);
      if (all.places >= most || shortUntil > 0) {
        try {
          findPlace(asking);
        } catch (error) {
          // An owner that holds nothing is removed.
          add(asking, 'places', 0);
          throw error;
        }
      }
      // Making room may have removed this owner's last permit and thereby its entry.
      return openPermit(credentialOf(holder), parts);
    },
  };
}

type Holders = {
  /** Sums over all owners. */
  readonly all: Share;
  readonly workspaces: () => Iterable<Workspace>;
  readonly credentialOf: (holder: Holder) => Credential;
  /** Adds to the counts of a credential. Forgets a credential and a workspace that hold no place. */
  readonly add: (to: Credential, measure: keyof Share, by: number) => void;
  readonly isBelowShare: (credential: Credential) => boolean;
};

/** Counts what each workspace and credential holds. */
function createHolders(most: number): Holders {
  const workspaces = new Map<string, Workspace>();
  const all: Share = { places: 0, bytes: 0, slow: 0 };

  function credentialOf(holder: Holder): Credential {
    const workspace = workspaces.get(holder.workspace) ?? { ...NOTHING, credentials: new Map<string, Credential>() };
    workspaces.set(holder.workspace, workspace);
    const known = workspace.credentials.get(holder.credential);
    const credential = known ?? { ...NOTHING, workspace, holder, arriving: new Set() };
    workspace.credentials.set(holder.credential, credential);
    return credential;
  }

  function add(to: Credential, measure: keyof Share, by: number): void {
    to[measure] += by;
    to.workspace[measure] += by;
    all[measure] += by;
    if (to.places > 0) return;
    to.workspace.credentials.delete(to.holder.credential);
    if (to.workspace.credentials.size === 0) workspaces.delete(to.holder.workspace);
  }

  function isBelowShare({ workspace, places }: Credential): boolean {
    const share = most / workspaces.size;
    return workspace.places < share && places < share / workspace.credentials.size;
  }

  return { all, workspaces: () => workspaces.values(), credentialOf, add, isBelowShare };
}

type ArrivingBodies = {
  readonly anyArriving: () => boolean;
  readonly arrive: (body: Arriving) => void;
  /** Marks a body as no longer arriving. */
  readonly settle: (body: Arriving) => void;
};

/** Keeps the bodies that are arriving, and cuts off slow bodies. */
function createArrivingBodies(
  most: number,
  { add }: Holders,
  cutOff: (body: Arriving, why: AdmissionRefusal) => void,
): ArrivingBodies {
  /** Oldest first. */
  const arriving = new Set<Arriving>();
  let looking: NodeJS.Timeout | undefined;

  function arrive(body: Arriving): void {
    arriving.add(body);
    body.of.arriving.add(body);
    looking ??= setInterval(look, LOOK_EVERY).unref();
  }

  function settle(body: Arriving): void {
    arriving.delete(body);
    body.of.arriving.delete(body);
    if (body.slow) add(body.of, 'slow', -1);
    body.slow = false;
  }

  /** Checks bodies that have been arriving for a while. */
  function look(): void {
    const now = performance.now();
    for (const body of arriving) {
      const age = now - body.since;
      if (age < SLOW_AFTER) break;
      if (body.bytes < age * MIN_BYTES_PER_MS) cutOff(body, 'slow');
      else if (!body.slow) countSlow(body);
    }
    if (arriving.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  }

  function countSlow(body: Arriving): void {
    const { slow, workspace } = body.of;
    const allowed = (share: number): number => Math.max(1, Math.floor(most * share));
    if (slow >= allowed(SLOW_SHARE.credential) || workspace.slow >= allowed(SLOW_SHARE.workspace)) {
      cutOff(body, 'too_many_slow');
      return;
    }
    body.slow = true;
    add(body.of, 'slow', 1);
  }

  return { anyArriving: () => arriving.size > 0, arrive, settle };
}

type PermitParts = {
  readonly holders: Holders;
  readonly bodies: ArrivingBodies;
  readonly takeBytes: (asking: Credential, bytes: number, wanted: Arriving | null) => void;
};

/** Creates the permit of an admitted request and counts it against the credential until its release. */
function openPermit(mine: Credential, { holders, bodies, takeBytes }: PermitParts): Permit {
  holders.add(mine, 'places', 1);
  let body: Arriving | null = null;
  let bytesHeld = 0;
  let released = false;
  function release(): void {
    if (released) return;
    released = true;
    if (body) bodies.settle(body);
    holders.add(mine, 'bytes', -bytesHeld);
    holders.add(mine, 'places', -1);
  }
  return {
    release,
    arriving(cut) {
      body = { of: mine, since: performance.now(), cutOff: cut, release, bytes: 0, slow: false };
      bodies.arrive(body);
    },
    take(bytes) {
      // Bytes counted on a released permit would never be released.
      if (released) throw REFUSALS.others_need;
      takeBytes(mine, bytes, body);
      bytesHeld += bytes;
      if (body) body.bytes += bytes;
    },
    giveBack(bytes) {
      if (released) return;
      bytesHeld -= bytes;
      holders.add(mine, 'bytes', -bytes);
    },
    whole() {
      if (body) bodies.settle(body);
    },
  };
}

const NOTHING: Share = { places: 0, bytes: 0, slow: 0 };

const isHopeless = ({ since, bytes }: Arriving): boolean => {
  const age = performance.now() - since;
  return age >= HOPELESS_AFTER && bytes < age * MIN_BYTES_PER_MS;
};

function mostOf<One extends Share>(some: Iterable<One>, measure: Measure): One | null {
  let found: One | null = null;
  for (const one of some) if (found === null || one[measure] > found[measure]) found = one;
  return found;
}

const LATER = 'Nothing was appended; send it again.';
const tooSlow = (): CarillonError =>
  new CarillonError('request_timeout', 'After 2 s, a body must arrive at 1 KB/s or faster. Send it again.', {
    limit: '1 KB/s',
  });
/** One shared instance each: under a flood, capturing a stack per error cost more than the rest of the refusal. */
const REFUSALS: Readonly<Record<AdmissionRefusal, CarillonError>> = {
  full: new CarillonError('overloaded', `The gateway is full of events. ${LATER}`),
  others_need: new CarillonError(
    'overloaded',
    `The body was still incomplete while other requests were waiting. ${LATER}`,
  ),
  slow: tooSlow(),
  too_many_slow: new CarillonError('overloaded', `This sender has too many slow requests. ${LATER}`),
};
