import type { AccountOf } from '@carillon/domain/configuration';
import { providerResult, type ProviderResult } from '@carillon/domain/deliveries';
import { type Duration, err, type Instant, messageOf, ok, type Result } from '@carillon/kernel';
import type { AddressGuard, ChannelSender, Clock, RenderedMessage, SendContext, SenderFactory } from '@carillon/ports';
import { checkAccount } from './check.ts';
import { compose, type ComposedMail } from './composition.ts';
import { createMailSigner, type MailSigner } from './dkim.ts';
import { silence, type SmtpFailure } from './failure.ts';
import { classify } from './outcome-table.ts';
import { type PoolLimits, SessionPool } from './pool.ts';
import { type Hidden, redact } from './redact.ts';
import { replyCode, type SmtpReply } from './reply.ts';
import { SmtpSession } from './session.ts';
import { credentialsOf, DEFAULT_TIMEOUTS, type SessionSettings, type SmtpTimeouts, tlsMode } from './settings.ts';
import type { SmtpStage } from './stage.ts';
import { tracingOf } from './tracing.ts';

export type SmtpSenderDeps = {
  readonly clock: Clock;
  /** Says where accounts of workspaces may be; the deployment's own may be anywhere. */
  readonly guard: AddressGuard;
  /** Shorter ones make tests quick. */
  readonly timeouts?: Partial<SmtpTimeouts>;
  /** How long a connection is kept without work. */
  readonly idle?: Duration;
  /** Messages over one connection. */
  readonly messages?: number;
  /** Certificates of authorities, PEM, that count besides those of the machine. */
  readonly trusted?: readonly string[];
};

const CONNECTIONS = 5;
const IDLE_TIMEOUT_MS = 15_000;
const MESSAGES = 100;

const REFUSED_AT: Readonly<Record<SmtpStage, string>> = {
  resolve: 'The server could not be found',
  connect: 'The server could not be reached',
  tls: 'The server refused encryption',
  greeting: 'The server refused the connection',
  login: 'The server refused the login',
  mail: 'The server refused the sender',
  rcpt: 'The server refused the recipient',
  data: 'The server refused to take a message',
  body: 'The server answered before the message ended',
  dot: 'The server answered the whole message',
};

/** The server's own name for an accepted message, where it gives one in a form that is known. */
const queueId = (reply: SmtpReply): string | null =>
  /\bqueued as <?([\w.+-]{4,80})/i.exec(reply.text)?.[1] ??
  /^([0-9a-f]{8,32}) Message accepted/i.exec(reply.text)?.[1] ??
  null;

function resultOf(failure: SmtpFailure, hidden: Hidden, now: Instant): ProviderResult {
  const { stage, reply } = failure;
  const outcome = classify(reply, stage);
  const detail = reply === null ? failure.words : `${REFUSED_AT[stage]}: ${redact(reply.text, hidden)}`;
  const code = failure.code ?? (reply === null ? '' : replyCode(reply));
  return providerResult(failure.verdict ?? outcome.verdict, code, detail, {
    retryAt: outcome.wait === null ? null : now + outcome.wait,
    suppress: outcome.suppress,
    alert: outcome.alert || failure.alert === true,
  });
}

/**
 * Returns true if a reused connection had ended before the body was requested. A 421 to the first command is the late
 * goodbye of a server whose idle timeout passed. A server that means the message repeats it on a new connection.
 */
const wasDead = ({ stage, lost, reply }: SmtpFailure): boolean =>
  stage === 'mail' ? lost === true || reply?.code === 421 : lost === true && stage !== 'body' && stage !== 'dot';

const EMAIL_ALONE = 'An SMTP account carries email alone.';

/**
 * Sends through one SMTP account. One call is one transaction with one recipient and is never repeated. Only opening a
 * connection may happen twice: an idle connection found dead before the body was requested is replaced once, because it
 * cannot have accepted anything.
 */
class SmtpSender implements ChannelSender {
  readonly #settings: SessionSettings;
  readonly #pool: SessionPool;
  readonly #clock: Clock;
  readonly #account: AccountOf<'smtp'>;
  readonly #signer: MailSigner | null;

  constructor(
    { account, signer }: { readonly account: AccountOf<'smtp'>; readonly signer: MailSigner | null },
    settings: SessionSettings,
    limits: PoolLimits,
    clock: Clock,
  ) {
    this.#account = account;
    this.#signer = signer;
    this.#settings = settings;
    this.#pool = new SessionPool(limits, (stop) => SmtpSession.open(settings, stop));
    this.#clock = clock;
  }

