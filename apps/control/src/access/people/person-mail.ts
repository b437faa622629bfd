import { parseMailbox } from '@carillon/domain/channels';
import { portalUrlOf } from '@carillon/domain/configuration';
import { deploymentAccounts, sendingSecrets } from '@carillon/domain/deliveries';
import { messageOf, type Duration, type Instant } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';

/** A request waits for its mail no longer than this. */
const TIMEOUT_MS: Duration = 20_000;
/** A notice that could not be sent by then is of no use. */
const NOTICE_LASTS: Duration = 60 * 60_000;

/** Result of a mail. `no_account`: the deployment has no email account. `no_portal_url`: the link has no base URL. */
export const MAILED = ['sent', 'no_account', 'no_portal_url', 'failed'] as const;
export type Mailed = (typeof MAILED)[number];

/** A plain-text mail to one person who may sign in. */
export type Letter = {
  /** Becomes the Message-ID. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly notAfter: Instant;
};

export type Notice = Pick<Letter, 'to' | 'subject' | 'text'>;
/** A mail with a link to a page of the portal. */
export type LinkLetter = Omit<Letter, 'text'> & {
  /** `/confirm#TOKEN`. No server and no log sees the token, because browsers do not send a fragment. */
  readonly path: string;
  readonly text: (link: string) => string;
};

/** Mails people about their own account, over the deployment's first email account. */
export type PersonMail = {
  /**
   * Tries once. Never rejects. The link begins with `portal_url`, never with the `Host` of a request, which a client can forge.
   */
  sendLink(letter: LinkLetter): Promise<Mailed>;
  /** Sends in the background: a change does not wait for it, and does not fail with it. */
  notify(notice: Notice): void;
};

export type PersonMailPorts = Pick<ControlPorts, 'configuration' | 'secrets' | 'senders' | 'watch' | 'ids' | 'clock'>;

export function createPersonMail(ports: PersonMailPorts): PersonMail {
  async function send(letterOf: (portal: string | null) => Letter | null): Promise<Mailed> {
    try {
      const [account] = deploymentAccounts(ports.configuration.current(), 'email');
      // A link in the inbox of this host could be opened by everyone who may read the inbox.
      if (account === undefined || account.body.kind === 'sandbox') return 'no_account';
      const letter = letterOf(portalUrlOf(ports.configuration.current()));
      if (letter === null) return 'no_portal_url';
      return (await sendOver(account.body, letter, ports)) ? 'sent' : 'failed';
    } catch (error) {
      ports.watch.trouble('mail a person', messageOf(error));
      return 'failed';
    }
  }
  return {
    sendLink: ({ path, text, ...rest }) =>
      send((portal) => (portal === null ? null : { ...rest, text: text(`${portal}${path}`) })),
    notify(notice) {
      const id = ports.ids.random('request');
      const letter = { ...notice, id, notAfter: ports.clock.now() + NOTICE_LASTS };
      void send(() => letter);
    },
  };
}

/** Sends nothing. For access that only needs the stores. */
export const NO_MAIL: PersonMail = {
  sendLink: () => Promise.resolve('no_account'),
  notify: () => undefined,
};

async function sendOver(
  given: ReturnType<typeof deploymentAccounts>[number]['body'],
  { id, to, subject, text, notAfter }: Letter,
  { secrets, senders, ids, watch }: PersonMailPorts,
): Promise<boolean> {
  const factory = senders.find(({ kind }) => kind === given.kind);
  const from = parseMailbox('from' in given ? (given.from ?? '') : '');
  if (!factory || !from.ok) throw new Error('the account sends no email, or names no sender');
  // A bounce of this mail matches no delivery and could not be assigned.
  const {
    return_path: _,
    receipts: __,
    ...account
  } = given as typeof given & {
    readonly return_path?: string;
    readonly receipts?: unknown;
  };
  const values: Record<string, string> = {};
  for (const secret of sendingSecrets(account)) {
    const value = await secrets.resolve('', secret);
    if (value === null) throw new Error(`there is no secret ${secret}`);
    values[secret] = value;
  }
  const sender = factory.create(account, values, '');
  try {
    const messageId = `<${id}@${from.value.address.split('@').at(-1) ?? 'carillon.invalid'}>`;
    const result = await sender.send(
      { channel: 'email', to, from: from.value, subject, html: null, text, messageId },
      {
        workspace: '',
        deliveryId: id,
        attemptToken: ids.token(),
        receiptToken: '',
        reportTo: null,
        traceparent: null,
        notAfter,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
    );
    if (result.verdict === 'accepted') return true;
    watch.trouble('mail a person', `${result.verdict} ${result.code} ${result.detail}`);
    return false;
  } finally {
    await sender.close().catch((error: unknown) => watch.trouble('mail a person', messageOf(error)));
  }
}
