import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery } from '@carillon/domain/deliveries';
import { messageOf } from '@carillon/kernel';
import type { Change } from '../../harness/planting.ts';
import { untilFound } from '@carillon/testing';
import { freePorts } from '@carillon/testing/services';
import type { Cut, Kill } from '../cuts.ts';
import type { Evidence } from '../../harness/evidence.ts';
import { startOutsideServers, type OutsideServers } from '../outside-servers.ts';
import { createPosts } from '../posts.ts';
import { readBooks } from '../providers.ts';
import { openShop, type Neighbours } from '../shop.ts';
import type { Patience } from '../settle.ts';
import type { Finding } from '../../harness/promises.ts';
import { findLate, judge } from '../verdict.ts';
import {
  caseName,
  goesMissing,
  leavesALease,
  losesACall,
  losesAnAnswer,
  mayCutACall,
  situationOf,
  type FailpointCase,
} from './cases.ts';
import { armFailpoint, failpointEnvironment, whoFailed } from './arming.ts';
import type { OpenPatient, Patient } from './patient.ts';
import type { Floor, Scene } from './orders.ts';
import { prepare } from './situations.ts';

export type LabOptions = {
  readonly open: OpenPatient;
  /** How long a stopped process is held. */
  readonly held: number;
  /** Whether a case that leaves a lease behind is waited for before the next one begins, and not only in the end. */
  readonly waitsForLeases: boolean;
  /** What the shop wants of a message of which nobody knows whether it was taken; left out: it is held. */
  readonly inDoubt?: Neighbours['inDoubt'];
  /** For what is still to be done in the end. */
  readonly patience?: Patience;
  /** Environment of the product: how bugs are planted. */
  readonly bugs?: readonly Change[];
};

/** How one case ended. */
export type CaseEnd = {
  readonly case: FailpointCase;
  /** The process came to the place and failed there. */
  readonly reached: boolean;
  /** The process that did; empty where none did. */
  readonly who: string;
  /** State and reason of the delivery in the end. */
  readonly state: string;
  /** Messages that the mail server took for it. */
  readonly messages: number;
};

export type LabReport = {
  readonly ends: readonly CaseEnd[];
  readonly findings: readonly Finding[];
  readonly stderr: string;
};

/** One product for all cases: what one leaves behind the next one finds, as in a life. */
export type Laboratory = {
  /** Lets the product fail there, brings it back, and waits for the end of what was under way. */
  run(one: FailpointCase): Promise<void>;
  /** Lets the product fail there, and kills it as soon as what was posted is acknowledged. */
  runAndKill(one: FailpointCase): Promise<void>;
  /** Stops the product when nothing is open, and holds what was promised against what is there. */
  finish(): Promise<LabReport>;
  close(): Promise<void>;
};

const CALM_MAIL = { latency: 5 };
const CALM_PARTNER = { throttled: 0, unavailable: 0, neverAnswered: 0, latency: 5 };
/** Longer than any lease, and than eight tries of an account that was put off so often that it is probed every 30 s only. */
const OVER_WITHIN = 300_000;
/** Between two looks a write that was seen has passed its place. */
const QUIET_LOOKS = 2;
const QUIET_LOOKS_EVERY = 50;
const QUIET_WITHIN = 60_000;

type Logs = ReturnType<Patient['logs']>;

type Done = {
  readonly case: FailpointCase;
  readonly subject: string;
  readonly who: string | null;
  /** When it failed, from when it could: from the order to the line that says so. Of a stop also when it went on. */
  readonly moments: readonly Cut[];
};

type Parts = { readonly servers: OutsideServers; readonly bouncesPort: number; readonly patient: Patient };

