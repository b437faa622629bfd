import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { err, ok, type Result } from '@carillon/kernel';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { BodySource } from './body-source.ts';
import type { ComposedMail } from './composition.ts';
import { inWords, isConfigurationError, isTlsError, silence, type SmtpFailure, stopped } from './failure.ts';
import { parseReply, type SmtpReply } from './reply.ts';
import type { SessionSettings } from './settings.ts';
import { describeTls, openSocket, type StepWatcher, tlsOptions } from './socket.ts';
import type { SmtpStage } from './stage.ts';

const QUIT_TIMEOUT_MS = 1000;
/** Longer replies are nobody's. */
const MAX_REPLY = 16 * 1024;

/** Error of the library, with fields of unknown type that must be checked before use. */
type LibraryError = Error & { code?: unknown; command?: unknown; response?: unknown; timeoutType?: unknown };

/**
 * The complete reply in an error. A line that the connection's end cut off is none, though the library reports it:
 * half of a code must not decide. 421 is the exception, because it only announces the end that came.
 */
function replyOf(error: LibraryError): SmtpReply | null {
  const reply = typeof error.response === 'string' ? parseReply(error.response) : null;
  const torn = error.command === 'CONN' && (error.code === 'ECONNECTION' || error.code === 'ETLS');
  return torn && reply?.code !== 421 ? null : reply;
}

/** The socket in use: after STARTTLS it is another than the one that was opened. Public in the library, under this name. */
const socketOf = (connection: SMTPConnection): Socket | null => connection['_socket'] || null;
/** Whether the server takes addresses that are not ASCII (RFC 6531). The library would send them to any server. */
function offersUtf8(connection: SMTPConnection): boolean {
  const offered: unknown = Reflect.get(connection, '_supportedExtensions');
  return Array.isArray(offered) && offered.includes('SMTPUTF8');
}
const isAscii = (address: string): boolean => !/[^\0-\x7f]/.test(address);
const NO_UTF8 = 'has a part before the @ that is not ASCII, and the mail server does not offer SMTPUTF8.';

const REFUSED_ACCOUNT = { verdict: 'refused_account', alert: true } as const;
const COMMAND_STAGE: Readonly<Record<string, SmtpStage>> = { 'RCPT TO': 'rcpt', DATA: 'data' };

/**
 * One connection to a mail server: greeted, secured and logged in, then one message at a time. Wraps the library's
 * connection so that each of the many ways in which it can end becomes a value.
 */
export class SmtpSession {
  /** Messages that were accepted over it. */
  served = 0;
  readonly #connection: SMTPConnection;
  #ended = false;

  private constructor(connection: SMTPConnection) {
    this.#connection = connection;
    connection.once('end', () => {
      this.#ended = true;
    });
    // Failures reach whoever waits at that moment; with nobody waiting, the end is all there is to know.
    connection.on('error', () => undefined);
  }

  static async open(
    settings: SessionSettings,
    stop: AbortSignal,
    seen: StepWatcher = () => undefined,
  ): Promise<Result<SmtpSession, SmtpFailure>> {
    const socket = await openSocket(settings, stop, seen);
    if (!socket.ok) return socket;
    const connection = new SMTPConnection({
      connection: socket.value,
      host: settings.host,
      port: settings.port,
      secure: settings.tls === 'implicit',
      secured: settings.tls === 'implicit',
      requireTLS: settings.tls === 'starttls',
      opportunisticTLS: settings.tls === 'opportunistic',
      ignoreTLS: settings.tls === 'none',
      tls: tlsOptions(settings),
      // For the library this spans greeting and STARTTLS, each of which `greetingTimeout` bounds.
      connectionTimeout: 2 * settings.timeouts.greeting,
      greetingTimeout: settings.timeouts.greeting,
      socketTimeout: settings.timeouts.socket,
      socketCloseTimeout: 0,
      maxResponseSize: MAX_REPLY,
    });
    const session = new SmtpSession(connection);
    const greeted = await session.#greet(stop);
    if (!greeted.ok) return greeted;
    const used = socketOf(connection);
    if (settings.tls !== 'implicit' && used !== null) seen('TLS', describeTls(used));
    seen('greeting', 'the server speaks SMTP');
    const loggedIn = await session.#login(settings, stop);
    if (!loggedIn.ok) return loggedIn;
    seen('login', settings.login === null ? 'no user is configured' : 'the server accepted user and password');
    return ok(session);
  }

