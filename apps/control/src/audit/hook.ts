import { Readable } from 'node:stream';
import type { AuditEntry, AuditOutcome } from '@carillon/domain/audit';
import { CarillonError, isCarillonError, type ErrorCode, type Instant } from '@carillon/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { principalIfAny } from '../access/principal.ts';
import { EVERY_WORKSPACE } from '../access/visible-scope.ts';
import type { ControlPorts } from '../ports.ts';
import { createRate } from '../rate.ts';
import { onAudit } from './audit-log.ts';
import { audited, factsOf, prepareFacts } from './facts.ts';
import { publishedBy } from './published-by.ts';

/** More of a header or a name tells nobody more. */
const LONGEST = { userAgent: 200, target: 300, detail: 1_000 } as const;

type HookPorts = Pick<ControlPorts, 'log' | 'codecs' | 'ids' | 'clock' | 'configuration'>;

/**
 * Refused sign-ins that are told of in a minute, from one address and in all: strangers write no more than this on a log that is kept for
 * ever. More of them tell nobody more.
 */
export const REFUSED_SIGN_INS = { fromOne: 20, inAll: 200, span: 60_000 } as const;

/** What is known of the audit of one request. */
type Auditing = {
  readonly id: string;
  /** Whether a record stands before what the request does. */
  begun: boolean;
  /** Whether the record of the outcome was written, or could not be. */
  ended: boolean;
  code: ErrorCode | null;
  /** Writes the record that stands before what the request does. */
  readonly start: () => Promise<void>;
  readonly each: (targets: readonly string[], change: () => Promise<void>) => Promise<void>;
};

/** Headers that say or give something of what was answered. */
const ANSWERED = ['set-cookie', 'content-disposition', 'etag', 'location'] as const;

const AUDITING = 'auditing';
const CONTENT_READS = 'contentReads';

/** Contents that a request is about to show. */
export type ContentRead = { readonly workspace: string; readonly target: string };

/**
 * Writes the audit record of contents that a request shows in some cases only, as of an event on the log that it names. Call it before
 * anything is shown: it rejects where the log takes no record.
 */
export async function auditContentRead(request: FastifyRequest, read: ContentRead): Promise<void> {
  const write = request.getDecorator<((read: ContentRead) => Promise<void>) | null>(CONTENT_READS);
  if (!write) throw new Error('the route is not audited');
  await write(read);
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const auditingOf = (request: FastifyRequest): Auditing | null => request.getDecorator<Auditing | null>(AUDITING);

/**
 * Writes the record that stands before a change of somebody who proved by this very request to be allowed it, as by the word of an
 * invitation: nothing is written for whoever shows another word. Rejects where the log takes none; then nothing may be done.
 */
export const beginAudit = async (request: FastifyRequest): Promise<void> => auditingOf(request)?.start();

/** Targets that are changed between two writes of the audit. */
const PART = 250;
/** A change of more targets than this, such as a large file, is one change on the audit. */
export const MAX_TARGETS = 1_000;

/**
 * Makes a change of several things of which each is to be found on the audit: beside what is told of the request as a whole, of each target a
 * record stands before the change, and one that it was done behind it. Rejects where the log takes none.
 */
export async function auditEach<T>(
  request: FastifyRequest,
  things: readonly T[],
  targetOf: (thing: T) => string,
  change: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  const auditing = auditingOf(request);
  if (!auditing) throw new Error('the route declares no audit');
  if (things.length > MAX_TARGETS) return change(things);
  for (let from = 0; from < things.length; from += PART) {
    const part = things.slice(from, from + PART);
    await auditing.each([...new Set(part.map(targetOf))], () => change(part));
  }
}

/**
 * Writes what the routes that are added after this declare (`config.audit`), and what their permissions refuse. A record stands on the log before
 * anything is changed, and one with the outcome before the answer goes out; of what is only shown, and of a sign-in, one before the answer. Where a
 * record cannot be written the answer is `audit_unavailable`: before a change nothing was done, and what was to be shown is not shown.
 */
export function auditRequests(app: FastifyInstance, ports: HookPorts): void {
  prepareFacts(app);
  app.decorateRequest(AUDITING, null);
  app.decorateRequest(CONTENT_READS, null);
  const isTold = refusedSignIns();
  const { entryOf, write } = createEntryWriter(ports);

  const contentReads = (request: FastifyRequest) => async (read: ContentRead) => {
    const entry = entryOf(request, ports.ids.random('audit'), 'content.read', 'done', null);
    await write([{ ...entry, ...read }], 'nothing was shown');
  };

  async function begin(request: FastifyRequest): Promise<void> {
    request.setDecorator(CONTENT_READS, contentReads(request));
    const { audit, auditTarget, auditAs } = request.routeOptions.config;
    if (audit === undefined || audit === false) return;
    if (auditTarget) audited(request, { target: auditTarget(request) });
    if (auditAs) audited(request, { what: await auditAs(request) });
    const id = ports.ids.random('audit');
    const auditing: Auditing = {
      id,
      begun: false,
      ended: false,
      code: null,
      async start() {
        await write([entryOf(request, id, audit, 'begun', null)], 'nothing was done');
        auditing.begun = true;
      },
      async each(targets, change) {
        const begun = targets.map((target): AuditEntry => {
          const entry = entryOf(request, ports.ids.random('audit'), audit, 'begun', null);
          return { ...entry, target, before: null, after: null };
        });
        await write(begun, 'nothing is done without an audit entry');
        await change();
        const at = ports.clock.now();
        await write(
          begun.map((entry) => ({ ...entry, at, outcome: 'done' })),
          'it may have been done; that it was begun is on the audit',
        );
      },
    };
    request.setDecorator<Auditing | null>(AUDITING, auditing);
    if (READING.has(request.method) || !principalIfAny(request)) return;
    await auditing.start();
  }

  /** Before the answer: what came of it. */
  async function end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { audit } = request.routeOptions.config;
    const { statusCode } = reply;
    const auditing = auditingOf(request);
    if (auditing?.ended === true) return;
    if (statusCode === 403 && principalIfAny(request) && auditing?.begun !== true) {
      const id = auditing?.id ?? ports.ids.random('audit');
      request.setDecorator<Auditing | null>(AUDITING, {
        id,
        begun: false,
        ended: true,
        code: 'forbidden_role',
        start: async () => undefined,
        each: async () => undefined,
      });
      const target = `${request.method} ${request.routeOptions.url ?? ''}`;
      const refused = entryOf(request, id, 'access.refused', 'refused', auditing?.code ?? 'forbidden_role');
      await write([{ ...refused, target }], 'the request was refused');
      return;
    }
    if (!auditing || audit === undefined || audit === false) return;
    // What was refused before it began changed nothing. Of a sign-in that is the news; whoever is told to wait was told of already.
    const refusedEarly = statusCode >= 400 && !auditing.begun;
    // Nobody was refused anything where the server had no time to look.
    const onlyRead = READING.has(request.method) && audit !== 'session.open';
    if (refusedEarly && (onlyRead || statusCode === 429 || statusCode >= 500)) return;
    auditing.ended = true;
    if (refusedEarly && !principalIfAny(request) && !isTold(request.ip, ports.clock.now())) return;
    const outcome: AuditOutcome = statusCode >= 500 ? 'failed' : statusCode >= 400 ? 'refused' : 'done';
    const published = publishedBy(request.id, ports.configuration.history);
    const entry = { ...entryOf(request, auditing.id, audit, outcome, auditing.code), ...published };
    const told = auditing.begun && outcome !== 'refused';
    await write([entry], told ? 'it may have been done; that it was begun is on the audit' : 'nothing was done');
  }

  // Behind the checks of parameters and body: what they refuse changed nothing and began nothing.
  app.addHook('preHandler', begin);
  app.addHook('onError', async (request, _reply, error) => {
    const auditing = auditingOf(request);
    const code = isCarillonError(error) ? error.code : 'internal';
    if (auditing) auditing.code = code;
    // Refused before anything could begin, as by the guard.
    else audited(request, { code });
  });
  app.addHook('onSend', async (request, reply, payload) => {
    try {
      await end(request, reply);
    } catch (error) {
      // What was to be answered is not: nothing of it goes out with the refusal, and nobody reads it.
      for (const header of ANSWERED) reply.removeHeader(header);
      if (payload instanceof Readable) payload.destroy();
      throw error;
    }
    return payload;
  });
}

