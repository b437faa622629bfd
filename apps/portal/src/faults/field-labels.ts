import { humane } from '../ui/state-words.ts';

const CHANNELS: Readonly<Record<string, string>> = { email: 'Email', sms: 'SMS', push: 'Push' };
/** Returns a channel as people call it. */
export const channelLabel = (channel: string): string => CHANNELS[channel] ?? channel;
/** Returns several channels, as a fact names them, in one text. */
export const channelLabels = (channels: string): string => channels.split(', ').map(channelLabel).join(' and ');

const KINDS: Readonly<Record<string, string>> = {
  jwt_provider: 'JWT provider',
  api_key: 'API key',
  stream: 'event stream',
};
/** Returns a kind of resource as it stands within a sentence. */
export const kindLabel = (kind: string): string => KINDS[kind] ?? humane(kind);

/** Labels by the end of a path: the longest end that is known gives the label. They are those of the forms. */
const LABELS: Readonly<Record<string, string>> = {
  accounts: 'Accounts',
  allow_real_accounts: 'Real accounts',
  api_keys: 'Allowed API keys',
  'api_key.secret': 'API key: secret',
  'api_key.sid': 'API key: sid',
  algorithms: 'Algorithms',
  audience: 'Audience',
  auth_token: 'Auth token',
  'authorization.base64': 'Key in base64',
  'authorization.key': 'Key',
  'authorization.second_key': 'Second key',
  'authorization.scheme': 'Scheme',
  batches: 'Lists of events',
  bounce_domain: 'Bounce domain',
  cadence: 'Cadence',
  'delay.local_time': 'Time of day',
  'delay.until': 'Time named by the event',
  'digest.key': 'Grouping of the digest',
  'digest.template': 'Template of the digest',
  'digest.window': 'Length of the digest',
  delay: 'Delay',
  digest: 'Digest',
  limits: 'Limits',
  quiet_hours: 'Quiet hours',
  'quiet_hours.days': 'Days of the quiet hours',
  'quiet_hours.from': 'Start of the quiet hours',
  'quiet_hours.to': 'End of the quiet hours',
  category: 'Category',
  categories: 'Categories',
  channels: 'Channels',
  claims: 'Claims',
  'cohort.id': 'Cohort',
  'cohort.integration': 'Analytics platform',
  cohorts: 'Cohort ids',
  cors_origins: 'Websites that may send events',
  credentials: 'Key file of the service account',
  dkim: 'DKIM',
  'dkim.domain': 'DKIM domain',
  'dkim.key': 'DKIM private key',
  'dkim.selector': 'DKIM selector',
  enabled: 'On or off',
  environment: 'Environment',
  expires: 'Given up after',
  for_each: 'List of people in the event',
  from: 'Sender',
  'recipients.from': 'Where the people come from',
  host: 'Server',
  html: 'HTML',
  id: 'Id',
  image: 'Picture',
  in_doubt: 'When in doubt',
  in_order: 'Items in the order of the ids',
  'recipients.integration': 'Partner',
  issuer: 'Issuer',
  jwks_url: 'URL of the public keys',
  jwt_provider: 'JWT provider',
  key: 'Key',
  kind: 'Kind',
  link: 'What a tap opens',
  locale: 'Language',
  match: 'User id in the answer',
  messaging_service: 'Messaging Service',
  mjml: 'MJML',
  name: 'Name',
  of: 'Live workspace',
  open_recipients: 'Open recipients',
  password: 'Password',
  path: 'Address of the rule',
  per: 'Period of the limit',
  'limits.max': 'Messages of the limit',
  person: 'Person',
  poll: 'Time between two requests',
  port: 'Port',
  project: 'Project id',
  rate: 'Rate',
  per_second: 'Events a second',
  recipients: 'People to notify',
  'recipients.to': 'Address to send to',
  'to.email': 'Email address',
  'to.phone': 'Phone number',
  'to.token': 'Device token',
  rules: 'Rules',
  security: 'Who may send',
  stream: 'Event stream',
  subject: 'Subject',
  template: 'Template',
  text: 'Text',
  then: 'Messages over the limit',
  time: 'Time of the event',
  time_zone: 'Time zone',
  title: 'Title',
  tls: 'Encryption',
  transactional: 'Transactional',
  unique_id: 'Send once per',
  url: 'URL',
  user: 'User',
  user_id: 'Field with your user id',
  user_ids: 'User ids to ask for',
  variables: 'Variables',
  when: 'Condition',
  where: 'Skip people unless',
};

const capital = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1);

/** Returns the label of the longest end of a path that has one, else its last key as words. */
function labelOfEnd(keys: readonly string[]): string {
  for (let from = Math.max(0, keys.length - 2); from < keys.length; from += 1) {
    const label = LABELS[keys.slice(from).join('.')];
    if (label !== undefined) return label;
  }
  return capital(humane(keys.at(-1) ?? ''));
}

/** Keys of a path without places in lists: `limits[0].max` is `limits`, `max`. */
const keysOf = (path: string): readonly string[] => path.replaceAll(/\[\d+\]/g, '').split('.');

/** Returns the label of the field at a path of a resource, with the rule, channel or language that it is part of. */
export function fieldLabel(kind: string, path: string): string {
  if (path === '') return `The ${kindLabel(kind)}`;
  const keys = keysOf(path);
  const [first = '', second = '', third] = keys;
  if (kind === 'notification' && first === 'rules' && keys.length > 1) {
    return third === undefined ? `Rule “${second}”` : `${namedOrLabel(keys.slice(2))} of rule “${second}”`;
  }
  if (kind === 'notification' && first === 'channels' && keys.length > 1) {
    return third === undefined ? channelLabel(second) : `${labelOfEnd(keys.slice(2))} for ${channelLabel(second)}`;
  }
  if (kind === 'template' && CHANNELS[first] !== undefined) {
    const inLanguage = second === 'locales' && third !== undefined;
    const part = keys.slice(inLanguage ? 3 : 1);
    const of = `${channelLabel(first)}${inLanguage ? ` in “${third}”` : ''}`;
    return part.length === 0 ? of : `${labelOfEnd(part)} of ${of}`;
  }
  return namedOrLabel(keys);
}

/** Names that a user chose stand in quotation marks: variables, claims and categories. */
function namedOrLabel(keys: readonly string[]): string {
  for (const [group, one] of NAMED) {
    const at = keys.indexOf(group);
    if (at === -1 || at === keys.length - 1) continue;
    const inside = keys.slice(at + 2);
    const name = `${one} “${keys[at + 1] ?? ''}”`;
    return inside.length === 0 ? name : `${labelOfEnd(inside)} of ${name.toLowerCase()}`;
  }
  return labelOfEnd(keys);
}
const NAMED = [
  ['variables', 'Variable'],
  ['claims', 'Claim'],
  ['categories', 'Category'],
] as const;
