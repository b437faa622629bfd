import {
  findCohortIntegration,
  firstSyncOf,
  userIdField,
  type CohortChange,
  omitsUserIds,
  takesBatches,
} from '@carillon/domain/cohorts';
import { isWebhook, type WebhookIntegration } from '@carillon/domain/configuration';
import { CarillonError, readTraceparent, type EventId, type Json } from '@carillon/kernel';
import type { CohortAnswer, ShownCredentials } from '@carillon/ports';
import { refusalOf } from '@carillon/runtime';
import { cohortMessages, cohortRecord } from '@carillon/stages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createPartnerAlerts } from './partner-alerts.ts';
import { createCohortSecrets } from './cohort-proof.ts';
import type { FreshSecrets } from './fresh-secrets.ts';
import type { IntakeParts } from './intake-parts.ts';
import { strangerOf } from './intake-admission.ts';
import type { Permit } from './admission-control.ts';
import type { GatewayPorts } from './ports.ts';
import { createPauses } from './pauses.ts';
import { checkDeclaredSize, checkMediaType, readBody, tooLargeIs } from './request-body.ts';
import { appendInTime } from './timed-append.ts';

const COHORTS = '/cohorts/:workspace/:integration';
type CohortRequest = FastifyRequest<{ Params: { workspace: string; integration: string } }>;

const UNPROVABLE = 'Carillon cannot verify this request now. Send it again; the log of Carillon has the cause.';
const UNKNOWN = 'It is unknown whether it was stored. Send it again: a repeat counts once.';

/**
 * `POST /cohorts/<workspace>/<integration>` (rules section 5): what an analytics platform says of who is in a cohort. It
 * is on the log before the platform gets its answer, in the platform's own form; who entered and left is found out later.
 */
export function serveCohortIntake(
  app: FastifyInstance,
  ports: GatewayPorts,
  { settings, freshness, intakeAdmission: { proved, unproved }, secretOf }: Omit<IntakeParts, 'keyUses'>,
): void {
  const { clock, codecs, cohortReaders, configuration, ids, log, telemetry } = ports;
  const alert = createPartnerAlerts(clock, (partner, detail) => telemetry?.partnerAlert(partner, detail));
  const authenticate = createAuthentication(cohortReaders, secretOf, alert);
  app.decorateRequest(PROVEN, null);

  function integrationOf(request: CohortRequest): WebhookIntegration | null {
    const { workspace, integration } = request.params;
    const found = findCohortIntegration(configuration.current(), workspace, integration);
    return found && isWebhook(found) ? found : null;
  }

  async function take(request: CohortRequest, reply: FastifyReply): Promise<FastifyReply> {
    await freshness.ensure();
    const given = readTraceparent(oneHeader(request, 'traceparent') ?? null);
    const span = telemetry?.startRequest(given, COHORTS);
    if (span) reply.raw.on('close', () => span.end(reply.raw.statusCode));
    const held = { permit: unproved.enter(strangerOf(request, request.params.workspace)) };
    const answer = await receive(request, reply, held, span ? span.traceparent : given).catch((error: unknown) => {
      held.permit.release();
      throw error;
    });
    return reply.code(answer.status).header('cache-control', 'no-store').send(answer.body);
  }

  async function receive(
    request: CohortRequest,
    reply: FastifyReply,
    held: { permit: Permit },
    traceparent: string | null,
  ): Promise<CohortAnswer> {
    // Headers are checked first, so that the response does not depend on whether the integration exists.
    checkMediaType(request.headers);
    checkDeclaredSize(request.headers, settings.maxCohortBytes);
    const integration = integrationOf(request);
    if (!integration) throw unauthorized();
    const { kind } = integration;
    // Only a signature needs the body. Until it is verified, the sender may be a stranger.
    const signs = cohortReaders.signsBody(kind, shownBy(request));
    if (!signs) await prove(request, integration, held, new Uint8Array());
    const reading = readBody(request.raw, settings.maxCohortBytes, held.permit, reply.raw);
    const bytes = await (signs ? reading.catch(tooLargeIs(unauthorized)) : reading);
    if (signs) await prove(request, integration, held, bytes);
    // Parsing, reading and writing 10,000 members hold the process for some milliseconds each; others go on in between.
    const rest = createPauses();
    const body = cohortReaders.parse(bytes);
    if (!body.ok) throw body.error;
    await rest();
    const changes = read(request, integration, body.value);
    reportSkipped(request, integration, changes, { telemetry, alert });
    const id = ids.random('event') as EventId;
    const source = { ...request.params, id, firstSync: firstSyncOf(integration) };
    await rest();
    const messages = cohortMessages(changes, source, ids);
    await rest();
    const records = messages.map((message) => cohortRecord(message, traceparent, { ids, log, codecs }));
    await rest();
    const startedAt = clock.now();
    if (records.length > 0)
      await appendInTime(log, records, settings.appendDeadline, () => held.permit.release(), UNKNOWN);
    else held.permit.release();
    telemetry?.appended(clock.now() - startedAt);
    return cohortReaders.accepted(kind, provenOf(request)?.echo ?? null, id);
  }

  /** After verification the request moves its permit and bytes from the budget of unverified requests. */
  async function prove(
    request: CohortRequest,
    integration: WebhookIntegration,
    held: { permit: Permit },
    body: Uint8Array,
  ): Promise<void> {
    await authenticate(request, integration, body);
    const { workspace, integration: name } = request.params;
    const permit = proved.enter({ workspace, credential: `integration:${name}` });
    held.permit.release();
    held.permit = permit;
    permit.take(body.length);
  }

  /** A function of its own: nothing of the value but the changes is in memory while the log is waited for. */
  function read(request: CohortRequest, integration: WebhookIntegration, body: Json): readonly CohortChange[] {
    const { echo, passedOver, changes } = cohortReaders.read(integration.kind, body, {
      userId: userIdField(integration),
      batches: takesBatches(integration),
      now: clock.now(),
    });
    remember(request, { echo });
    if (passedOver > 0) reportPassedOver(request, passedOver, { telemetry, alert });
    if (!changes.ok) throw changes.error;
    return changes.value;
  }

  /**
   * Gives a problem the form that the platform reads. Strangers always get the same response, whether the integration
   * exists or not.
   */
  async function inItsForm(request: CohortRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const proven = provenOf(request);
    const refusal = proven && refusalOf(reply);
    const integration = refusal && integrationOf(request);
    const own = integration && cohortReaders.refused(integration.kind, proven.echo, refusal);
    if (!own) return payload;
    reply.header('content-type', 'application/json; charset=utf-8').removeHeader('content-length');
    return JSON.stringify(own);
  }

  app.post<{ Params: CohortRequest['params'] }>(COHORTS, { onSend: inItsForm }, (request, reply) =>
    take(request, reply),
  );
}