export async function openLaboratory(options: LabOptions): Promise<Laboratory> {
  const servers = await startOutsideServers({ seed: 1, smtp: CALM_MAIL, partner: CALM_PARTNER });
  const [bouncesPort = 0] = await freePorts(1);
  let patient: Patient | undefined;
  const close = async (): Promise<void> => {
    await patient?.close();
    await servers.stop();
  };
  try {
    const env = { ...failpointEnvironment(servers, options.bugs), CARILLON_BOUNCES_LISTEN: `127.0.0.1:${bouncesPort}` };
    patient = await options.open({ folder: servers.folder, env });
    return { ...(await createLaboratory(options, { servers, bouncesPort, patient })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A laboratory at work: what was done and found so far. */
type Run = {
  readonly options: LabOptions;
  readonly parts: Parts;
  readonly floor: Floor;
  readonly firstMembers: ReturnType<typeof createPosts>['firstMembers'];
  readonly done: Done[];
  /** When everybody was killed, whatever they were doing. */
  readonly kills: Cut[];
  /** What was never taken, however often it was said, or never over. */
  readonly untaken: Finding[];
};

async function createLaboratory(options: LabOptions, parts: Parts): Promise<Omit<Laboratory, 'close'>> {
  const { servers, bouncesPort, patient } = parts;
  const { folder, smtp, partner, providers } = servers;
  const { lives } = patient;
  await patient.ready();
  const { inDoubt } = options;
  const neighbours: Neighbours = { ...servers.neighbours, ...(inDoubt && { inDoubt }) };
  const keys = await openShop(folder, join(folder, 'data'), neighbours);
  const { firstSync, firstMembers } = createPosts({ seed: 1, keys });
  for (const page of firstSync) await lives.say(page);
  // What a start compiles is kept when the process ends by itself.
  await patient.restart();

  const promises = { acknowledged: [], changes: [], judgedFrom: [], fates: [] };
  const floor: Floor = { lives, keys, neighbours, partner, smtp, providers, bouncesPort, promises };
  const lab: Run = { options, parts, floor, firstMembers, done: [], kills: [], untaken: [] };
  return {
    run: (one) => runCase(lab, one),
    runAndKill: (one) => runCaseAndKill(lab, one),
    finish: () => report(lab),
  };
}

/** Waits until nothing is under way that could come to the place instead of what is to be done next. */
async function comeToQuiet({ parts: { patient }, untaken }: Run, one: FailpointCase): Promise<void> {
  let quiet = 0;
  await untilFound(
    'quiet before a failure',
    async () => {
      // Killed and just started, its stores may not answer yet.
      const left = await patient.unsettled().catch(messageOf);
      quiet = left.length === 0 ? quiet + 1 : 0;
      if (quiet === QUIET_LOOKS) return true;
      await pause(QUIET_LOOKS_EVERY);
      return undefined;
    },
    QUIET_WITHIN,
  ).catch((error: unknown) => untaken.push({ kind: 'stuck', what: `${caseName(one)}: ${messageOf(error)}` }));
}

/** Returns the process that came to the place and failed there, or null. */
async function failing({ parts: { servers, patient } }: Run, one: FailpointCase, said: Logs): Promise<string | null> {
  const who = await whoFailed(patient, one, said);
  await armFailpoint(servers.folder, '');
  return who;
}

/** What is shown of the deliveries of a case: how each stands. */
const shownOf = async (scene: Scene): Promise<string> =>
  (await scene.deliveries()).map(({ id, state }) => `${id} ${state}`).join();

/** Whoever was held goes on with what it had in mind. */
async function wake({ parts: { patient } }: Run): Promise<Cut> {
  const from = Date.now();
  await patient.revive('stop');
  return { from, until: Date.now() };
}

/**
 * Held still for longer than it may be. Where another process is there for it, that one finishes what was begun, and
 * what this one writes when it wakes changes nothing, but that it knows the answer which nobody else could hear.
 * Answers when it went on.
 */
async function hold(lab: Run, one: FailpointCase, who: string, scene: Scene, acting: Promise<void>): Promise<Cut> {
  const {
    options,
    parts: { patient },
    untaken,
  } = lab;
  const held = pause(options.held);
  if (!patient.hasTwin(who)) {
    await held;
    return wake(lab);
  }
  const found = (what: string): void => void untaken.push({ kind: 'stuck', what: `${caseName(one)}: ${what}` });
  await acting;
  const takenOver = async () => (await scene.isOver()) || undefined;
  await untilFound('what was begun, by another process', takenOver, OVER_WITHIN).catch((error: unknown) =>
    found(`while ${who} is held: ${messageOf(error)}`),
  );
  await held;
  const before = await shownOf(scene);
  const woke = await wake(lab);
  await comeToQuiet(lab, one);
  const after = await shownOf(scene);
  if (after !== before && !(mayCutACall(one) && before.includes('IN_DOUBT'))) {
    found(`${who} woke, and made ${after} of ${before}`);
  }
  return woke;
}

/** Answers when what was to be said is acknowledged, and the failure is over. */
async function begin(lab: Run, one: FailpointCase): Promise<Scene> {
  const {
    floor,
    done,
    untaken,
    parts: { servers, patient },
  } = lab;
  await patient.ready();
  await comeToQuiet(lab, one);
  const situation = situationOf(one);
  const scene = await prepare(one, done.length, floor);
  // What is to be cancelled is tried all the while, and not for long: nobody else comes to its place.
  if (situation !== 'cancelled') await comeToQuiet(lab, one);
  const said = patient.logs();
  const from = Date.now();
  await armFailpoint(servers.folder, `${one.at}:${one.nth ?? 1}:${one.action}`);
  const acting = scene.act().catch((error: unknown) => {
    untaken.push({ kind: 'stuck', what: `${caseName(one)}: ${messageOf(error)}` });
  });
  const who = await failing(lab, one, said);
  const moments: Cut[] = who === null ? [] : [{ from, until: Date.now() }];
  if (who !== null && one.action === 'stop') {
    moments.push(await hold(lab, one, who, scene, acting));
  } else if (who !== null) await patient.revive(one.action);
  done.push({ case: one, subject: scene.subject, who, moments });
  await acting;
  return scene;
}

/** Lets the product fail at a place, and waits for the end of what was under way. */
async function runCase(lab: Run, one: FailpointCase): Promise<void> {
  const { options, untaken } = lab;
  const scene = await begin(lab, one);
  if (leavesALease(one) && !options.waitsForLeases) return;
  const since = Date.now();
  // In this life: what a start would set right again stands still until then.
  await untilFound(caseName(one), async () => (await scene.isOver()) || undefined, OVER_WITHIN).catch(
    (error: unknown) => untaken.push({ kind: 'stuck', what: `${caseName(one)}: ${messageOf(error)}` }),
  );
  // A message that is put off at each try is a fault that goes on: its account is probed every 30 s. One that is refused
  // rests for a minute.
  if (situationOf(one) !== 'never' && situationOf(one) !== 'astray')
    untaken.push(...findLate(Date.now() - since, `${caseName(one)}: over`));
}

/** Lets the product fail at a place, and kills all processes as soon as the failure is over. */
async function runCaseAndKill(lab: Run, one: FailpointCase): Promise<void> {
  await begin(lab, one);
  const from = Date.now();
  await lab.parts.patient.killAll();
  lab.kills.push({ from, until: Date.now() });
}

/** Lets the product come to rest, and holds what was promised against what is there. */
async function report({ options, parts, firstMembers, floor, done, kills, untaken }: Run): Promise<LabReport> {
  const { servers, patient } = parts;
  const { smtp, partner, providers } = servers;
  const { evidence, settledAfter, leftOpen } = await patient.rest(floor.promises, options.patience ?? {});
  const died = patient.deaths().map((what): Finding => ({ kind: 'stuck', what: `nobody killed it: ${what}` }));
  const { mail, sends } = await readBooks(smtp, providers, evidence);
  const spans = (isMeant: (one: FailpointCase) => boolean): readonly Cut[] =>
    done.filter((one) => isMeant(one.case)).flatMap(({ moments }) => moments);
  const reported = done.filter((one) => situationOf(one.case) === 'reported');
  const course = {
    ...floor.promises,
    firstMembers,
    mail,
    atKills: { sends, kills: [...kills, ...killsOf(done, floor, evidence)] },
    answersLost: spans(losesAnAnswer).map((span) => ({ ...span, most: 1 })),
    partner: { calls: partner.calls, cuts: [...kills, ...spans((one) => goesMissing(one) || losesACall(one))] },
    settledAfter,
    leftOpen,
    // What has to come of a report is a fate; nothing else is DELIVERED. The unique id of an order is its subject.
    reports: { answered: new Set<string>(), said: new Set(reported.map(({ subject }) => subject)) },
  };
  return {
    findings: [...untaken, ...died, ...judge(course, evidence), ...misjudged(floor, evidence)],
    ends: done.map((one) => ({
      case: one.case,
      reached: one.who !== null,
      who: one.who ?? '',
      state: stateOf(one.subject, floor, evidence),
      messages: mail.filter(({ subject }) => subject === one.subject).length,
    })),
    stderr: [...patient.logs()].map(([name, log]) => `--- ${name}\n${log}`).join(''),
  };
}

/** An event that came after a change of the configuration was answered is judged by it, or by a later one. */
const misjudged = ({ promises }: Floor, { intents }: Evidence): readonly Finding[] =>
  promises.judgedFrom.flatMap(({ eventId, number }): Finding[] => {
    const found = intents.find((intent) => intent.eventId === eventId);
    return !found || found.configNumber >= number
      ? []
      : [
          {
            kind: 'untrue',
            what: `${eventId} came after ${number} was published, and is judged by ${found.configNumber}`,
          },
        ];
  });

/** When processes went, or were held and woke: what their own message was doing then the place of the case says. */
const killsOf = (done: readonly Done[], floor: Floor, evidence: Evidence): readonly Kill[] =>
  done
    .filter((one) => goesMissing(one.case))
    .flatMap(({ case: failed, subject, moments }) => {
      const own = mayCutACall(failed) ? undefined : deliveryOf(subject, floor, evidence)?.id;
      return moments.map((span) => ({ ...span, ...(own !== undefined && { spares: own }) }));
    });

function deliveryOf(subject: string, { promises }: Floor, evidence: Evidence): Delivery | undefined {
  const change = evidence.changes.find(({ kind, user }) => `${kind}/${user}` === subject);
  const eventId = change?.eventId ?? promises.acknowledged.find((event) => event.subject === subject)?.eventId;
  const intent = evidence.intents.find((one) => one.eventId === eventId);
  return evidence.deliveries.find(({ judged }) => intent !== undefined && judged.includes(intent.id));
}

/** In one word or two what became of the message. */
function stateOf(subject: string, floor: Floor, evidence: Evidence): string {
  const delivery = deliveryOf(subject, floor, evidence);
  return delivery ? `${delivery.state} ${delivery.reason}` : '';
}
