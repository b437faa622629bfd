import { isDeepStrictEqual } from 'node:util';
import { erasureListBody, erasureLookBody, erasurePage, erasureRequest } from '@carillon/contracts';
import { createErasureMatcher, wordsName, type Erasure } from '@carillon/domain/erasures';
import { hasEnded } from '@carillon/domain/jobs';
import { CarillonError, type DeliveryId, type Instant, type JobId } from '@carillon/kernel';
import type { ErasureFindings } from '@carillon/ports';
import { pause } from '@carillon/runtime';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { lacking } from '../../access/guard.ts';
import { principalOf } from '../../access/principal.ts';
import { EVERY_WORKSPACE, visibleScopeOf } from '../../access/visible-scope.ts';
import { audited, keyedTarget } from '../../audit/facts.ts';
import { stillUndecided, workOf } from '../../erasures/carry-out.ts';
import { listErasures } from '../../erasures/list.ts';
import { findPerson, type FoundPerson } from '../../erasures/find-person.ts';
import { createLongLooks } from '../../erasures/long-looks.ts';
import { showErasure } from '../../erasures/shown.ts';
import { workOfErasure } from '../../jobs/kinds/erase-person.ts';
import { startJob } from '../../jobs/start.ts';
import type { RoutePorts } from '../../ports.ts';
import { showingActors } from '../../resources/shown.ts';
import { acrossWorkspaces, paging, type ApiServer } from '../app.ts';

