import { lookup } from 'node:dns';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, getCACertificates, type ConnectionOptions, TLSSocket } from 'node:tls';
import { err, ok, type Result } from '@carillon/kernel';
import { inWords, isConfigurationError, silence, type SmtpFailure, stopped } from './failure.ts';
import type { SessionSettings } from './settings.ts';
import type { SmtpStage } from './stage.ts';

/** Called with the observations of each step of a connection. */
export type StepWatcher = (step: string, detail: string) => void;

/**
 * TLS as an account wants it. An opportunistic upgrade takes any certificate: it would otherwise go on in the clear,
 * which protects less. Every other mode wants a certificate of a trusted authority for the server's name.
 */
export const tlsOptions = (settings: SessionSettings): ConnectionOptions => ({
  host: settings.host,
  ...(isIP(settings.host) === 0 ? { servername: settings.host } : {}),
  ...(settings.trusted.length > 0 ? { ca: [...getCACertificates(), ...settings.trusted] } : {}),
  minVersion: 'TLSv1.2',
  rejectUnauthorized: settings.tls !== 'opportunistic',
});

type Address = { readonly address: string; readonly family: number };
type Addresses = Result<readonly Address[], SmtpFailure>;

const refusedAddress: SmtpFailure = silence(
  'resolve',
  'Carillon may not connect to the address of this mail server; the operator of the deployment can allow private ones.',
  { code: 'refused_address', verdict: 'refused_account', alert: true },
);
/**
 * Equal for an unknown name and for a name with only forbidden addresses, because tenants must not learn the
 * difference.
 */
const unresolved: SmtpFailure = silence(
  'resolve',
  'The name of the mail server leads to no address that Carillon may connect to; where it is a private one, the operator of ' +
    'the deployment can allow it.',
  { code: 'unresolved', alert: true },
);

/** Where the operator chose the host, as the machine resolves names; else by the guard, which says where we may go. */
async function allowedAddresses({ host, guard }: SessionSettings): Promise<Addresses> {
  if (guard === null) return addressesOf(host);
  const classified = await guard.resolve(host);
  if (classified.ok) return classified;
  return err(classified.error.reason === 'refused_address' ? refusedAddress : unresolved);
}

function addressesOf(host: string): Promise<Addresses> {
  return new Promise((settle) => {
    lookup(host, { all: true }, (error, addresses) => {
      if (error === null && addresses.length > 0) return settle(ok(addresses));
      const words = inWords(error, 'The name of the mail server could not be resolved.');
      settle(err(silence('resolve', words, { alert: isConfigurationError(error) })));
    });
  });
}

/** Waits for a socket to be ready; whatever comes first decides, and a socket that lost is destroyed. */
function ready(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  stage: SmtpStage,
  cut: AbortSignal,
): Promise<Result<Socket, SmtpFailure>> {
  return new Promise((settle) => {
    const finish = (result: Result<Socket, SmtpFailure>): void => {
      socket.off(event, onReady).off('error', onError).off('close', onClose);
      cut.removeEventListener('abort', onCut);
      if (!result.ok) socket.on('error', () => undefined).destroy();
      settle(result);
    };
    const onReady = (): void => finish(ok(socket));
    const onClose = (): void => finish(err(silence(stage, 'The server closed the connection.')));
    const onCut = (): void => finish(err(silence(stage, 'The server did not answer in time.')));
    const onError = (error: Error): void => {
      const otherwise = stage === 'tls' ? 'The TLS handshake failed.' : 'No connection was established.';
      finish(err(silence(stage, inWords(error, otherwise), { alert: isConfigurationError(error) })));
    };
    socket.once(event, onReady).once('error', onError).once('close', onClose);
    if (cut.aborted) onCut();
    else cut.addEventListener('abort', onCut, { once: true });
  });
}

/** Certificate and version of a secured connection, for people. */
export function describeTls(socket: Socket): string {
  if (!(socket instanceof TLSSocket)) return 'not encrypted';
  const { subject, valid_to: until } = socket.getPeerCertificate();
  const name = subject?.CN === undefined ? '' : `, certificate of ${[subject.CN].flat().join(', ')} until ${until}`;
  return `${socket.getProtocol() ?? 'TLS'}${name}${socket.authorized ? '' : ', not verified'}`;
}

/** Opens the socket of a connection: name, TCP, and TLS where it comes first. */
export async function openSocket(
  settings: SessionSettings,
  stop: AbortSignal,
  seen: StepWatcher,
): Promise<Result<Socket, SmtpFailure>> {
  const cut = AbortSignal.any([stop, AbortSignal.timeout(settings.timeouts.connection)]);
  const orStopped = (result: Result<Socket, SmtpFailure>): Result<Socket, SmtpFailure> =>
    !result.ok && stop.aborted ? err(stopped(result.error.stage)) : result;

  const found = await Promise.race([allowedAddresses(settings), whenCut(cut)]);
  if (!found.ok) return stop.aborted ? err(stopped('resolve')) : found;
  seen('resolve', `${settings.host} is ${found.value.map((each) => each.address).join(', ')}`);

  const [first] = found.value;
  const plain = connectPlain({
    // An IP address is not resolved, so it must be the one that was checked.
    host: isIP(settings.host) === 0 ? settings.host : (first?.address ?? settings.host),
    port: settings.port,
    autoSelectFamily: true,
    lookup: (_host, options, callback) => {
      if (options.all === true) callback(null, [...found.value]);
      else callback(null, first?.address ?? '', first?.family);
    },
  });
  const connected = orStopped(await ready(plain, 'connect', 'connect', cut));
  if (!connected.ok) return connected;
  seen('connect', `connected to ${plain.remoteAddress ?? settings.host} port ${settings.port}`);
  if (settings.tls !== 'implicit') return connected;

  const secured = orStopped(
    await ready(connectTls({ ...tlsOptions(settings), socket: plain }), 'secureConnect', 'tls', cut),
  );
  if (!secured.ok) plain.destroy();
  else seen('TLS', describeTls(secured.value));
  return secured;
}

function whenCut(cut: AbortSignal): Promise<Result<never, SmtpFailure>> {
  const late = err(silence('resolve', 'The name servers did not answer in time.'));
  return new Promise((settle) => {
    if (cut.aborted) settle(late);
    else cut.addEventListener('abort', () => settle(late), { once: true });
  });
}