  get alive(): boolean {
    const socket = socketOf(this.#connection);
    return !this.#ended && socket !== null && !socket.destroyed && socket.writable;
  }

  /** Called once when the connection has ended, including while it is idle. */
  onEnd(listener: () => void): void {
    this.#connection.once('end', listener);
  }

  #greet(stop: AbortSignal): Promise<Result<true, SmtpFailure>> {
    const stageOf = (error: LibraryError | null): SmtpStage =>
      error?.code === 'ETLS' || error?.timeoutType === 'UPGRADE_TIMEOUT' || isTlsError(error) ? 'tls' : 'greeting';
    return this.#step(stop, stageOf, (settle, fail) => {
      this.#connection.connect((error) => (error ? fail(error) : settle(true)));
    });
  }

  async #login(settings: SessionSettings, stop: AbortSignal): Promise<Result<true, SmtpFailure>> {
    if (settings.login === null) return ok(true);
    if (!this.#connection.allowsAuth) {
      const why = socketOf(this.#connection) instanceof TLSSocket ? '' : ' without encryption: see tls';
      this.destroy();
      return err(silence('login', `A user is configured, but the server offers no login${why}.`, REFUSED_ACCOUNT));
    }
    const { user, password } = settings.login;
    return this.#step<true>(
      stop,
      () => 'login',
      (settle, fail) => {
        this.#connection.login({ user, pass: password }, (error) => (error ? fail(error) : settle(true)));
      },
    );
  }

  /**
   * Hands over one message to its one recipient. `stop` counts until the server asks for the body, `limit` always.
   * A session that failed in any way is closed: its state is not worth guessing.
   */
  async transact(mail: ComposedMail, stop: AbortSignal, limit: AbortSignal): Promise<Result<SmtpReply, SmtpFailure>> {
    const socket = socketOf(this.#connection);
    if (!this.alive || socket === null)
      return err(silence('mail', 'The connection was closed before the message.', { lost: true }));
    const unnamable = this.#unnamable(mail);
    if (unnamable) return err(unnamable);
    const body = new BodySource(mail.bytes, socket, () =>
      String(this.#connection.lastServerResponse).startsWith('354'),
    );
    const stageOf = (error: LibraryError | null): SmtpStage => {
      if (body.consumed) return 'dot';
      if (body.begun) return 'body';
      return error?.code === 'ESTREAM' ? 'data' : (COMMAND_STAGE[String(error?.command)] ?? 'mail');
    };
    const untilBody = new AbortController();
    const onStop = (): void => {
      if (!body.begun) untilBody.abort();
    };
    stop.addEventListener('abort', onStop, { once: true });
    if (stop.aborted) onStop();
    const result = await this.#step<SmtpReply>(
      untilBody.signal,
      stageOf,
      (settle, fail) => {
        const envelope = { from: mail.from, to: [mail.to], size: mail.bytes.length };
        this.#connection.send(envelope, body, (error, info) => {
          if (error) return fail(error);
          const reply = parseReply(info.response);
          if (reply !== null && body.consumed) return settle(reply);
          // The body was not requested yet, or the reply is just a 2, so it accepts nothing we could name.
          fail(Object.assign(new Error('unexpected acceptance'), { code: 'EMESSAGE', response: info.response }));
        });
      },
      limit,
    );
    stop.removeEventListener('abort', onStop);
    if (result.ok) this.served += 1;
    else body.destroy();
    return result;
  }

  /** Returns a failure if an address is not ASCII and the server lacks SMTPUTF8, else null. */
  #unnamable({ from, to }: ComposedMail): SmtpFailure | null {
    if ((isAscii(from) && isAscii(to)) || offersUtf8(this.#connection)) return null;
    return isAscii(from)
      ? silence('mail', `The recipient ${NO_UTF8}`, { verdict: 'refused_recipient', code: 'no_smtputf8' })
      : silence('mail', `The sender ${NO_UTF8}`, { ...REFUSED_ACCOUNT, code: 'no_smtputf8' });
  }

  /** Waits for one step, for the connection's end, or for a signal: whichever comes first. Failure closes the session. */
  #step<T>(
    stop: AbortSignal,
    stageOf: (error: LibraryError | null) => SmtpStage,
    begin: (settle: (value: T) => void, fail: (error: Error) => void) => void,
    limit?: AbortSignal,
  ): Promise<Result<T, SmtpFailure>> {
    return new Promise((resolve) => {
      let open = true;
      const finish = (result: Result<T, SmtpFailure>): void => {
        if (!open) return;
        open = false;
        this.#connection.off('error', fail).off('end', onEnd);
        stop.removeEventListener('abort', onStop);
        limit?.removeEventListener('abort', onLimit);
        // Closes the connection synchronously within the library's call, because no more of a body may be sent after a
        // failure.
        if (!result.ok) this.destroy();
        resolve(result);
      };
      const fail = (error: Error): void => finish(err(failureOf(error, stageOf(error))));
      // The library says `end` before it hands over the reply that caused it.
      const onEnd = (): void => {
        setImmediate(() => finish(err(silence(stageOf(null), 'The server closed the connection.', { lost: true }))));
      };
      const onStop = (): void => finish(err(stopped(stageOf(null))));
      const onLimit = (): void => finish(err(silence(stageOf(null), 'The attempt took too long and was abandoned.')));
      this.#connection.once('error', fail).once('end', onEnd);
      stop.addEventListener('abort', onStop, { once: true });
      limit?.addEventListener('abort', onLimit, { once: true });
      if (stop.aborted) return onStop();
      if (limit?.aborted === true) return onLimit();
      if (this.#ended) return onEnd();
      begin((value) => finish(ok(value)), fail);
    });
  }

  /** Says goodbye and closes, politely but not for long. */
  async quit(): Promise<void> {
    if (!this.alive) return this.destroy();
    const over = new Promise<void>((settle) => {
      this.onEnd(settle);
    });
    const timer = setTimeout(() => this.destroy(), QUIT_TIMEOUT_MS);
    this.#connection.quit();
    await over;
    clearTimeout(timer);
  }

  destroy(): void {
    this.#connection.close();
  }
}

