import type { Report } from '@carillon/domain/receipts';

/**
 * Content of a bounce mail. `none`: no report, such as an out-of-office reply. `unreadable`: the mail cannot be parsed.
 */
export type MailReading =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'none' | 'unreadable' };

/** Where mail that comes back is taken. */
export type BounceSettings = {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** LMTP is what a mail server in front of us speaks; over SMTP it may also be reached as the host of an MX record. */
  readonly protocol: 'smtp' | 'lmtp';
};

export type RefusedMail = 'recipient' | 'too_large' | 'unavailable';

export type BounceListenerOptions = BounceSettings & {
  /** Whether mail to this local part is taken: it is the receipt token of an attempt. Every other address is refused. */
  readonly isToken: (localPart: string) => boolean;
  /**
   * Takes what a mail says. The mail is answered 250 after this resolves, and 451 where it rejects: the other side brings it
   * again. The same mail may come twice.
   */
  readonly take: (reading: MailReading) => Promise<void>;
  /** Told of what was refused, without address or content. */
  readonly refused?: (reason: RefusedMail) => void;
};

export type BounceListener = {
  readonly port: number;
  /** Whether it still takes connections. */
  listening(): boolean;
  close(): Promise<void>;
};

/** Takes and reads mail that comes back. It never sends anything. */
export type BounceMail = {
  /** Rejects where the address cannot be listened on. */
  listen(options: BounceListenerOptions): Promise<BounceListener>;
};
