import { CarillonError, type Duration } from '@carillon/kernel';

/** Whom a place is for. */
export type Holder = {
  readonly workspace: string;
  /** The credential that was shown; of what is not proved yet the address that it came from. */
  readonly credential: string;
};

/** What one request holds, from its head until the log answered. */
export type Permit = {
  /** Its body begins to arrive. Until it is whole, `cutOff` may be called, once, with what to answer. */
  arriving(cutOff: (refusal: CarillonError) => void): void;
  /**
   * Counts bytes of the body as they come. Throws `overloaded`, and counts nothing, when all bodies together would be too large, or
   * when the place was given back or taken away.
   */
  take(bytes: number): void;
  /** Bytes that were counted and are held no more. */
  giveBack(bytes: number): void;
  /** The body is whole: nobody takes the place away any more. */
  whole(): void;
  /** Gives all of it back; safe to call twice. */
  release(): void;
};

/**
 * Why somebody did not get or keep a place. `full`: all were taken, and whoever asked held as much as others or more; `others_need`:
 * cut off for somebody who held less; `slow`: less than the least speed; `too_many_slow`: more slow bodies than one may have.
 */
export type AdmissionRefusal = 'full' | 'others_need' | 'slow' | 'too_many_slow';

export type AdmissionControl = {
  /** Throws `overloaded` when there is none for this holder. */
  enter(holder: Holder): Permit;
  held(): { readonly places: number; readonly bytes: number };
};

export type AdmissionBounds = { readonly maxInFlightBytes: number; readonly maxInFlightRequests: number };

/** A body that has been arriving for so long counts as slow, and has to keep up the least speed. */
const SLOW_AFTER: Duration = 2000;
/** Bytes in a millisecond: 1 KB/s. */
const LEAST_SPEED = 1;
/** Shares of the places that slow bodies of one workspace, and of one credential, may hold. */
const SLOW_SHARE = { workspace: 0.2, credential: 0.1 } as const;
/**
 * Kept free for whoever holds little: places beside the others, for whoever holds less than its share, and a part of
 * the bytes, for whoever holds less than half of that part.
 */
const SPARE_SHARE = 1 / 8;
/** After somebody with less than its share found no place, those with more get no further one for so long. */
const SHORT_FOR: Duration = 1000;
/** When all is taken, a body of the same holder that is below the least speed makes room from this age on. */
const HOPELESS_AFTER: Duration = 250;
const LOOK_EVERY: Duration = 500;

type Share = { places: number; bytes: number; slow: number };
type Workspace = Share & { readonly credentials: Map<string, Credential> };
type Credential = Share & {
  readonly workspace: Workspace;
  readonly holder: Holder;
  /** The oldest first. */
  readonly arriving: Set<Arriving>;
};
type Arriving = {
  readonly of: Credential;
  readonly since: number;
  readonly cutOff: (refusal: CarillonError) => void;
  /** Gives the place back. */
  readonly release: () => void;
  bytes: number;
  slow: boolean;
};
type Measure = 'places' | 'bytes';

/**
 * Bounds the requests under way and the bytes of their bodies, counted as they arrive, and shares both where they are short. One
 * workspace or credential may take all places while nobody else asks. When somebody does who holds less than its share, it gets a
 * place all the same: whoever holds the most has a body cut off that is not whole yet, or there is a spare one; and those who hold
 * their share or more get none for a second. Bodies that are slow hold only a part of the places, whoever asks.
 */
export function createAdmissionControl(
  bounds: AdmissionBounds,
  refused: (why: AdmissionRefusal) => void = () => undefined,
): AdmissionControl {
  const { maxInFlightBytes: mostBytes, maxInFlightRequests: most } = bounds;
  const holders = createHolders(most);
  const { all, credentialOf, add, isBelowShare } = holders;
  const bodies = createArrivingBodies(most, holders, cutOff);
  /** 0: nobody was lately without a place that should have had one. */
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
   * Cuts off a body of whoever holds the most, if that is more than the one who asks, or else a body without hope of the one who
   * asks; false where there is none. The body that the room is `wanted` for is never cut off for itself.
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

  /** Looks whether one more place is there for a holder, and makes room for it where it has to. */
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
          // Whoever holds nothing is forgotten.
          add(asking, 'places', 0);
          throw error;
        }
      }
      // Room may have been made by the last place that this holder had: then it was forgotten meanwhile.
      return openPermit(credentialOf(holder), parts);
    },
  };
}

type Holders = {
  /** The sums of all holders. */
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
  /** Ends that the body of a place is arriving, whatever comes next. */
  readonly settle: (body: Arriving) => void;
};

/** Keeps the bodies that are arriving, and cuts off slow bodies. */
function createArrivingBodies(
  most: number,
  { add }: Holders,
  cutOff: (body: Arriving, why: AdmissionRefusal) => void,
): ArrivingBodies {
  /** The oldest first. */
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

  /** Looks at the bodies that have been arriving for a while. */
  function look(): void {
    const now = performance.now();
    for (const body of arriving) {
      const age = now - body.since;
      if (age < SLOW_AFTER) break;
      if (body.bytes < age * LEAST_SPEED) cutOff(body, 'slow');
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

/** Takes a place for a credential. */
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
      // Nobody would give back what a place takes that is itself given back.
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
  return age >= HOPELESS_AFTER && bytes < age * LEAST_SPEED;
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
/** One each for all: under a flood the stack of each took longer than all else that refusing does of its own. */
const REFUSALS: Readonly<Record<AdmissionRefusal, CarillonError>> = {
  full: new CarillonError('overloaded', `The gateway is full of events. ${LATER}`),
  others_need: new CarillonError(
    'overloaded',
    `The body was still incomplete while other requests were waiting. ${LATER}`,
  ),
  slow: tooSlow(),
  too_many_slow: new CarillonError('overloaded', `This sender has too many slow requests. ${LATER}`),
};
