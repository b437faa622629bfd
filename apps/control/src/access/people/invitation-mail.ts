import { deploymentAccounts, parseMailbox, sendingSecrets } from '@carillon/domain';
import { formatInstant, messageOf, type Duration, type Instant } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';

/** Whoever invites waits for it. */
const LONGEST: Duration = 20_000;

/** Whether an invitation was mailed: `no_account` of the deployment for email, or `no_portal_url` that a mail could begin its link with. */
export const MAILED = ['sent', 'no_account', 'no_portal_url', 'failed'] as const;
export type Mailed = (typeof MAILED)[number];

type Ports = Pick<ControlPorts, 'configuration' | 'secrets' | 'senders' | 'watch' | 'ids'>;

/**
 * Mails an invitation over the deployment's first email account. It is tried once: the link is shown to whoever invited as well. Never rejects.
 */
export async function mailInvitation(
  invitation: { readonly id: string; readonly to: string; readonly link: string | null; readonly endsAt: Instant },
  by: string,
  ports: Ports,
): Promise<Mailed> {
  const [account] = deploymentAccounts(ports.configuration.current(), 'email');
  if (account === undefined || account.body.kind === 'sandbox') return 'no_account';
  if (invitation.link === null) return 'no_portal_url';
  try {
    return (await send(account.body, { ...invitation, link: invitation.link }, by, ports)) ? 'sent' : 'failed';
  } catch (error) {
    ports.watch.trouble('mail an invitation', messageOf(error));
    return 'failed';
  }
}

async function send(
  given: ReturnType<typeof deploymentAccounts>[number]['body'],
  {
    id,
    to,
    link,
    endsAt,
  }: { readonly id: string; readonly to: string; readonly link: string; readonly endsAt: Instant },
  by: string,
  { secrets, senders, ids, watch }: Ports,
): Promise<boolean> {
  const factory = senders.find(({ kind }) => kind === given.kind);
  const from = parseMailbox('from' in given ? (given.from ?? '') : '');
  if (!factory || !from.ok) throw new Error('the account sends no email, or names no sender');
  // What comes back about it is about no delivery: nobody could place it.
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
    const result = await sender.send(
      {
        channel: 'email',
        to,
        from: from.value,
        subject: `${by} invites you to Carillon`,
        html: null,
        text: textOf(link, by, endsAt),
        messageId: `<${id}@${from.value.address.split('@').at(-1) ?? 'carillon.invalid'}>`,
      },
      {
        workspace: '',
        deliveryId: id,
        attemptToken: ids.token(),
        receiptToken: '',
        reportTo: null,
        traceparent: null,
        notAfter: endsAt,
        signal: AbortSignal.timeout(LONGEST),
      },
    );
    if (result.verdict !== 'accepted')
      watch.trouble('mail an invitation', `${result.verdict} ${result.code} ${result.detail}`);
    return result.verdict === 'accepted';
  } finally {
    await sender.close().catch((error: unknown) => watch.trouble('mail an invitation', messageOf(error)));
  }
}

const textOf = (
  link: string,
  by: string,
  endsAt: Instant,
): string => `${by} invites you to the management portal of Carillon.

Open this link to choose your name and your password:

${link}

It is good for one use, until ${formatInstant(endsAt)}. If you do not know what this is about, do nothing.
`;
