import type { EventStream } from '@carillon/domain/configuration';
import { CarillonError, readTraceparent } from '@carillon/kernel';
import { readIdempotencyKey, type EventIdentity, type PreparedAppend } from '@carillon/stages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressedStream, admit, type Admission } from './admission.ts';
import { MAX_BATCH_BYTES, takeBatch, type BatchForm } from './batches/batch-intake.ts';
import { cloudEventsForm } from './batches/cloud-events-form.ts';
import { linesForm } from './batches/lines-form.ts';
import { allowOrigin, answerPreflight } from './cross-origin.ts';
import { takeEnvelope } from './envelope-intake.ts';
import { EVENTS } from './events-path.ts';
import type { IntakeParts } from './intake-parts.ts';
import type { Permit } from './admission-control.ts';
import { createPartnerAlerts } from './partner-alerts.ts';
import type { GatewayPorts, RequestSpan } from './ports.ts';
import { strangerOf } from './intake-admission.ts';
import { prepareEvent, type ReceivedEvent } from './prepare-event.ts';
import { hasCloudEventHeaders, receiveBinaryCloudEvent, receiveCloudEvent } from './receive-cloud-event.ts';
import { checkDeclaredSize, eventFormOf, readBody, type EventForm } from './request-body.ts';
import { createStreamRates, type StreamRates } from './stream-rates.ts';
import { appendInTime } from './timed-append.ts';
import { isSigned } from './webhook-signature.ts';

type EventRequest = FastifyRequest<{ Params: { '*': string } }>;

/** A request that carries one event. */
type OneEvent = {
  readonly admission: Admission;
  readonly span: Pick<RequestSpan, 'traceparent' | 'event'>;
  readonly permit: Permit;
  readonly form: EventForm;
};

/** Request decorator that passes the admission from the hook to the handler. */
const ADMISSION = 'admission';

/**
 * Serves `POST /events/<EVENT_PATH>` (interfaces section 2), with checks in the order fixed there. Checks without body
 * run in a hook, because the framework inspects the body's type before the handler.
 */
export function serveEventIntake(app: FastifyInstance, ports: GatewayPorts, parts: IntakeParts): void {
  const { clock, telemetry } = ports;
  const { settings, intakeAdmission } = parts;
  app.decorateRequest(ADMISSION, null);
  const rates = createStreamRates();
  const alert = createPartnerAlerts(clock, (partner, detail) => telemetry?.partnerAlert(partner, detail));
  const streamAt = (path: string) => addressedStream(ports.configuration.current(), path);

  /** Throws synchronously for checks without body, so that refusing a flood is cheap. */
  function take(request: EventRequest, reply: FastifyReply): Promise<FastifyReply> {
    const admission = request.getDecorator<Admission | null>(ADMISSION);
    const given = readTraceparent(oneHeader(request, 'traceparent'));
    const started = telemetry?.startRequest(given, EVENTS);
    if (started) reply.raw.on('close', () => started.end(reply.raw.statusCode));
    const span = started ?? { traceparent: given, event: () => undefined };
    if (!admission || admission.stream.format === 'debezium') {
      if (!admission && !isSigned(request.headers))
        throw new CarillonError('internal', 'Internal error: the request was not authenticated.');
      const stream = admission?.stream ?? streamAt(request.params['*']);
      return takeEnvelope({ request, reply, admission, stream, span }, ports, { ...parts, rates, alert });
    }
    const form = eventFormOf(request.headers);
    const batch = batchFormOf(form, request, span.traceparent, settings.maxBodyBytes);
    checkDeclaredSize(request.headers, batch === null ? settings.maxBodyBytes : MAX_BATCH_BYTES);
    const permit = intakeAdmission.proved.enter({
      workspace: admission.stream.workspace,
      credential: admission.principal,
    });
    if (batch === null) return appendBody(request, reply, { admission, span, permit, form });
    return takeBatch(request, reply, { admission, permit, form: batch }, ports, { settings, rates });
  }

  async function appendBody(
    request: EventRequest,
    reply: FastifyReply,
    { admission, span, permit, form }: OneEvent,
  ): Promise<FastifyReply> {
    const { id, record } = await prepare(request, reply, { admission, span, permit, form });
    const { workspace, path: stream } = admission.stream;
    span.event({ id, workspace, stream });
    const startedAt = clock.now();
    await appendInTime(ports.log, [record], settings.appendDeadline, () => permit.release());
    telemetry?.appended(clock.now() - startedAt);
    telemetry?.accepted(stream, 1);
    return reply.code(202).header('cache-control', 'no-store').send({ id });
  }

  /** Reads and checks the body. On failure it releases the bytes and the permit. */
  async function prepare(
    request: EventRequest,
    reply: FastifyReply,
    { admission, span: { traceparent }, permit, form }: OneEvent,
  ): Promise<PreparedAppend> {
    try {
      const bytes = await readBody(request.raw, settings.maxBodyBytes, permit, reply.raw);
      const event =
        form === 'cloudevent' ? receiveCloudEvent(bytes, traceparent) : receiveJson(bytes, request, traceparent);
      return prepareEvent(event, admission, ports);
    } catch (error) {
      permit.release();
      throw error;
    }
  }

  app.removeAllContentTypeParsers();
  // A named type is found immediately; types that only `*` matches are parsed for each request.
  app.addContentTypeParser(['application/json', '*'], (_request, _payload, done) => done(null));
  app.post<{ Params: { '*': string } }>(
    EVENTS,
    { onRequest: createAdmissionHook(ports, { ...parts, rates }, streamAt) },
    (request, reply) => take(request, reply),
  );
  app.options<{ Params: { '*': string } }>(EVENTS, async (request, reply) =>
    answerPreflight(request, reply, streamAt(request.params['*'])),
  );
}