  async send(message: RenderedMessage, context: SendContext): Promise<ProviderResult> {
    if (message.channel !== 'email') return providerResult('refused_account', '', EMAIL_ALONE, { alert: true });
    const hidden: Hidden = {
      address: message.to,
      credentials: credentialsOf(this.#settings),
      content: [message.subject, message.text, message.html ?? ''],
    };
    let mail: ComposedMail | null;
    try {
      mail = compose(message, this.#clock.now(), tracingOf(this.#account, context.receiptToken));
    } catch (error) {
      const detail = `The message could not be written as MIME: ${redact(messageOf(error), hidden)}`;
      return providerResult('refused_content', '', detail);
    }
    if (mail === null) {
      return providerResult('refused_recipient', '', 'Sender or recipient is not an address that SMTP can name.');
    }
    if (this.#signer !== null) {
      try {
        mail = { ...mail, bytes: await this.#signer.sign(mail.bytes) };
      } catch (error) {
        // Unsigned it would reach spam folders, and nobody would hear of it.
        const detail = `The message could not be signed: ${redact(messageOf(error), hidden)}`;
        return providerResult('refused_account', '', detail, { alert: true });
      }
    }
    const end = await this.#attempt(mail, context.signal);
    if (!end.ok) return resultOf(end.error, hidden, this.#clock.now());
    const { value: reply } = end;
    const said = redact(reply.text, hidden);
    const detail = said === '' ? 'The server accepted the message.' : `The server accepted the message: ${said}`;
    return providerResult('accepted', replyCode(reply), detail, { providerId: queueId(reply) });
  }

  async #attempt(mail: ComposedMail, stop: AbortSignal): Promise<Result<SmtpReply, SmtpFailure>> {
    const limit = AbortSignal.timeout(this.#settings.timeouts.attempt);
    const either = AbortSignal.any([stop, limit]);
    const orLate = (failed: { ok: false; error: SmtpFailure }): Result<never, SmtpFailure> =>
      limit.aborted && !stop.aborted
        ? err(silence(failed.error.stage, 'No connection became free in time.', { verdict: 'transient' }))
        : failed;

    const taken = await this.#pool.take(either);
    if (!taken.ok) return orLate(taken);
    let session = taken.value;
    const reused = session.served > 0;
    let end = await session.transact(mail, stop, limit);
    if (!end.ok && reused && wasDead(end.error)) {
      const fresh = await this.#pool.replace(either);
      if (!fresh.ok) return orLate(fresh);
      session = fresh.value;
      end = await session.transact(mail, stop, limit);
    }
    this.#pool.give(session);
    return end;
  }

  async check(): ReturnType<ChannelSender['check']> {
    const steps = await checkAccount(this.#settings);
    if (this.#signer === null) return steps;
    const { name, value } = this.#signer.record;
    // First, so that the step that fails stays the last one.
    return [{ step: 'DKIM', ok: true, detail: `signs; DNS has to have ${name} TXT "${value}"` }, ...steps];
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Stands in for an account that cannot work as it is configured: it parks what is sent over it and says why. */
const unusableSender = (failure: SmtpFailure, clock: Clock): ChannelSender => ({
  send: async () => resultOf(failure, { address: '', credentials: [], content: [] }, clock.now()),
  check: async () => [{ step: failure.stage, ok: false, detail: failure.words }],
  close: async () => undefined,
});

function settingsOf(
  account: AccountOf<'smtp'>,
  secrets: Readonly<Record<string, string>>,
  deps: SmtpSenderDeps,
  workspace: string,
): Result<SessionSettings, SmtpFailure> {
  const password = account.password === undefined ? '' : (secrets[account.password.secret] ?? '');
  if (account.user !== undefined && password === '') {
    const name = account.password?.secret;
    const words = name === undefined ? 'The account names a user but no password.' : `The secret ${name} has no value.`;
    return err(silence('login', words, { verdict: 'refused_account', alert: true }));
  }
  return ok({
    host: account.host,
    port: account.port,
    tls: tlsMode(account),
    login: account.user === undefined ? null : { user: account.user, password },
    timeouts: { ...DEFAULT_TIMEOUTS, ...deps.timeouts },
    trusted: deps.trusted ?? [],
    guard: workspace === '' ? null : deps.guard,
  });
}

/** Makes senders for SMTP accounts. `secrets` holds the password under the name that the account refers to. */
export const createSmtpSenderFactory = (deps: SmtpSenderDeps): SenderFactory => ({
  kind: 'smtp',
  create(account, secrets, workspace) {
    if (account.kind !== 'smtp') throw new TypeError(`an SMTP sender cannot use an account of kind ${account.kind}`);
    const settings = settingsOf(account, secrets, deps, workspace);
    if (!settings.ok) return unusableSender(settings.error, deps.clock);
    const signer = account.dkim ? createMailSigner(account.dkim, secrets[account.dkim.key.secret] ?? null) : ok(null);
    if (!signer.ok) {
      return unusableSender(silence('login', signer.error, { verdict: 'refused_account', alert: true }), deps.clock);
    }
    const limits = {
      connections: account.connections ?? CONNECTIONS,
      idle: deps.idle ?? IDLE_TIMEOUT_MS,
      messages: deps.messages ?? MESSAGES,
    };
    return new SmtpSender({ account, signer: signer.value }, settings.value, limits, deps.clock);
  },
});