function failureOf(error: LibraryError, stage: SmtpStage): SmtpFailure {
  const reply = replyOf(error);
  // Once the final dot may be out, only what the library took as the answer to it counts as one.
  if ((stage === 'dot' || stage === 'body') && error.code !== 'EMESSAGE') {
    return silence(stage, lossInWords(error), { lost: true });
  }
  if (reply !== null) return { stage, reply, words: '' };
  if (error.code === 'EAUTH' && error.command === 'API') {
    return silence(stage, 'The server offers no way of logging in that fits the account.', REFUSED_ACCOUNT);
  }
  if (error.code === 'EMESSAGE' && error.response === undefined) {
    return silence(stage, 'The message is larger than the server takes.', { verdict: 'refused_content' });
  }
  if (typeof error.response === 'string' && error.response !== '' && error.command !== 'CONN') {
    return silence(stage, 'The server answered something that is not SMTP.');
  }
  const lost = error.code !== 'EPROTOCOL' && error.code !== 'ESTREAM';
  return silence(stage, lossInWords(error), { lost, alert: isConfigurationError(error) });
}

function lossInWords(error: LibraryError): string {
  if (error.code === 'ETIMEDOUT') return 'The server did not answer in time.';
  if (error.code === 'EPROTOCOL' || error.code === 'ESTREAM') return 'The server answered something that is not SMTP.';
  return inWords(isTlsError(error) || error.code === 'ESOCKET' ? error : null, 'The server closed the connection.');
}
