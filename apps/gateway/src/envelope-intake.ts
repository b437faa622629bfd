import { ENVELOPE_LIMITS, readDebezium } from '@carillon/domain/changes';
import { CarillonError, ERRORS, type ErrorCode, type EventId } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { prepareEnvelope, refusedEnvelope, type ChangeResult } from '@carillon/stages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from './admission.ts';
import type { IntakeParts } from './intake-parts.ts';
import type { GatewayPorts, RequestSpan } from './ports.ts';
import type { ProvedBody } from './proved-body.ts';
import { checkDeclaredSize, checkMediaType, readBody } from './request-body.ts';
import { readSignedRequest, type SigningParts } from './signed-request.ts';
import { appendInTime } from './timed-append.ts';
import { checkClaims } from './tokens.ts';

/** A request to a stream of format debezium. `admission` is null if its signature has to be checked first. */
export type EnvelopeRequest = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly admission: Admission | null;
  readonly stream: Admission['stream'] | undefined;
  readonly span: Pick<RequestSpan, 'traceparent' | 'event'>;
};

type Parts = Pick<IntakeParts, 'settings'> & SigningParts;

const UNKNOWN = 'It is unknown whether the envelope was stored. Send it again: a repeated change counts once.';

/** Appends the change in a request. */
export async function takeEnvelope(
  { request, reply, admission, stream, span }: EnvelopeRequest,
  ports: GatewayPorts,
  parts: Parts,
): Promise<FastifyReply> {
  const { clock, log, telemetry } = ports;
  checkDeclaredSize(request.headers, ENVELOPE_LIMITS.bytes);
  const body =
    admission === null
      ? await readSignedRequest({ request, reply }, stream, ports, parts)
      : await readAdmitted({ request, reply, admission }, parts);
  const { id, record, result, answer } = read(body, span.traceparent, ports);
  const { workspace, path } = body.admission.stream;
  if (id !== null) span.event({ id, workspace, stream: path });
  if (record === null) body.permit.release();
  else {
    const startedAt = clock.now();
    await appendInTime(log, [record], parts.settings.appendDeadline, () => body.permit.release(), UNKNOWN);
    telemetry?.appended(clock.now() - startedAt);
    if (result !== 'dead_letter') telemetry?.accepted(path, 1);
  }
  telemetry?.envelope(path, result);
  return reply.code(202).header('cache-control', 'no-store').send(answer);
}

async function readAdmitted(
  {
    request,
    reply,
    admission,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly admission: Admission },
  { intakeAdmission }: Parts,
): Promise<ProvedBody> {
  checkMediaType(request.headers);
  const permit = intakeAdmission.proved.enter({
    workspace: admission.stream.workspace,
    credential: admission.principal,
  });
  try {
    return { admission, bytes: await readBody(request.raw, ENVELOPE_LIMITS.bytes, permit, reply.raw), permit };
  } catch (error) {
    permit.release();
    throw error;
  }
}

/** Result of a request. */
type Intake = {
  /** Record for the log. Null: the request adds none. */
  readonly record: NewRecord | null;
  /** Null: there is no event. */
  readonly id: EventId | null;
  readonly result: ChangeResult;
  readonly answer: Readonly<Record<string, string>>;
};

function read({ admission, bytes, permit }: ProvedBody, traceparent: string | null, ports: GatewayPorts): Intake {
  try {
    return readEnvelope({ admission, bytes, traceparent }, ports);
  } catch (error) {
    permit.release();
    throw error;
  }
}

type Posted = { readonly admission: Admission; readonly bytes: Uint8Array; readonly traceparent: string | null };

/**
 * Reads an envelope of Debezium. An envelope that can never be read is refused, but becomes a dead letter if its request is signed:
 * Debezium Server sends a refused envelope again and then stops, and after its restart begins with the same one.
 */
function readEnvelope({ admission, bytes, traceparent }: Posted, ports: GatewayPorts): Intake {
  const { stream, principal, claims, isSigned } = admission;
  const posted = { stream, principal, traceparent };
  const envelope = readDebezium({ key: null, value: bytes }, null);
  if (envelope.kind === 'skipped') {
    return { record: null, id: null, result: 'skipped', answer: { skipped: envelope.reason } };
  }
  if (envelope.kind === 'fault') {
    const { code, detail } = envelope.fault;
    if (!isSigned) throw new CarillonError(isErrorCode(code) ? code : 'invalid_envelope', detail);
    const record = refusedEnvelope(envelope.fault, bytes, posted, ports);
    return { record, id: null, result: 'dead_letter', answer: { dead_letter: code, detail } };
  }
  checkClaims(stream, claims, envelope.read.change.event);
  const { id, record, result, refusal, error } = prepareEnvelope(envelope.read, posted, ports);
  if (refusal === null) return { record, id, result, answer: { id } };
  const { code, reason, detail } = refusal;
  if (!isSigned) throw new CarillonError(isErrorCode(code) ? code : 'invalid_envelope', detail, {}, { cause: error });
  if (error !== undefined) ports.telemetry?.trouble('reading an envelope', error);
  return { record, id: null, result, answer: { dead_letter: reason, detail } };
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);
