import { publicUrlOf, type AccountBody } from '@carillon/domain/configuration';
import { allDeploymentAccounts, DEPLOYMENT_PATH, ownAccount, reporterOf } from '@carillon/domain/deliveries';
import { CarillonError } from '@carillon/kernel';
import type { NewRecord, ReceiptReading } from '@carillon/ports';
import { inboundRecord, receiptRecord } from '@carillon/stages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IntakeParts } from './intake-parts.ts';
import { strangerOf } from './intake-admission.ts';
import type { Permit } from './admission-control.ts';
import type { GatewayPorts } from './ports.ts';
import { checkDeclaredSize, readBody, tooLargeIs } from './request-body.ts';
import { appendInTime } from './timed-append.ts';

const RECEIPTS = '/receipts/:kind/:workspace/:account';
/** Path of reports about a single message, with the token of its attempt. */
const OF_ONE_MESSAGE = `${RECEIPTS}/:token`;
type ReceiptRequest = FastifyRequest<{
  Params: { kind: string; workspace: string; account: string; token?: string };
}>;

/** Bytes of a callback. SendGrid sends batches. */
const MAX_BYTES = 1024 * 1024;
const UNKNOWN = 'Whether it is on the log is unknown. Send it again: what is reported twice counts once.';

/** An account whose provider reports, under the key that its attempts have. */
type ReportingAccount = {
  readonly key: string;
  readonly workspace: string;
  readonly body: AccountBody;
  /** Name of the secret that proves its reports, or null. */
  readonly secret: string | null;
};

/**
 * `POST /receipts/<kind>/<workspace>/<account>[/<token>]` (docs/internals/evidence.md): what a provider reports of messages that it
 * took, and what people write to numbers of ours.
 * It is on the log before the provider gets its answer. Whatever is wrong with address or proof, the answer is the same.
 */
export function serveReceiptIntake(
  app: FastifyInstance,
  ports: GatewayPorts,
  { settings, freshness, intakeAdmission: { proved, unproved }, secretOf }: Omit<IntakeParts, 'keyUses'>,
): void {
  const { clock, configuration, log, telemetry } = ports;

  function accountOf({ params: { kind, workspace, account } }: ReceiptRequest): ReportingAccount | null {
    const current = configuration.current();
    const choices =
      workspace === DEPLOYMENT_PATH
        ? allDeploymentAccounts(current).filter(({ name }) => name === account)
        : [ownAccount(current, workspace, account)];
    for (const choice of choices) {
      const reporter = choice ? reporterOf(choice.body) : null;
      if (choice && reporter?.kind === kind) return { ...choice, secret: reporter.secret?.secret ?? null };
    }
    return null;
  }

  async function take(request: ReceiptRequest, reply: FastifyReply): Promise<FastifyReply> {
    await freshness.ensure();
    const span = telemetry?.startRequest(null, RECEIPTS);
    if (span) reply.raw.on('close', () => span.end(reply.raw.statusCode));
    const held = { permit: unproved.enter(strangerOf(request, request.params.workspace)) };
    try {
      await receive(request, reply, held);
    } catch (error) {
      held.permit.release();
      throw error;
    }
    return reply.code(204).header('cache-control', 'no-store').send();
  }

  async function receive(request: ReceiptRequest, reply: FastifyReply, held: { permit: Permit }): Promise<void> {
    checkDeclaredSize(request.headers, MAX_BYTES);
    const account = accountOf(request);
    if (!account) throw unauthorized();
    const body = await readBody(request.raw, MAX_BYTES, held.permit, reply.raw).catch(tooLargeIs(unauthorized));
    const reading = await ports.receipts.read(
      callbackOf(request, account, body),
      account.body,
      await secretFor(account),
    );
    if (reading.kind === 'unproved') throw unauthorized();
    if (reading.kind === 'unavailable') throw new CarillonError('keys_unavailable', reading.detail);
    const { workspace, account: name } = request.params;
    const permit = proved.enter({ workspace, credential: `account:${name}` });
    held.permit.release();
    held.permit = permit;
    permit.take(body.length);
    const records = recordsOf(reading, account);
    if (records.length === 0) return permit.release();
    return appendInTime(log, records, settings.appendDeadline, () => held.permit.release(), UNKNOWN);
  }

  function recordsOf(
    reading: Extract<ReceiptReading, { kind: 'proved' | 'inbound' }>,
    { key }: ReportingAccount,
  ): readonly NewRecord[] {
    const now = clock.now();
    if (reading.kind === 'inbound') return reading.wish ? [inboundRecord(reading.wish, key, now, ports)] : [];
    if (!reading.reports.ok) throw reading.reports.error;
    return reading.reports.value.map((report) => receiptRecord(report, key, now, ports));
  }

  function callbackOf(request: ReceiptRequest, { key }: ReportingAccount, body: Uint8Array) {
    const publicUrl = publicUrlOf(configuration.current());
    return {
      account: key,
      url: publicUrl === null ? null : `${publicUrl}${request.raw.url ?? ''}`,
      token: request.params.token ?? null,
      headers: singleHeaders(request),
      body,
    };
  }

  const secretFor = ({ workspace, secret }: ReportingAccount): Promise<string | null> =>
    secret === null ? Promise.resolve(null) : secretOf(workspace, secret);

  app.post<{ Params: ReceiptRequest['params'] }>(RECEIPTS, (request, reply) => take(request, reply));
  app.post<{ Params: ReceiptRequest['params'] }>(OF_ONE_MESSAGE, (request, reply) => take(request, reply));
}

/** Leaves out a header that came twice: nobody knows which of the two a proof meant. */
const singleHeaders = (request: FastifyRequest): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
  );

const unauthorized = (): CarillonError =>
  new CarillonError(
    'unauthorized',
    'No account accepts this report. Check the address, and the signing secret that is set at the provider.',
  );
