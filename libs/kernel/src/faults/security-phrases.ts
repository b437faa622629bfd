import type { FaultPhrases } from './fault-text.ts';

type Code =
  | 'security_unused'
  | 'security_missing'
  | 'security_twice'
  | 'security_empty'
  | 'webhook_secret_unused'
  | 'claims_without_provider'
  | 'claims_missing'
  | 'api_key_unknown'
  | 'open_recipients'
  | 'open_recipients_meant'
  | 'audience_missing'
  | 'sign_in_closed'
  | 'sign_in_without_portal_url'
  | 'sign_in_name_taken'
  | 'sign_in_issuer_taken'
  | 'sign_in_admits_nobody';

const EITHER = 'security: { api_keys: [name] } or { jwt_provider: name }';
const whose = (notification: string, quote: (name: string) => string): string =>
  notification === '' ? '' : ` of ${quote(notification)}`;

/** Sentences about who may send, and who may sign in. */
export const SECURITY_PHRASES: FaultPhrases<Code> = {
  security_unused: ({ reason, streams }, { file }) =>
    reason === 'cohort'
      ? {
          message: 'cohorts start all rules, so nobody sends events to this notification',
          expected: 'no security',
          fix: 'remove it',
          formFix: 'Remove who may send here.',
        }
      : {
          message: 'all rules use shared event streams, and each shared stream has its own security',
          expected: 'security of each stream',
          fix: `remove it here and write it into ${streams
            .split(', ')
            .map((stream) => file('stream', stream))
            .join(', ')}`,
          formFix: 'Remove who may send here.',
        },
  security_missing: () => ({
    message: 'nobody is allowed to send events here yet',
    expected: EITHER,
    fix: 'add security, or name a shared stream in each rule: a rule without stream has a stream of its own',
    formFix: 'Choose who may send, or a shared event stream.',
  }),
  security_twice: () => ({
    message: 'a stream takes API keys, tokens or signed requests, not two of them',
    expected: `${EITHER} or { webhook_secret: { secret: NAME } }`,
    fix: 'remove one; for both kinds of senders make two streams',
    formFix: 'Choose one of them.',
  }),
  security_empty: () => ({
    message: 'nobody is allowed to send events here yet',
    expected: EITHER,
    fix: 'name an API key or a JWT provider',
    formFix: 'Choose an API key or a JWT provider.',
  }),
  webhook_secret_unused: () => ({
    message: 'signed requests are accepted only for changes sent by Debezium',
    expected: 'api_keys or jwt_provider',
    fix: 'name an API key or a JWT provider, or write format: debezium if the sender is Debezium',
    formFix: 'Choose an API key or a JWT provider.',
  }),
  claims_without_provider: () => ({
    message: 'claims need a JWT provider, because API keys have no claims',
    expected: 'claims beside jwt_provider',
    fix: 'remove claims',
    formFix: 'Choose a JWT provider, or remove the claims.',
  }),
  claims_missing: ({ provider }, { quote }) => ({
    message: `anyone with a token of ${quote(provider)} may send any event here, even about another person`,
    expected: '',
    fix: 'bind a claim to a field, such as claims: { sub: event.user_id }; change nothing if only your servers get such tokens',
    formFix: 'Bind a claim to a field of the event, unless only your servers get such tokens.',
  }),
  api_key_unknown: ({ name }, { quote, workspace }) => ({
    message: `there is no API key ${quote(name)} yet, so nobody can send with it`,
    expected: '',
    fix: `run: npx carillon api-key create ${name} --workspace ${workspace}`,
    formFix: '',
  }),
  open_recipients: ({ provider, field, notification }, { quote, file }) => ({
    message: `everybody with a token of ${quote(provider)} could choose who is notified${whose(notification, quote)}, by the field ${quote(field)}`,
    expected: 'an address that a claim of the token binds',
    fix:
      notification === ''
        ? `bind it under security, such as claims: { email: ${field} }; name the recipients by a lookup; or write open_recipients: true for the rule if everybody with a token may send to anybody`
        : `bind it here, such as claims: { email: ${field} }; or put ${file('notification', notification)} into the folder, and name the recipients by a lookup or write open_recipients: true for the rule if everybody with a token may send to anybody`,
    formFix: 'Bind a claim to that field, or let a partner name the people.',
  }),
  open_recipients_meant: ({ provider, field, notification }, { quote }) => ({
    message: `everybody with a token of ${quote(provider)} chooses who is notified${whose(notification, quote)}, by the field ${quote(field)}`,
    expected: '',
    fix: 'change nothing if only your servers get such tokens; else bind a claim, such as claims: { email: event.email }',
    formFix: 'Bind a claim to that field, unless only your servers get such tokens.',
  }),
  audience_missing: (_facts, { label }) => ({
    message: 'audience is missing, so tokens for other services are accepted too',
    expected: '',
    fix: 'write audience: the value that the issuer puts into `aud` for you',
    formMessage: `${label}: not filled in, so tokens that were made for other services count too`,
    formFix: 'Enter the value that the issuer puts into “aud” for you.',
  }),
  sign_in_closed: () => ({
    message: 'without passwords and providers, only owner links sign in',
    expected: '',
    fix: 'add a provider under sign_in.providers, or remove passwords: false',
    formFix: 'Add a provider, or allow passwords.',
  }),
  sign_in_without_portal_url: () => ({
    message: 'providers need the address of the portal',
    expected: 'portal_url beside sign_in',
    fix: 'add portal_url: https://carillon.example.com',
    formFix: 'Ask the operator of Carillon to set it.',
  }),
  sign_in_name_taken: ({ name }, { quote }) => ({
    message: `two providers are called ${quote(name)}`,
    expected: 'a name of its own',
    fix: 'rename one of them',
    formFix: 'Rename one of them.',
  }),
  sign_in_issuer_taken: ({ issuer }, { quote }) => ({
    message: `two providers have the issuer ${quote(issuer)}`,
    expected: 'one provider for an issuer',
    fix: 'remove one of them',
    formFix: 'Remove one of them.',
  }),
  sign_in_admits_nobody: () => ({
    message: 'the provider admits no new people',
    expected: '',
    fix: 'add allowed_domains or roles; without them, only people who connected their account in the profile sign in',
    formFix: 'Allow a domain, or give a group a role.',
  }),
};