/** Looks at what is held of a person, erases it after a second request, and lists certificates. */
export function erasureRoutes(app: ApiServer, ports: RoutePorts): void {
  const looks = createLongLooks();
  app.post(
    '/v1/workspaces/:workspace/erasures',
    {
      config: {
        permission: 'people',
        across: true,
        audit: 'erasure.start',
        problems: ['not_found', 'conflict', 'wrong_state', 'no_room'],
      },
      schema: {
        operationId: 'erasePerson',
        tags: ['People'],
        summary:
          'Lists the data held about a person. With the checksum of that list, erases the data as a job. This cannot be undone',
        params: acrossWorkspaces,
        body: erasureRequest,
        response: { 200: erasureLookBody, 202: erasureLookBody },
      },
    },
    async (request, reply) => {
      const { person, reason, confirm } = request.body;
      const workspace = workspaceOf(request, request.params.workspace);
      audited(request, {
        target: keyedTarget(ports.ids, person),
        ...(confirm === undefined ? { what: 'erasure.look' as const } : { detail: reason }),
      });
      const { erasing } = ports;
      const found = await findPerson(person, workspace, ports);
      refuseNamingReason(reason, found, ports);
      const bytesUntil = await erasing.eraser.bytesUntil(ports.clock.now());
      const { subject } = found;
      const look = JSON.stringify([subject.workspace, subject.hashes.toSorted(), confirm ?? null]);
      const findings = await looks(look, () => erasing.eraser.find(workOf(subject, ports)));
      if (Object.keys(findings.counts).length === 0) {
        throw new CarillonError('not_found', 'nothing is held of this person; check the spelling and the workspace');
      }
      const shown = {
        found: { ...findings.counts },
        checksum: findings.checksum,
        shared_addresses: found.sharedAddresses,
        undecided: [...findings.undecided],
      };
      if (confirm === undefined) return { ...shown, erasure: null };
      if (confirm !== findings.checksum) {
        throw new CarillonError('conflict', 'what is held of this person has changed since the look: look again');
      }
      await refuseDoubts(findings, ports);
      await erasing.requireRoom();
      const erasure = await oneAtATime(request, ports, async () => {
        const begun = await findBegun(found, ports);
        return start(
          request,
          begun ?? (await insert(request, found, { counts: findings.counts, bytesUntil, reason }, ports)),
          ports,
        );
      });
      reply.code(202);
      return { ...shown, erasure: await showErasure(erasure, showingActors(ports)) };
    },
  );
  app.get(
    '/v1/workspaces/:workspace/erasures',
    {
      config: { permission: 'people', across: true },
      schema: {
        operationId: 'listErasures',
        tags: ['People'],
        summary: 'Erasures with their certificates, newest first. They name no person',
        params: acrossWorkspaces,
        querystring: z.strictObject({ ...paging }),
        response: { 200: erasurePage },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const workspace = workspaceOf(request, request.params.workspace);
      const page = await ports.erasures.list(workspace ?? undefined, limit, cursor);
      const show = showingActors(ports);
      return { items: await Promise.all(page.items.map((erasure) => showErasure(erasure, show))), next: page.next };
    },
  );
}

/** Lists all erasures as `carillon restore` takes them. */
export function erasureListRoute(app: ApiServer, ports: RoutePorts): void {
  app.get(
    '/v1/erasures',
    {
      config: { permission: 'people' },
      schema: {
        operationId: 'exportErasures',
        tags: ['People'],
        summary: 'The list of all erasures, which restore applies to a backup. It names no person',
        response: { 200: erasureListBody },
      },
    },
    () => listErasures(ports),
  );
}

/** Returns the workspace, or null for all. Throws CarillonError `forbidden_role` if all are named by somebody who does not own the deployment. */
function workspaceOf(request: FastifyRequest, named: string): string | null {
  if (named !== EVERY_WORKSPACE) return visibleScopeOf(request).workspace ?? named;
  if (!principalOf(request).may('people', null)) throw lacking(['people']);
  return null;
}

/** The reason stays for ever. */
function refuseNamingReason(reason: string, { subject }: FoundPerson, { ids }: Pick<RoutePorts, 'ids'>): void {
  const matcher = createErasureMatcher(subject, (...parts) => ids.keyed(...parts));
  if (!wordsName(reason, matcher)) return;
  throw new CarillonError('invalid_request', 'reason: leave the person out, because the reason is kept', {
    pointer: '/reason',
  });
}

async function refuseDoubts({ undecided }: ErasureFindings, { ledger }: Pick<RoutePorts, 'ledger'>): Promise<void> {
  const deliveries = await ledger.many(undecided.filter((id) => id.startsWith('dlv_')) as DeliveryId[]);
  const doubts = deliveries.filter(({ state }) => state === 'IN_DOUBT').map(({ id }) => id);
  if (doubts.length > 0) throw stillUndecided(doubts);
}

/** Erasures that are looked at for one of the same person under way. */
const NEWEST = 100;
const LEASE = 'start of an erasure';

/**
 * Returns an erasure of exactly this person that has no job, because a process ended before it stored one. Throws CarillonError `conflict` if
 * somebody is erasing the person.
 */
async function findBegun({ subject }: FoundPerson, { erasures, jobs }: RoutePorts): Promise<Erasure | null> {
  const { items } = await erasures.list(subject.workspace ?? undefined, NEWEST);
  let begun: Erasure | null = null;
  for (const erasure of items) {
    const { erasedAt, hashes, job, workspace } = erasure;
    if (erasedAt !== null || !hashes.some((hash) => subject.hashes.includes(hash))) continue;
    const known = await jobs.get(job);
    if (known && !hasEnded(known)) throw new CarillonError('conflict', `this person is being erased by ${job}`);
    const isSame = workspace === subject.workspace && isDeepStrictEqual(new Set(hashes), new Set(subject.hashes));
    if (!known && isSame) begun = erasure;
  }
  return begun;
}

/** How long a request may take to store an erasure that it has begun to store. */
const LEASE_MS = 10_000;
const LOOK_EVERY_MS = 50;

/** Runs the work while no other request of any process starts an erasure, so that of two for the same person one sees the other. */
async function oneAtATime<Value>(
  { id }: Pick<FastifyRequest, 'id'>,
  { leases, clock }: Pick<RoutePorts, 'leases' | 'clock'>,
  work: () => Promise<Value>,
): Promise<Value> {
  const until = performance.now() + LEASE_MS;
  while (!(await leases.acquire(LEASE, id, clock.now(), clock.now() + LEASE_MS))) {
    if (performance.now() > until) throw new CarillonError('conflict', 'another erasure is being started: try again');
    await pause(LOOK_EVERY_MS);
  }
  try {
    return await work();
  } finally {
    await leases.release(LEASE, id);
  }
}

type StartedErasure = Pick<ErasureFindings, 'counts'> & {
  readonly bytesUntil: Instant | null;
  readonly reason: string;
};

async function insert(
  request: FastifyRequest,
  { subject }: FoundPerson,
  { counts, bytesUntil, reason }: StartedErasure,
  { clock, erasures, ids }: RoutePorts,
): Promise<Erasure> {
  const { actor, name } = principalOf(request);
  const erasure: Erasure = {
    ...subject,
    id: ids.random('erasure'),
    job: ids.random('job') as JobId,
    reason,
    by: actor,
    byName: name,
    requestedAt: clock.now(),
    erasedAt: null,
    erased: counts,
    ...(bytesUntil !== null && { bytesUntil }),
    version: 1,
  };
  await erasures.insert(erasure);
  return erasure;
}

async function start(request: FastifyRequest, erasure: Erasure, ports: RoutePorts): Promise<Erasure> {
  const { id, job, workspace } = erasure;
  await startJob(request, { id: job, workspace, work: workOfErasure(id), items: [id] }, ports);
  audited(request, { target: id });
  return erasure;
}
