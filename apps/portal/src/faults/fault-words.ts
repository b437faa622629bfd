import type { FaultCode } from '@carillon/kernel';
import { channelLabel, channelLabels, fieldLabel, kindLabel } from './field-labels.ts';
import { quoted, type Phrase, type Place } from './phrase.ts';
import { SOURCE_WORDS } from './source-fault-words.ts';

/** A mistake or warning as the API returns it. */
export type CodedFault = {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly code: string;
  readonly facts: Readonly<Record<string, string>>;
};

/** `message`: the fault, a sentence without its full stop. `fix`: what to do, a sentence, or empty if the message says it. */
export type FaultWords = { readonly message: string; readonly fix: string };

const meantOr = (meant: string, otherwise: string): string =>
  meant === '' ? otherwise : `Did you mean ${quoted(meant)}?`;
const sentence = (text: string): string =>
  text === '' ? '' : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
/** Remarks on expressions and templates quote code in backticks. */
const plain = (text: string): string => text.replaceAll(/`([^`]*)`/g, '“$1”');

/** Returns what a form expects, or an empty text if the expectation is about the syntax of a file. */
function expectation(expected: string): string {
  if (/[{}]|keys and values|[a-z]_[a-z]|\bwrite\b|authorization/.test(expected)) return '';
  return expected === 'text'
    ? ''
    : plain(expected.replace(' (CEL)', '').replace(', in quotes', '').replace('sms', 'SMS'));
}
const enter = (expected: string): string => (expectation(expected) === '' ? '' : `Enter ${expectation(expected)}.`);
const within = (where: string): string => (where === '' ? '' : `In the ${where.replace(' ', ' “')}”: `);
const whose = (notification: string): string => (notification === '' ? '' : ` of ${quoted(notification)}`);

/** The words of every fault that the portal can show. */
const WORDS: { readonly [Code in FaultCode]: Phrase<Code> } = {
  missing: ({ expected }, { label }) => [`${label}: not filled in yet`, enter(expected)],
  unknown_setting: ({ setting, meant }) => [`There is no setting ${quoted(setting)}`, meantOr(meant, 'Remove it.')],
  name_invalid: ({ name }) => [`The name ${quoted(name)} cannot be used`, 'Use small letters, digits and hyphens.'],
  value_invalid: ({ found, expected, meant }, { label }) => [
    `${label}: ${/^(?:a list|a group of keys)$/.test(found) ? 'this' : quoted(found)} does not fit`,
    meantOr(meant, enter(expected)),
  ],
  secret_written_out: (_facts, { label }) => [
    `${label}: the secret itself is not kept here`,
    'Set it as a secret, so that nobody can read it.',
  ],
  planned: ({ what }) => [`Not in this version yet (${what})`, 'Remove it until then.'],
  read_at_start: ({ setting }) => [
    `${quoted(setting)} is read when Carillon starts and cannot be changed here`,
    'Ask whoever runs Carillon.',
  ],
  nested_too_deeply: ({ most }) => [`Nested more than ${most} levels deep`, 'Remove levels.'],
  half_character: (_facts, { label }) => [`${label}: a character is incomplete`, 'Type the text again.'],
  control_characters: () => ['The text has characters that cannot be shown', 'Type it again instead of pasting it.'],
  not_a_body: (_facts, { label }) => [`${label} is not readable`, 'Discard the draft and begin again.'],
  given_twice: (_facts, { label }) => [`${label} is in this twice`, 'Leave one of them out.'],
  workspace_unknown: ({ workspace, meant }) => [
    `There is no workspace ${quoted(workspace)}`,
    meantOr(meant, 'Create it first, or choose another.'),
  ],
  reference_unknown: ({ kind, name, meant }) => [
    name === '' ? `No ${kindLabel(kind)} is chosen yet` : `There is no ${kindLabel(kind)} ${quoted(name)}`,
    meantOr(meant, name === '' ? 'Choose one.' : 'Create it, or choose another.'),
  ],
  still_needed: ({ kind, name }) => [
    `The ${kindLabel(kind)} ${quoted(name)} would be removed and is needed here`,
    'Keep it, or choose another.',
  ],
  text_empty: (_facts, { label }) => [`${label}: nothing is written yet`, 'Write it, or remove this part.'],
  body_missing: () => ['The email has no text yet', 'Write it as HTML, MJML or plain text.'],
  html_and_mjml: () => ['The email has both HTML and MJML', 'Keep one: the HTML is made from the MJML.'],
  language_invalid: ({ language, meant }) => [
    `${quoted(language)} is not a language`,
    meantOr(meant, 'Use a code such as de or de-AT.'),
  ],
  language_incomplete: ({ language, part }) => [
    `${quoted(language)} has no ${fieldLabel('template', part).toLowerCase()} yet, which Default has`,
    'Write it, or messages will mix two languages.',
  ],
  template_text: ({ message, fix, within: where }) => [`${within(where)}${plain(message)}`, sentence(plain(fix))],
  partial_unknown: ({ partial, within: where }) => [
    `${within(where)}there is no partial ${quoted(partial)}`,
    'Create it, or take it out of the text.',
  ],
  layout_incomplete: ({ layout, part }) => [
    `The layout ${quoted(layout)} has nothing for ${fieldLabel('layout', part)}`,
    'Write it in the layout, or choose another layout.',
  ],
  layout_without_body: () => [
    'The layout does not say where the text of a template goes',
    'Write {{{body}}} at that place.',
  ],
  layout_body_escaped: () => [
    'The text of a template needs three braces',
    'Write {{{body}}}: with two, it is a variable of that name.',
  ],
  layout_body_repeated: ({ times }) => [`{{{body}}} stands ${times} times in this layout`, 'Keep one of them.'],
  breaks_template: ({ template, message }) => [
    `The template ${quoted(template)} could not be shown with this: ${plain(message)}`,
    'Change that template as well.',
  ],
  mjml_invalid: ({ message, fix, template }) => [
    `${template === '' ? '' : `In the template ${quoted(template)}: `}${plain(message)}`,
    sentence(plain(fix)),
  ],
  channel_missing: () => ['No channel is chosen yet', 'Choose email, SMS or push.'],
  template_lacks_channel: ({ template, channel }) => [
    `${channelLabels(channel)} has no text yet in the template ${quoted(template)}`,
  ],
  breaks_notification: ({ notification, channel, kind, name }) => [
    `${quoted(notification)} sends ${channelLabel(channel)} with the ${kindLabel(kind)} ${quoted(name)}, which has nothing for it then`,
    'Change the notification as well.',
  ],
  account_other_channel: ({ account, channel }) => [
    `The account ${quoted(account)} cannot send ${channelLabel(channel)}`,
    'Choose another account.',
  ],
  account_not_in_test: ({ account }) => [
    `The account ${quoted(account)} is not in this test environment, so its messages stay in the inbox`,
    'Nothing to do: the live workspace has it.',
  ],
  category_unknown: ({ category, meant }) => [
    `There is no category ${quoted(category)}`,
    meantOr(meant, 'Create it in the settings of the workspace, or choose another.'),
  ],
  category_name_taken: ({ category, holder }) => [
    `${quoted(category)} already belongs to the category ${quoted(holder)}`,
    'Remove the old name from one of them.',
  ],
  category_removed: ({ category }) => [
    `Without the category ${quoted(category)}, the opt-outs from it are lost`,
    'Keep it, or rename another category to take its place.',
  ],
  expression_invalid: ({ message, fix }, { label }) => [`${label}: ${plain(message)}`, sentence(plain(fix))],
  expression_constant: ({ why, example }, { label }) => [
    `${label}: ${plain(why)}, so nobody would ever be notified`,
    `Enter an expression such as ${quoted(example)}.`,
  ],
  every_event: ({ stream }) => [
    `The rule fires on every event${stream === '' ? '' : ` of ${quoted(stream)}`}`,
    'Add a condition, unless every event is meant.',
  ],
  item_without_list: (_facts, { label }) => [
    `${label}: “item” needs a list of people in the event`,
    'Name that list, or use “event” instead of “item”.',
  ],
  once_ever: (_facts, { label }) => [
    `${label}: each address gets this notification once, ever`,
    'Choose “event” or a value such as the order to send it again.',
  ],
  once_per_event: ({ mention }, { label }) => [
    `${label}: of all people of one event, only the first is notified`,
    `Use a value that differs between them, from “${mention}”.`,
  ],
  rule_expensive: ({ steps, most }, { label }) => [
    `${label}: a large event could take ${steps} steps of ${most}, and the rest of the people would be dropped`,
    'Look at less text, or at fewer entries of lists.',
  ],
  address_missing: (_facts, { label }) => [`${label}: not filled in yet`, 'Choose the field of the event that has it.'],
  address_missing_for_channel: ({ channel, address }) => [
    `${channelLabel(channel)} is not sent: the rule has no ${plain(address)}`,
    'Choose the field of the event that has it.',
  ],
  address_other_kind: ({ channel, address, field }) => [
    `${channelLabel(channel)} goes to a ${plain(address)}, and ${quoted(field)} does not look like one`,
    `Choose the field of the event that has the ${plain(address)}.`,
  ],
  path_and_stream: () => ['The rule has an address of its own and a shared event stream', 'Keep one of the two.'],
  path_elsewhere: ({ workspace }) => [
    `The address of the rule is not in the workspace ${quoted(workspace)}`,
    'Leave it out, so that Carillon makes one.',
  ],
  path_taken: ({ path, holder }) => [
    `The address ${quoted(path)} belongs to ${quoted(holder)}`,
    'Use another name for this rule.',
  ],
  path_changed: ({ path }) => [
    `The address ${quoted(path)} of a rule cannot change: senders use it`,
    'Keep it, or add another rule.',
  ],
  identity_taken: ({ holder }) => [
    `${quoted(holder)} has the same history`,
    'Discard one of them, or remove the other in the same publication to rename it.',
  ],
  integration_without_recipients: ({ integration }) => [
    `${quoted(integration)} does not know addresses`,
    'Choose the partner that does.',
  ],
  integration_without_cohorts: ({ integration }) => [
    `${quoted(integration)} has no cohorts`,
    'Choose an analytics platform.',
  ],
  changes_unused: ({ stream }) => [
    stream === ''
      ? 'Changes are chosen, and the rule is on no event stream of changes'
      : `Changes are chosen, and the events of ${quoted(stream)} are no changes`,
    'Choose none, or an event stream of changes.',
  ],
  not_a_change: ({ name, stream }) => [
    stream === ''
      ? `${quoted(name)} is known only for changes, and the rule is on no event stream that has some`
      : `${quoted(name)} is known only for changes, and the event stream ${quoted(stream)} has none`,
    'Choose an event stream of changes, or leave it out of the condition.',
  ],
  cohort_not_listed: ({ integration, cohort }) => [
    `${quoted(integration)} does not follow the cohort ${quoted(cohort)}`,
    'Add it to the cohorts of that integration.',
  ],
  cohort_and_stream: (_facts, { label }) => [
    `${label}: a cohort starts this rule, so no event does`,
    'Keep the cohort or the event stream.',
  ],
  cohort_without_lookup: () => [
    'An analytics platform does not know addresses',
    'Choose the partner that does, under who is notified.',
  ],
  cohort_with_user_ids: (_facts, { label }) => [
    `${label}: a rule of a cohort asks about the member`,
    'Leave it empty.',
  ],
  security_unused: ({ reason }) => [
    reason === 'cohort'
      ? 'Cohorts start all rules, so nobody sends events to this notification'
      : 'All rules use shared event streams, which say themselves who may send',
    'Remove who may send here.',
  ],
  security_missing: () => ['Nobody may send its events yet', 'Choose who may send, or a shared event stream.'],
  security_twice: () => ['Events come with API keys or with tokens, not both', 'Choose one of them.'],
  webhook_secret_unused: () => [
    'Only changes as Debezium sends them are signed',
    'Choose an API key or a JWT provider.',
  ],
  security_empty: () => ['Nobody may send its events yet', 'Choose an API key or a JWT provider.'],
  claims_without_provider: () => ['API keys have no claims', 'Choose a JWT provider, or remove the claims.'],
  claims_missing: ({ provider }) => [
    `Everybody with a token of ${quoted(provider)} may send any event here, also about somebody else`,
    'Bind a claim to a field of the event, unless only your servers get such tokens.',
  ],
  api_key_unknown: ({ name }) => [`There is no API key ${quoted(name)} yet, so nobody can send with it`],
  open_recipients: ({ provider, field, notification }) => [
    `Everybody with a token of ${quoted(provider)} could choose who is notified${whose(notification)}, by the field ${quoted(field)}`,
    'Bind a claim to that field, or let a partner name the people.',
  ],
  open_recipients_meant: ({ provider, field, notification }) => [
    `Everybody with a token of ${quoted(provider)} chooses who is notified${whose(notification)}, by the field ${quoted(field)}`,
    'Bind a claim to that field, unless only your servers get such tokens.',
  ],
  audience_missing: (_facts, { label }) => [
    `${label}: not filled in, so tokens that were made for other services count too`,
    'Enter the value that the issuer puts into “aud” for you.',
  ],
  quiet_hours_ignored: () => [
    'Quiet hours do not apply: the notification is transactional',
    'Remove the quiet hours, or make it non-transactional.',
  ],
  quiet_hours_ambiguous: ({ at }) => [
    `The quiet hours start and end at ${at}`,
    'Choose another end, or switch the quiet hours off.',
  ],
  quiet_hours_endless: ({ channels, notification }) => [
    `The quiet hours leave no time to send ${channelLabels(channels)}${whose(notification)}`,
    'Shorten them, or leave out days or channels.',
  ],
  quiet_hours_outlast_expiry: ({ expires, length, notification }) => [
    `The quiet hours last ${length}, and messages${whose(notification)} are given up after ${expires}`,
    `Give messages up after ${length} or later.`,
  ],
  limit_ignored: () => [
    'Limits do not apply: the notification is transactional',
    'Remove the limits, or make it non-transactional.',
  ],
  limit_without_digest: () => [
    'The notification has no digest that could take the rest',
    'Hold the rest back, or switch the digest on.',
  ],
  limit_outlasts_expiry: ({ limit, expires, length, notification }) => [
    `The limit of ${limit} holds messages for up to ${length}, and messages${whose(notification)} are given up after ${expires}`,
    `Give messages up after ${length} or later, or drop the rest.`,
  ],
  digest_outlasts_expiry: ({ expires, length }) => [
    `The digest collects for up to ${length}, and messages are given up after ${expires}`,
    `Give messages up after ${length} or later, or collect for less time.`,
  ],
  digest_window_short: ({ step }) => [
    `The digest ends before ${step} have passed since its first item`,
    `Choose an end of ${step} or later.`,
  ],
  time_repeated: ({ time }) => [`${time} is in the list twice`, 'Remove one of them.'],
  ...SOURCE_WORDS,
  insecure_url: (_facts, { label }) => [
    `${label}: http sends keys and messages unencrypted`,
    'Use https, unless the address is on this machine.',
  ],
  item_match_twice: () => [
    'Two settings say which item of the answer is about whom',
    'Keep the path of the user id, or the order of the answer.',
  ],
  base64_without_basic: (_facts, { label }) => [
    `${label}: only the scheme Basic sends the key in base64`,
    'Choose Basic, or switch base64 off.',
  ],
  account_channel_wrong: ({ kind, channel }) => [
    `An account of kind ${quoted(kind)} cannot send ${channelLabel(channel)}`,
  ],
  account_name_taken: ({ name, channel }) => [
    `Two accounts for ${channelLabel(channel)} are called ${quoted(name)}`,
    'Rename one of them.',
  ],
  dkim_other_domain: ({ dkim, from }) => [
    `DKIM signs for ${quoted(dkim)}, and the sender is at ${quoted(from)}: receivers do not count the signature`,
    'Use the domain of the sender.',
  ],
  sender_missing: () => ['The account has no sender yet', 'Enter a number or a Messaging Service.'],
  sender_twice: () => ['The account has a number and a Messaging Service', 'Keep one of them.'],
  password_unprotected: () => [
    'The password could be read on the way to this server',
    'Choose STARTTLS or TLS as encryption, or remove user and password.',
  ],
  secret_hidden: ({ secret }) => [
    `This workspace may not use the secret ${quoted(secret)} of the deployment`,
    'Set a value for this workspace.',
  ],
  environment_of_itself: () => [
    'A workspace cannot be the test environment of itself',
    'Choose the workspace that it is for.',
  ],
  environment_of_test: ({ workspace }) => [
    `${quoted(workspace)} is a test environment itself`,
    'Choose the live workspace.',
  ],
  environment_only: (_facts, { label }) => [
    `${label}: only a test environment has this setting`,
    'Remove it, or make this a test environment.',
  ],
  environment_live_removed: ({ workspace, environment }) => [
    `${quoted(workspace)} would be removed, and ${quoted(environment)} is a test environment of it`,
    'Keep it, or remove the test environment too.',
  ],
  environment_has_tests: ({ environment }) => [
    `${quoted(environment)} is a test environment of this workspace, so this stays a live one`,
    'Keep it live, or remove the test environment first.',
  ],
  workspace_not_empty: ({ contents }) => [`The workspace still has ${contents}`, 'Remove these first.'],
  deployment_required: () => ['The settings of the deployment cannot be removed'],
  put_and_removed: (_facts, { label }) => [`${label} is both changed and removed`, 'Leave one of them out.'],
  sign_in_closed: () => [
    'Without passwords and providers, only owner links sign in',
    'Add a provider, or allow passwords.',
  ],
  sign_in_without_portal_url: () => [
    'Providers need the address of the portal',
    'Ask whoever runs Carillon to set it.',
  ],
  sign_in_name_taken: ({ name }) => [`Two providers are called ${quoted(name)}`, 'Rename one of them.'],
  sign_in_issuer_taken: ({ issuer }) => [`Two providers have the issuer ${quoted(issuer)}`, 'Remove one of them.'],
  sign_in_admits_nobody: () => ['The provider admits nobody new', 'Allow a domain, or give a group a role.'],
};

const isCode = (code: string): code is FaultCode => Object.hasOwn(WORDS, code);

/** Returns the portal's words for a fault, made of its code, facts and place. */
export function wordsOf({ kind, name, path, code, facts }: CodedFault): FaultWords {
  const label = fieldLabel(kind, path);
  // The server and its portal come together; a newer server behind an older page is over with the next load.
  if (!isCode(code)) return { message: `${label} has a mistake`, fix: 'Load this page again.' };
  const phrase = WORDS[code] as (facts: Readonly<Record<string, string>>, place: Place) => readonly [string, string?];
  const [message, fix = ''] = phrase(facts, { label, kind, name });
  return { message: sentence(message).replace(/\.$/, ''), fix };
}
