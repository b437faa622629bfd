import { formatInstant, type Instant } from '@carillon/kernel';
import type { Mailed, PersonMail } from './person-mail.ts';

type Invited = { readonly id: string; readonly to: string; readonly path: string; readonly endsAt: Instant };

/** Mails an invitation. It is tried once, because the inviter sees the link as well. Never rejects. */
export const mailInvitation = ({ endsAt, ...invited }: Invited, by: string, mail: PersonMail): Promise<Mailed> =>
  mail.sendLink({
    ...invited,
    subject: `${by} invites you to Carillon`,
    text: (link) => textOf(link, by, endsAt),
    notAfter: endsAt,
  });

const textOf = (
  link: string,
  by: string,
  endsAt: Instant,
): string => `${by} invites you to the management portal of Carillon.

Open this link to choose your name and your password:

${link}

It works once, until ${formatInstant(endsAt)}. If you do not know what this is about, do nothing.
`;