/** Makes and writes the entries of requests. */
function createEntryWriter(ports: HookPorts) {
  async function write(entries: readonly AuditEntry[], otherwise: string): Promise<void> {
    try {
      await ports.log.append(entries.map((entry) => onAudit(entry, ports.codecs)));
    } catch (error) {
      throw new CarillonError(
        'audit_unavailable',
        `the audit record could not be written: ${otherwise}; check the result before you send the request again`,
        { retryAfter: 1000 },
        { cause: error },
      );
    }
  }

  function entryOf(
    request: FastifyRequest,
    id: string,
    what: AuditEntry['what'],
    outcome: AuditOutcome,
    code: ErrorCode | null,
  ): AuditEntry {
    const facts = factsOf(request);
    const { workspace = null, id: ofPath, name = ofPath } = request.params as Readonly<Record<string, string>>;
    return {
      kind: 'entry',
      id,
      at: ports.clock.now(),
      actor: facts.actor ?? principalIfAny(request)?.actor ?? null,
      what: facts.what ?? what,
      target: (facts.target ?? name)?.slice(0, LONGEST.target) ?? null,
      // In the place of several: the route says whose it was, once it has looked.
      workspace: facts.workspace ?? (workspace === EVERY_WORKSPACE ? null : workspace),
      from: {
        address: request.ip,
        userAgent: request.headers['user-agent']?.slice(0, LONGEST.userAgent) ?? null,
      },
      requestId: request.id,
      number: null,
      before: facts.before ?? null,
      after: facts.after ?? null,
      detail: facts.detail?.slice(0, LONGEST.detail) ?? null,
      outcome,
      code: facts.code ?? code,
    };
  }

  return { entryOf, write };
}

/** Whether one more refused sign-in is told of. */
function refusedSignIns(): (address: string, now: Instant) => boolean {
  const { fromOne, inAll, span } = REFUSED_SIGN_INS;
  const what = 'refused sign-ins on the audit';
  const [ofOne, ofAll] = [createRate({ what, most: fromOne, span }), createRate({ what, most: inAll, span })];
  return (address, now) => {
    try {
      ofOne.take(address, now);
      ofAll.take('all', now);
      return true;
    } catch {
      return false;
    }
  };
}