/** The hook that checks credential and rate of a request, before its body is read. */
function createAdmissionHook(
  ports: GatewayPorts,
  {
    freshness,
    keyUses,
    intakeAdmission,
    rates,
  }: Pick<IntakeParts, 'freshness' | 'keyUses' | 'intakeAdmission'> & { readonly rates: StreamRates },
  streamAt: (path: string) => EventStream | undefined,
) {
  const { configuration, clock } = ports;

  /** Waits only if necessary, because each promise costs every event extra microtasks. */
  function letIn(request: EventRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    const path = request.params['*'];
    allowOrigin(request, reply, streamAt(path));
    if (isSigned(request.headers)) {
      // The signer is only known after the body is read.
      void later(freshness.ensure(), done);
      return;
    }
    const check = (): Admission | Promise<Admission> => {
      const { authorization } = request.headers;
      const hold = (): Permit => intakeAdmission.unproved.enter(strangerOf(request, path.split('/')[0] ?? ''));
      return admit(configuration.current(), { path, authorization, now: clock.now(), hold }, ports);
    };
    const admission = freshness.isFresh() ? check() : freshness.ensure().then(check);
    if (admission instanceof Promise) {
      void later(
        admission.then((admitted) => enter(request, admitted)),
        done,
      );
      return;
    }
    enter(request, admission);
    done();
  }

  async function later(work: Promise<unknown>, done: (error?: Error) => void): Promise<void> {
    try {
      await work;
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }

  function enter(request: EventRequest, admission: Admission): void {
    const now = clock.now();
    if (admission.keyId !== null) keyUses.note(admission.keyId, now);
    rates.take(admission.stream, admission.principal, now);
    request.setDecorator<Admission | null>(ADMISSION, admission);
  }

  return letIn;
}

/** Returns how the items of a batch are read, or null if the request carries one event. */
function batchFormOf(
  form: EventForm,
  request: FastifyRequest,
  traceparent: string | null,
  maxBytes: number,
): BatchForm | null {
  if (form === 'lines') return linesForm(idempotencyKeyOf(request), traceparent, maxBytes);
  return form === 'cloudevents' ? cloudEventsForm(traceparent, maxBytes) : null;
}

/** Returns the event of a request with `application/json`: a CloudEvent in binary mode if its headers say so. */
function receiveJson(bytes: Uint8Array, request: FastifyRequest, traceparent: string | null): ReceivedEvent {
  const { headers } = request;
  if (hasCloudEventHeaders(headers)) return receiveBinaryCloudEvent(bytes, headers, traceparent);
  const identity = (): EventIdentity | null => {
    const key = idempotencyKeyOf(request);
    return key === null ? null : ['http', key];
  };
  return { bytes, identity, traceparent };
}

/** Returns the `Idempotency-Key`, or null if the request has none. Throws `invalid_idempotency_key`. */
function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = readIdempotencyKey(oneHeader(request, 'idempotency-key'));
  if (!key.ok) throw key.error;
  return key.value;
}

function oneHeader(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}