type Alert = ReturnType<typeof createPartnerAlerts>;

/** Checks the secret that a request shows. Throws if it is wrong, or if the secret itself is missing. */
function createAuthentication(readers: GatewayPorts['cohortReaders'], secretOf: FreshSecrets, alert: Alert) {
  const secrets = createCohortSecrets(secretOf);
  return async (request: CohortRequest, integration: WebhookIntegration, body: Uint8Array): Promise<void> => {
    const proof = readers.proofOf(integration.kind, shownBy(request), body);
    const verdict = await secrets.verify(request.params.workspace, integration, proof);
    if (verdict === 'proven') {
      remember(request, { echo: null });
      return;
    }
    const { key, second_key: second } = integration.authorization;
    const named = second ? `${key.secret} and ${second.secret}` : key.secret;
    if (verdict === 'wrong') {
      if (proof !== null) alert(nameOf(request), `requests were refused: their credential does not match ${named}`);
      throw unauthorized();
    }
    alert(nameOf(request), `requests were refused: ${named} is neither in the environment nor stored`);
    // A request with a proof may come from the platform, so it gets the server's error; without a proof it is
    // unauthorized.
    throw proof === null ? unauthorized() : new CarillonError('secret_missing', UNPROVABLE);
  };
}

type Reporting = { readonly telemetry: GatewayPorts['telemetry']; readonly alert: Alert };

function reportPassedOver(request: CohortRequest, passedOver: number, { telemetry, alert }: Reporting): void {
  telemetry?.callsPassedOver(nameOf(request), passedOver);
  alert(nameOf(request), 'calls that are not about an audience were skipped: let Segment send only calls of audiences');
}

/** Counts members without a user id, and alerts: a refusal would pause the platform, and silence would hide a wrong name of a field. */
function reportSkipped(
  request: CohortRequest,
  integration: WebhookIntegration,
  changes: readonly CohortChange[],
  { telemetry, alert }: Reporting,
): void {
  const skipped = changes.reduce((sum, change) => sum + change.skipped, 0);
  if (skipped === 0) return;
  telemetry?.membersSkipped(nameOf(request), skipped);
  if (omitsUserIds(integration) || changes.some(({ userIds }) => userIds.length > 0)) return;
  const named = userIdField(integration);
  const field = named === undefined ? 'the usual field' : JSON.stringify(named);
  alert(nameOf(request), `no member of a message has a user id at ${field}: look at user_id of the integration`);
}

const PROVEN = 'proven';

/**
 * A request whose sender has proven the secret. `echo`: part of the body that the response repeats, if the body could
 * be read.
 */
type Proven = { readonly echo: Json };
const provenOf = (request: FastifyRequest): Proven | null => request.getDecorator<Proven | null>(PROVEN);
const remember = (request: FastifyRequest, proven: Proven): void => request.setDecorator<Proven | null>(PROVEN, proven);

const nameOf = ({ params: { workspace, integration } }: CohortRequest): string => `${workspace}/${integration}`;

/** Whatever is wrong with path or credential, the answer is the same. */
const unauthorized = (): CarillonError =>
  new CarillonError(
    'unauthorized',
    'No integration accepts this request. Check the address, and the secret that is set at the platform.',
  );

const shownBy = (request: FastifyRequest): ShownCredentials => ({
  authorization: request.headers.authorization,
  signature: oneHeader(request, 'x-signature'),
});

function oneHeader(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
