import { ENVELOPE_LIMITS } from '@carillon/domain/changes';
import type { EventStream } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Permit } from './admission-control.ts';
import type { ProvedBody } from './proved-body.ts';
import type { IntakeParts } from './intake-parts.ts';
import { strangerOf } from './intake-admission.ts';
import type { GatewayPorts } from './ports.ts';
import type { PartnerAlert } from './partner-alerts.ts';
import { checkMediaType, readBody, tooLargeIs } from './request-body.ts';
import type { StreamRates } from './stream-rates.ts';
import { checkSignature, isWholeSignature, wrongSignature } from './webhook-signature.ts';

export type SigningParts = Pick<IntakeParts, 'intakeAdmission' | 'secretOf'> & {
  readonly rates: StreamRates;
  readonly alert: PartnerAlert;
};

/**
 * Reads a request that is signed in place of an Authorization header. The signature is over the body, so the body is read before it
 * is known who sends. Until then it takes of the share of strangers.
 */
export async function readSignedRequest(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  stream: EventStream | undefined,
  { clock }: Pick<GatewayPorts, 'clock'>,
  { intakeAdmission, secretOf, rates, alert }: SigningParts,
): Promise<ProvedBody> {
  const secret = stream?.security.webhook_secret?.secret;
  if (stream === undefined || secret === undefined || !isWholeSignature(request.headers)) throw wrongSignature();
  const stranger = intakeAdmission.unproved.enter(strangerOf(request, stream.workspace));
  const principal = `webhook_secret:${secret}`;
  try {
    const bytes = await readBody(request.raw, ENVELOPE_LIMITS.bytes, stranger, reply.raw).catch(
      tooLargeIs(wrongSignature),
    );
    const value = await secretOf(stream.workspace, secret);
    if (value === null) {
      alert(stream.path, `requests were refused: ${secret} is neither in the environment nor stored`);
      throw new CarillonError(
        'secret_missing',
        'The webhook secret of this stream is not set. An editor or owner must set it.',
      );
    }
    checkSignature(request.headers, bytes, value, clock.now());
    checkMediaType(request.headers);
    rates.take(stream, principal, clock.now());
    const permit = intakeAdmission.proved.enter({ workspace: stream.workspace, credential: principal });
    countBytes(permit, bytes.length);
    return { admission: { stream, principal, claims: null, keyId: null, isSigned: true }, bytes, permit };
  } finally {
    stranger.release();
  }
}

function countBytes(permit: Permit, bytes: number): void {
  try {
    permit.take(bytes);
  } catch (error) {
    permit.release();
    throw error;
  }
}
