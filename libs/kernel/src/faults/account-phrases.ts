import type { FaultPhrases, FaultPlace } from './fault-text.ts';

type Code =
  | 'insecure_url'
  | 'item_match_twice'
  | 'base64_without_basic'
  | 'account_channel_wrong'
  | 'account_name_taken'
  | 'dkim_other_domain'
  | 'sender_missing'
  | 'sender_twice'
  | 'password_unprotected'
  | 'secret_hidden';

/** Returns what an attacker on the network can do with an address that is not encrypted. */
function dangerOf({ kind, path }: FaultPlace): string {
  if (kind === 'jwt_provider') return 'keys fetched over http can be replaced on the way';
  if (path.startsWith('sign_in')) return 'anybody on the way can sign in as another person over http';
  if (path.startsWith('registry')) return 'the password goes over http, unencrypted';
  return 'http sends keys and messages unencrypted';
}

/** Sentences about accounts, integrations and secrets. */
export const ACCOUNT_PHRASES: FaultPhrases<Code> = {
  insecure_url: (_facts, place) => ({
    message: dangerOf(place),
    expected: '',
    fix:
      place.kind === 'integration'
        ? 'write https, unless the server is in your own network (CARILLON_ALLOWED_PRIVATE_ADDRESSES)'
        : 'write https, unless the address is on this machine',
    formMessage: `${place.label}: ${dangerOf(place)}`,
    formFix: 'Use https, unless the address is on this machine.',
  }),
  item_match_twice: () => ({
    message: 'two settings assign items of the answer to user ids',
    expected: 'match or in_order',
    fix: 'remove in_order if the items of the answer carry the user id, else match',
    formFix: 'Keep the path of the user id, or the order of the answer.',
  }),
  base64_without_basic: (_facts, { label }) => ({
    message: 'base64 is for scheme Basic',
    expected: 'scheme: Basic',
    fix: 'write scheme: Basic, or remove base64',
    formMessage: `${label}: only the scheme Basic sends the key in base64`,
    formFix: 'Choose Basic, or switch base64 off.',
  }),
  account_channel_wrong: ({ kind, channel, known, channels }, { channelNames, quote }) => ({
    message: `an account of kind ${quote(kind)} cannot send ${channelNames(channel)}`,
    expected: known,
    fix: `write it under accounts.${channels}`,
    formFix: '',
  }),
  account_name_taken: ({ name, channel }, { channelNames, quote }) => ({
    message: `two accounts for ${channelNames(channel)} are called ${quote(name)}`,
    expected: 'a name of its own',
    fix: 'rename one of them',
    formFix: 'Rename one of them.',
  }),
  dkim_other_domain: ({ dkim, from }, { quote }) => ({
    message: `DKIM signs for ${quote(dkim)}, and the sender is at ${quote(from)}: receivers do not count the signature`,
    expected: '',
    fix: `write domain: ${from}`,
    formFix: 'Use the domain of the sender.',
  }),
  sender_missing: () => ({
    message: 'the account has no sender yet',
    expected: 'from or messaging_service',
    fix: 'add from: a number of the account',
    formFix: 'Enter a number or a Messaging Service.',
  }),
  sender_twice: () => ({
    message: 'the account has a number and a Messaging Service',
    expected: 'from or messaging_service',
    fix: 'remove one of them',
    formFix: 'Keep one of them.',
  }),
  password_unprotected: () => ({
    message: 'the password could be read on the way to this server',
    expected: 'starttls or implicit with a user',
    fix: 'write tls: starttls (implicit on port 465), or remove user and password',
    formFix: 'Choose STARTTLS or TLS as encryption, or remove user and password.',
  }),
  secret_hidden: ({ secret, variable }, { quote, workspace }) => ({
    message: `${secret} is in the environment, but not for this workspace`,
    expected: '',
    fix: `${variable === '' ? '' : `call the variable ${variable}, `}list ${secret} in CARILLON_WORKSPACE_SECRETS, or run: npx carillon secret set ${secret} ${workspace === '' ? '--deployment' : `--workspace ${workspace}`}`,
    formMessage: `this workspace may not use the secret ${quote(secret)} of the deployment`,
    formFix: 'Set a value for this workspace.',
  }),
};
