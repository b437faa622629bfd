import { setTimeout as pause } from 'node:timers/promises';
import { canonical } from '@carillon/domain/configuration';
import { CarillonError, type Duration } from '@carillon/kernel';
import type { IdempotentRequest } from '@carillon/ports';
import { readIdempotencyKey } from '@carillon/stages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { maskedFor } from '../access/masking/mask-answers.ts';
import { principalIfAny } from '../access/principal.ts';
import type { ControlPorts } from '../ports.ts';
import { takesKey } from './declaration.ts';

/** Time for which a repeated request gets the stored response. */
export const ANSWERS_KEPT: Duration = 24 * 3_600_000;
/** A request that was begun longer ago than this is not carried out any more: whoever did died, or was not heard. */
const UNDER_WAY: Duration = 60_000;
/** A repetition waits for the first one a moment: it may end in the next. */
const WAITING = { times: 40, each: 100 } as const;
/**
 * Maximum size of a response that is stored for an idempotency key. Of a longer response only its completion is stored.
 */
const MAX_ANSWER = 1024 * 1024;

/** Response headers stored besides the body, because clients may need them. */
const KEPT_HEADERS = ['content-type', 'etag', 'location'] as const;
/** Says that the answer is that of an earlier request. */
export const REPLAYED_HEADER = 'idempotent-replayed';

type Ports = Pick<ControlPorts, 'idempotency' | 'answerSealer' | 'ids' | 'clock' | 'watch'>;
type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};
type Held = { readonly kept: IdempotentRequest; begun: boolean; settled: boolean };

const HELD = 'heldRequest';
const heldOf = (request: FastifyRequest): Held | null => request.getDecorator<Held | null>(HELD);

const underWay = (since: Duration): CarillonError =>
  since < UNDER_WAY
    ? new CarillonError(
        'request_begun',
        'a request with this Idempotency-Key is in progress: send it again in a second to get its response',
        { retryAfter: 1_000 },
      )
    : new CarillonError(
        'request_begun',
        'a request with this Idempotency-Key was started and its outcome is unknown: check whether it took effect, and if not, send it with a new key',
      );

/**
 * Replays the first response for a repeated `Idempotency-Key`, on all writing routes added later. Keys belong to a
 * principal and operation. Runs before the audit hook, and `keepAnswers` after it: a request refused in between has
 * done nothing and stores nothing.
 */
export function answerRepeats(app: FastifyInstance, ports: Ports): void {
  const { idempotency, answerSealer, ids, clock } = ports;
  app.decorateRequest(HELD, null);

  function requestOf(request: FastifyRequest, key: string): IdempotentRequest | null {
    const actor = principalIfAny(request)?.actor;
    if (!actor) return null;
    const { method, url, headers, body, routeOptions } = request;
    const { 'if-match': match = '', 'if-none-match': noneMatch = '' } = headers;
    const now = clock.now();
    return {
      id: ids.keyed('repeated request', actor.kind, actor.id, method, routeOptions.url ?? '', key),
      // Keyed, for a body may hold a secret that could be guessed.
      fingerprint: ids.keyed('repeated body', url, match, noneMatch, canonical(body ?? null)),
      token: ids.token(),
      begunAt: now,
      endsAt: now + ANSWERS_KEPT,
      answer: null,
    };
  }

  /**
   * Returns the first request with this key, once it has ended or the waiting time is over. Null if it was forgotten.
   */
  async function settledRequest(first: IdempotentRequest): Promise<IdempotentRequest | null> {
    let seen: IdempotentRequest | null = first;
    for (let times = 0; seen && seen.answer === null && times < WAITING.times; times += 1) {
      if (clock.now() - seen.begunAt >= UNDER_WAY) return seen;
      await pause(WAITING.each);
      seen = await idempotency.find(first.id);
    }
    return seen;
  }

  app.addHook('preHandler', async (request, reply) => {
    const { 'idempotency-key': header } = request.headers;
    if (header === undefined || !takesKey(request.routeOptions)) return undefined;
    const key = readIdempotencyKey(String(header));
    if (!key.ok) throw key.error;
    const mine = requestOf(request, key.value ?? '');
    if (!mine) return undefined;
    for (;;) {
      const first = await idempotency.begin(mine, mine.begunAt);
      if (first.token === mine.token) {
        request.setDecorator<Held | null>(HELD, { kept: mine, begun: false, settled: false });
        return undefined;
      }
      if (first.fingerprint !== mine.fingerprint) {
        throw new CarillonError(
          'idempotency_mismatch',
          'this Idempotency-Key was used with another path, body or precondition within 24 hours: use a new key for a new request',
        );
      }
      const settled = await settledRequest(first);
      if (!settled) continue;
      if (settled.answer === null) throw underWay(clock.now() - settled.begunAt);
      return replay(settled, settled.answer, request, reply);
    }
  });

  function replay(
    { id }: IdempotentRequest,
    sealed: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply {
    const text = answerSealer.open([id], sealed);
    const answer = text === null ? null : (JSON.parse(text) as Answer);
    if (answer?.body === undefined || answer.body === null) {
      throw new CarillonError(
        'request_begun',
        'the request took effect, and its response was not stored: read the result',
      );
    }
    return reply
      .code(answer.status)
      .headers({ ...answer.headers, [REPLAYED_HEADER]: 'true' })
      .send(Buffer.from(shownNow(request, answer, answer.body)));
  }
}

/** Masks the stored response with the caller's current permissions, because they may have lost a role. */
function shownNow(request: FastifyRequest, { status, headers }: Answer, body: string): string {
  if (headers['content-type']?.startsWith('application/json') !== true) return body;
  return JSON.stringify(maskedFor(request, status, JSON.parse(body)));
}

/** Keeps the answers of what `answerRepeats` has let through; goes behind everything that may still refuse. */
export function keepAnswers(app: FastifyInstance, { idempotency, answerSealer, watch }: Ports): void {
  app.addHook('preHandler', async (request) => {
    const held = heldOf(request);
    if (held) held.begun = true;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const held = heldOf(request);
    if (!held || held.settled) return payload;
    held.settled = true;
    const { id, token } = held.kept;
    const { statusCode } = reply;
    try {
      if (!held.begun || (statusCode >= 400 && statusCode < 500)) await idempotency.forget(id, token);
      // A server error may have left partial effects, so a repeat gets an error instead of running again.
      else if (statusCode < 400) await idempotency.finish(id, token, seal(id, reply, payload));
    } catch (error) {
      // The action happened, but its response is lost, so a repeat learns that the result is unknown.
      watch.trouble('keep an answer', error);
    }
    return payload;
  });

  function seal(id: string, reply: FastifyReply, payload: unknown): string {
    const body = typeof payload === 'string' ? payload : Buffer.isBuffer(payload) ? payload.toString('utf8') : null;
    const given = KEPT_HEADERS.map((name) => [name, reply.getHeader(name)] as const);
    const answer: Answer = {
      status: reply.statusCode,
      headers: Object.fromEntries(
        given.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
      ),
      body: body !== null && body.length <= MAX_ANSWER ? body : null,
    };
    return answerSealer.seal([id], JSON.stringify(answer));
  }
}
