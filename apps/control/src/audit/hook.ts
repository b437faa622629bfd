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

/** Maximum characters of texts in an entry. */
const LONGEST = { userAgent: 200, target: 300, detail: 1_000 } as const;

type HookPorts = Pick<ControlPorts, 'log' | 'codecs' | 'ids' | 'clock' | 'configuration'>;

/**
 * Refused sign-ins that are audited per minute, per address and in total, so that strangers cannot fill the permanent
 * log.
 */
export const REFUSED_SIGN_INS = { fromOne: 20, inAll: 200, span: 60_000 } as const;

/** Audit state of one request. */
type Auditing = {
  readonly id: string;
  /** True once a record precedes the change. */
  begun: boolean;
  /** True once the outcome record was written or failed. */
  ended: boolean;
  code: ErrorCode | null;
  /** Writes the record that precedes the change. */
  readonly start: () => Promise<void>;
  readonly each: (targets: readonly string[], change: () => Promise<void>) => Promise<void>;
};

/** Response headers with content of the response. */
const ANSWERED = ['set-cookie', 'content-disposition', 'etag', 'location'] as const;

const AUDITING = 'auditing';
const CONTENT_READS = 'contentReads';

/** Contents that a request is about to show. */
export type ContentRead = { readonly workspace: string; readonly target: string };

/**
 * Audits contents that a request shows only in some cases, such as a named event of the log. Call it before anything is
 * shown. Rejects if the log accepts no record.
 */
export async function auditContentRead(request: FastifyRequest, read: ContentRead): Promise<void> {
  const write = request.getDecorator<((read: ContentRead) => Promise<void>) | null>(CONTENT_READS);
  if (!write) throw new Error('the route is not audited');
  await write(read);
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const auditingOf = (request: FastifyRequest): Auditing | null => request.getDecorator<Auditing | null>(AUDITING);

/**
 * Writes the record that precedes a change by a person who was authorized by this request, such as with an invitation.
 * Invalid credentials write nothing. Rejects if the log accepts no record; the caller must then change nothing.
 */
export const beginAudit = async (request: FastifyRequest): Promise<void> => auditingOf(request)?.start();

/** Targets changed between two audit writes. */
const PART = 250;
/** Maximum targets with records of their own. A larger change is audited as one. */
export const MAX_TARGETS = 1_000;

/**
 * Changes several targets with a record before and after each, besides the records of the request. Rejects if the log
 * accepts no record.
 */
export async function auditEach<T>(
  request: FastifyRequest,
  things: readonly T[],
  targetOf: (thing: T) => string,
  change: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  const auditing = auditingOf(request);
  if (!auditing) throw new Error('the route declares no audit action');
  if (things.length > MAX_TARGETS) return change(things);
  for (let from = 0; from < things.length; from += PART) {
    const part = things.slice(from, from + PART);
    await auditing.each([...new Set(part.map(targetOf))], () => change(part));
  }
}

/**
 * Writes the audit records that routes added later declare (`config.audit`), and refusals by permission. A record is
 * stored before a change and another with the outcome before the response; for reads and sign-ins, one before the
 * response. If a record cannot be stored, the response is `audit_unavailable`: a change was then not made, and contents
 * are not shown.
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
          'the request may have taken effect; its start is in the audit log',
        );
      },
    };
    request.setDecorator<Auditing | null>(AUDITING, auditing);
    if (READING.has(request.method) || !principalIfAny(request)) return;
    await auditing.start();
  }

  /** Writes the outcome before the response is sent. */
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
    // A refusal before the action changed nothing. It is only audited for sign-ins, and rate-limited sign-ins were
    // audited before.
    const refusedEarly = statusCode >= 400 && !auditing.begun;
    // With a server error the request was not decided, so there is no refusal.
    const onlyRead = READING.has(request.method) && audit !== 'session.open';
    if (refusedEarly && (onlyRead || statusCode === 429 || statusCode >= 500)) return;
    auditing.ended = true;
    if (refusedEarly && !principalIfAny(request) && !isTold(request.ip, ports.clock.now())) return;
    const outcome: AuditOutcome = statusCode >= 500 ? 'failed' : statusCode >= 400 ? 'refused' : 'done';
    const published = publishedBy(request.id, ports.configuration.history);
    const entry = { ...entryOf(request, auditing.id, audit, outcome, auditing.code), ...published };
    const told = auditing.begun && outcome !== 'refused';
    await write(
      [entry],
      told ? 'the request may have taken effect; its start is in the audit log' : 'nothing was done',
    );
  }

  // Runs after the checks of parameters and body, whose refusals change nothing.
  app.addHook('preHandler', begin);
  app.addHook('onError', async (request, _reply, error) => {
    const auditing = auditingOf(request);
    const code = isCarillonError(error) ? error.code : 'internal';
    if (auditing) auditing.code = code;
    // Refused before the action, such as by the guard.
    else audited(request, { code });
  });
  app.addHook('onSend', async (request, reply, payload) => {
    try {
      await end(request, reply);
    } catch (error) {
      // Removes the original response, so that none of it is sent with the refusal.
      for (const header of ANSWERED) reply.removeHeader(header);
      if (payload instanceof Readable) payload.destroy();
      throw error;
    }
    return payload;
  });
}

/** Builds and writes the entries of requests. */
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
      // For several workspaces the route reports the right one.
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

/** Returns whether another refused sign-in is audited. */
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
