import { formMeantOr, meantOr, orElse, type FaultPhrases } from './fault-text.ts';

type Code =
  | 'channel_missing'
  | 'template_lacks_channel'
  | 'breaks_notification'
  | 'account_other_channel'
  | 'account_not_in_test'
  | 'category_unknown'
  | 'category_name_taken'
  | 'category_removed';

/** Sentences about channels, templates, accounts and categories of a notification. */
export const NOTIFICATION_PHRASES: FaultPhrases<Code> = {
  channel_missing: () => ({
    message: 'no channel is chosen yet',
    expected: 'email: { template: … }',
    fix: 'add email, sms or push with the name of a template',
    formFix: 'Choose email, SMS or push.',
  }),
  template_lacks_channel: ({ template, channel, known }, { channelNames, quote, file }) => ({
    message: `${channelNames(channel)} has no text yet in the template ${quote(template)}`,
    expected: orElse(known, `a template with ${channelNames(channel)}`),
    fix: `write ${file('template', template, channel)}`,
    formFix: '',
  }),
  breaks_notification: ({ notification, channel, kind, name }, { channelNames, kindName, quote, file }) => ({
    message: `${quote(notification)} sends ${channelNames(channel)} with the ${kindName(kind)} ${quote(name)}, which then has no text for this channel`,
    expected: `a ${kindName(kind)} for ${channelNames(channel)}`,
    fix:
      kind === 'template'
        ? `write ${file(kind, name, channel)}, or change ${notification} in the same folder`
        : `give the ${kindName(kind)} another name, or change ${notification} in the same folder`,
    formFix: 'Change the notification as well.',
  }),
  account_other_channel: ({ account, channel, known }, { channelNames, quote }) => ({
    message: `the account ${quote(account)} cannot send ${channelNames(channel)}`,
    expected: `an account of kind ${known}`,
    fix: 'name another account, or remove it here',
    formFix: 'Choose another account.',
  }),
  account_not_in_test: ({ account }, { quote }) => ({
    message: `the account ${quote(account)} is not in this test environment, so its messages stay in the sandbox`,
    expected: '',
    fix: 'leave the name: the live workspace has the account',
    formMessage: `the account ${quote(account)} is not in this test environment, so its messages stay in the inbox`,
    formFix: 'Nothing to do: the live workspace has it.',
  }),
  category_unknown: ({ category, meant, known }, { quote, workspace, file }) => ({
    message: `there is no category ${quote(category)}`,
    expected: orElse(known, 'a category of the workspace'),
    fix: meantOr(meant, `write categories: { ${category}: {} } into ${file('workspace', workspace)}`),
    formFix: formMeantOr(meant, 'Create it in the settings of the workspace, or choose another.'),
  }),
  category_name_taken: ({ category, holder }, { quote }) => ({
    message: `${quote(category)} already belongs to the category ${quote(holder)}`,
    expected: 'a name that no category has any more',
    fix: `remove ${category} from one of the two categories`,
    formFix: 'Remove the old name from one of them.',
  }),
  category_removed: ({ category }, { quote }) => ({
    message: `without the category ${quote(category)}, the opt-outs from it are lost`,
    expected: `${category}, or another with was: [${category}]`,
    fix: `write was: [${category}] under the category that has its messages now, or leave ${category}: {} where it was`,
    formFix: 'Keep it, or rename another category to take its place.',
  }),
};
