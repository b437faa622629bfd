import { allDeploymentAccounts, ownAccount, type AccountReceipts } from '@carillon/domain';
import { CarillonError } from '@carillon/kernel';
import { receiptRecord } from '@carillon/stages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GatewaySettings } from './config.ts';
import type { FreshSecrets } from './fresh-secrets.ts';
import type { Freshness } from './freshness.ts';
import { strangerOf, type IntakePlaces } from './intake-places.ts';
import type { Place } from './places.ts';
import type { GatewayPorts } from './ports.ts';
import { checkDeclaredSize, readBody, tooLargeIs } from './request-body.ts';
import { appendInTime } from './timed-append.ts';

const RECEIPTS = '/receipts/:kind/:workspace/:account';
type ReceiptRequest = FastifyRequest<{ Params: { kind: string; workspace: string; account: string } }>;

/** limits-and-errors.md 2.7: SendGrid sends batches. */
const MAX_BYTES = 1024 * 1024;
/** In an address it stands for the deployment, which is no workspace. */
const DEPLOYMENT = '-';
const UNKNOWN = 'Whether it is on the log is unknown. Send it again: what is reported twice counts once.';

/** An account whose provider reports, under the key that its attempts have. */
type ReportingAccount = { readonly key: string; readonly workspace: string; readonly receipts: AccountReceipts };

/**
 * `POST /receipts/<kind>/<workspace>/<account>` (delivery.md section 5): what a provider reports of messages that it took.
 * It is on the log before the provider gets its answer. Whatever is wrong with address or proof, the answer is the same.
 */
export function serveReceiptIntake(
  app: FastifyInstance,
  ports: GatewayPorts,
  settings: GatewaySettings,
  freshness: Freshness,
  { places, unproved }: IntakePlaces,
  secretOf: FreshSecrets,
): void {
  const { clock, configuration, log, telemetry } = ports;

  function accountOf({ params: { kind, workspace, account } }: ReceiptRequest): ReportingAccount | null {
    const current = configuration.current();
    const choices =
      workspace === DEPLOYMENT
        ? allDeploymentAccounts(current).filter(({ name }) => name === account)
        : [ownAccount(current, workspace, account)];
    for (const choice of choices) {
      if (choice?.body.kind !== 'smtp' || choice.body.receipts?.kind !== kind) continue;
      return { key: choice.key, workspace: choice.workspace, receipts: choice.body.receipts };
    }
    return null;
  }

  async function take(request: ReceiptRequest, reply: FastifyReply): Promise<FastifyReply> {
    await freshness.ensure();
    const span = telemetry?.startRequest(null, RECEIPTS);
    if (span) reply.raw.on('close', () => span.end(reply.raw.statusCode));
    const held = { place: unproved.enter(strangerOf(request, request.params.workspace)) };
    try {
      await receive(request, reply, held);
    } catch (error) {
      held.place.release();
      throw error;
    }
    return reply.code(204).header('cache-control', 'no-store').send();
  }

  async function receive(request: ReceiptRequest, reply: FastifyReply, held: { place: Place }): Promise<void> {
    checkDeclaredSize(request.headers, MAX_BYTES);
    const account = accountOf(request);
    if (!account) throw unauthorized();
    const body = await readBody(request.raw, MAX_BYTES, held.place, reply.raw).catch(tooLargeIs(unauthorized));
    const headers = singleHeaders(request);
    const reading = await ports.receipts.read({ headers, body }, account.receipts, await secretFor(account));
    if (reading.kind === 'unproved') throw unauthorized();
    if (reading.kind === 'unavailable') throw new CarillonError('keys_unavailable', reading.detail);
    const { workspace, account: name } = request.params;
    const place = places.enter({ workspace, credential: `account:${name}` });
    held.place.release();
    held.place = place;
    place.take(body.length);
    if (!reading.reports.ok) throw reading.reports.error;
    const now = clock.now();
    const records = reading.reports.value.map((report) => receiptRecord(report, account.key, now, ports));
    if (records.length === 0) return place.release();
    return appendInTime(log, records, settings.appendDeadline, () => held.place.release(), UNKNOWN);
  }

  function secretFor({ workspace, receipts }: ReportingAccount): Promise<string | null> {
    if (receipts.kind === 'mailgun') return secretOf(workspace, receipts.signing_key.secret);
    if (receipts.kind === 'postmark') return secretOf(workspace, receipts.credentials.secret);
    return Promise.resolve(null);
  }

  app.post<{ Params: ReceiptRequest['params'] }>(RECEIPTS, (request, reply) => take(request, reply));
}

/** Of a header that came twice nothing: which of the two a proof meant nobody knows. */
const singleHeaders = (request: FastifyRequest): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
  );

const unauthorized = (): CarillonError =>
  new CarillonError(
    'unauthorized',
    'No account takes this report. Look at the address, and at what the provider was told to sign with.',
  );
