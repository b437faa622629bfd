import type { AccountOf } from '@carillon/domain/configuration';
import type { MailTracing } from './composition.ts';

/** The name under which the token goes out and comes back. */
const NAME = 'carillon';

/**
 * Returns what a message carries so that a report about it finds its attempt (docs/internals/evidence.md): a header
 * that the provider repeats in its events, and a separate envelope sender (VERP) for reports of mail servers.
 */
export const tracingOf = ({ receipts, return_path: domain }: AccountOf<'smtp'>, token: string): MailTracing => ({
  headers: headersFor(receipts, token),
  returnPath: domain === undefined ? null : `${token}@${domain}`,
});

function headersFor(receipts: AccountOf<'smtp'>['receipts'], token: string): MailTracing['headers'] {
  switch (receipts?.kind) {
    case undefined:
      return [];
    case 'ses': {
      const set = receipts.configuration_set;
      return [
        ...(set === undefined ? [] : [{ key: 'X-SES-CONFIGURATION-SET', value: set }]),
        { key: 'X-SES-MESSAGE-TAGS', value: `${NAME}=${token}` },
      ];
    }
    case 'sendgrid':
      return [{ key: 'X-SMTPAPI', value: JSON.stringify({ unique_args: { [NAME]: token } }) }];
    case 'mailgun':
      return [{ key: 'X-Mailgun-Variables', value: JSON.stringify({ [NAME]: token }) }];
    case 'postmark':
      return [{ key: `X-PM-Metadata-${NAME}`, value: token }];
  }
}
