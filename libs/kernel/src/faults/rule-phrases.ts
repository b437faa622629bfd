import { orElse, type FaultPhrases } from './fault-text.ts';

type Code =
  | 'expression_invalid'
  | 'expression_constant'
  | 'every_event'
  | 'item_without_list'
  | 'once_ever'
  | 'once_per_event'
  | 'rule_expensive'
  | 'address_missing'
  | 'address_missing_for_channel'
  | 'address_other_kind'
  | 'path_and_stream'
  | 'path_elsewhere'
  | 'path_taken'
  | 'path_changed'
  | 'identity_taken'
  | 'integration_without_recipients'
  | 'integration_without_cohorts'
  | 'changes_unused'
  | 'not_a_change'
  | 'state_without_key'
  | 'several_deadlines'
  | 'unless_without_wait'
  | 'if_past_without_at'
  | 'deadline_without_wait'
  | 'previous_after_answer'
  | 'total_unknown'
  | 'total_unused'
  | 'total_kind'
  | 'total_where'
  | 'total_beyond_samples'
  | 'totals_without_cooldown'
  | 'key_replaced'
  | 'rules_remembering'
  | 'forget_after_too_short'
  | 'forget_after_without_key'
  | 'cohort_not_listed'
  | 'cohort_and_stream'
  | 'cohort_without_lookup'
  | 'cohort_with_user_ids';

const ROOTS = 'event, event_id or time';

/** Sentences about rules and their expressions. */
export const RULE_PHRASES: FaultPhrases<Code> = {
  expression_invalid: ({ message, fix }, { label, remark }) => ({
    message,
    expected: 'a valid expression (CEL)',
    fix,
    formMessage: `${label}: ${remark(message)}`,
    formFix: remark(fix),
  }),
  expression_constant: ({ why, example }, { label, quote, remark }) => ({
    message: `${why} for every event, so nobody would ever be notified`,
    expected: 'an expression that depends on the event',
    fix: `write an expression such as ${example}`,
    formMessage: `${label}: ${remark(why)}, so nobody would ever be notified`,
    formFix: `Enter an expression such as ${quote(example)}.`,
  }),
  every_event: ({ stream }, { quote }) => ({
    message: `the rule fires on every event${stream === '' ? '' : ` of ${quote(stream)}`}`,
    expected: '',
    fix: 'write a condition such as event.status == "paid"; keep true if every event should fire',
    formFix: 'Add a condition, unless every event is meant.',
  }),
  item_without_list: (_facts, { label }) => ({
    message: 'item exists only in a rule with for_each',
    expected: ROOTS,
    fix: 'add for_each: <a list in the event>, or write event instead of item',
    formMessage: `${label}: “item” needs a list of people in the event`,
    formFix: 'Name that list, or use “event” instead of “item”.',
  }),
  once_ever: ({ from }, { label }) => ({
    message: `unique_id is missing, so ${from === 'lookup' ? 'unless the partner names one, ' : ''}each address gets this notification once, ever`,
    expected: '',
    fix: 'write unique_id: event_id to count every event, or an expression such as event.order_id; change nothing if each address shall get one message in total',
    formMessage: `${label}: each address gets this notification once, ever`,
    formFix: 'Choose “event” or a value such as the order to send it again.',
  }),
  once_per_event: ({ mention }, { label }) => ({
    message: `unique_id does not mention ${mention}, so of all recipients of an event only the first is notified`,
    expected: '',
    fix: `mention ${mention}, for instance event.order_id + ":" + ${mention}.${mention === 'item' ? 'email' : 'user_id'}, or write event_id`,
    formMessage: `${label}: of all people of one event, only the first is notified`,
    formFix: `Use a value that differs between them, from “${mention}”.`,
  }),
  rule_expensive: ({ steps, most, recipients }, { label }) => ({
    message: `on an event with ${recipients === '' ? '' : `${recipients} recipients, `}lists of 100 entries and texts of 10,000 characters this rule takes about ${steps} steps of the ${most} that it has; the rest is dropped as too_complex`,
    expected: '',
    fix:
      recipients === ''
        ? 'read less text, or fewer list items'
        : 'move conditions that are the same for all recipients to when, and read less text for each recipient',
    formMessage: `${label}: a large event could take ${steps} steps of ${most}, and the rest of the people would be dropped`,
    formFix: 'Read less text, or fewer list items.',
  }),
  address_missing: (_facts, { label }) => ({
    message: 'there is no address',
    expected: 'email: an expression',
    fix: 'write for instance to: { email: event.customer.email }',
    formMessage: `${label}: not filled in yet`,
    formFix: 'Choose the field of the event that has it.',
  }),
  address_missing_for_channel: ({ channel, address, key }, { channelNames, remark }) => ({
    message: `${channelNames(channel)} is not sent: the rule has no ${remark(address)}`,
    expected: '',
    fix: `add ${key}: an expression`,
    formFix: 'Choose the field of the event that has it.',
  }),
  address_other_kind: ({ channel, address, field }, { channelNames, quote, remark }) => ({
    message: `${channelNames(channel)} goes to a ${remark(address)}, and ${quote(field)} does not look like one`,
    expected: '',
    fix: `name the field that has the ${address}`,
    formFix: `Choose the field of the event that has the ${remark(address)}.`,
  }),
  path_and_stream: () => ({
    message: 'the rule has an address of its own and a shared event stream',
    expected: 'stream or path',
    fix: 'remove path',
    formFix: 'Keep one of the two.',
  }),
  path_elsewhere: ({ workspace }, { quote }) => ({
    message: `the address of the rule is not in the workspace ${quote(workspace)}`,
    expected: `${workspace}/<notification>.<rule>`,
    fix: 'write the path that export wrote, or remove it',
    formFix: 'Leave it out, so that Carillon makes one.',
  }),
  path_taken: ({ path, holder }, { quote, workspace, name }) => ({
    message: `the address ${quote(path)} belongs to ${quote(holder)}`,
    expected: 'an address of its own',
    fix: `write path: ${workspace}/${name}.<another name> for one of them`,
    formFix: 'Use another name for this rule.',
  }),
  path_changed: ({ path }, { quote }) => ({
    message: `the address ${quote(path)} of a rule cannot change: senders use it`,
    expected: path,
    fix: 'restore the previous path, or create another rule',
    formFix: 'Keep it, or add another rule.',
  }),
  identity_taken: ({ what, holder }, { quote }) => ({
    message: `the notification ${quote(holder)} already has this ${what}`,
    expected: `each ${what} once`,
    fix: `remove ${what} here, so that it gets its own; to rename ${holder}, remove it in the same change`,
    formMessage: `${quote(holder)} has the same history`,
    formFix: 'Discard one of them, or remove the other in the same publication to rename it.',
  }),
  integration_without_recipients: ({ integration }, { quote }) => ({
    message: `${quote(integration)} cannot look up addresses of people`,
    expected: 'an integration of kind lookup',
    fix: 'name a lookup partner as integration, and the cohort under cohort',
    formFix: 'Choose a partner that looks up people.',
  }),
  integration_without_cohorts: ({ integration }, { quote }) => ({
    message: `${quote(integration)} has no cohorts`,
    expected: 'an integration with cohorts',
    fix: 'name the analytics platform',
    formFix: 'Choose an analytics platform.',
  }),
  changes_unused: ({ stream }, { quote }) => ({
    message:
      stream === ''
        ? 'changes are chosen, and the rule is on no event stream of changes'
        : `changes are chosen, and the events of ${quote(stream)} are no changes`,
    expected: 'changes on a rule whose stream reads tables, or has format: debezium',
    fix: 'remove changes, or name a stream of changes',
    formFix: 'Choose none, or an event stream of changes.',
  }),
  not_a_change: ({ name, stream }, { quote }) => ({
    message:
      stream === ''
        ? `${quote(name)} is known only for changes, and the rule is on no event stream that has some`
        : `${quote(name)} is known only for changes, and the event stream ${quote(stream)} has none`,
    expected: ROOTS,
    fix: `leave ${name} out, or put the rule on a stream that reads tables or has format: debezium`,
    formFix: 'Choose an event stream of changes, or leave it out of the condition.',
  }),
  state_without_key: ({ name, stream }, { quote }) => ({
    message:
      stream === ''
        ? `${quote(name)} looks at earlier events of an entity, and the rule is on no shared event stream with a key`
        : `${quote(name)} looks at earlier events of an entity, and the event stream ${quote(stream)} has no key`,
    expected: 'a rule on a stream with key or from',
    fix: `leave ${name} out, or put the rule on a stream with a key such as key: event.order_id`,
    formFix: 'Choose an event stream with a key.',
  }),
  several_deadlines: ({ first }, { label, quote }) => ({
    message: `the rule has ${first} already`,
    expected: 'one of after, after_last and at',
    fix: `keep one of the two; after_last moves with each match, after does not`,
    formMessage: `${label}: the rule has ${quote(first)} already`,
    formFix: 'Keep one of the two.',
  }),
  unless_without_wait: (_facts, { label }) => ({
    message: 'unless ends a wait, and the rule does not wait',
    expected: 'unless beside after, after_last or at',
    fix: 'add for instance after: 1h, or write the condition in when',
    formMessage: `${label}: the rule does not wait`,
    formFix: 'Let the rule wait, or move the condition to When.',
  }),
  if_past_without_at: (_facts, { label }) => ({
    message: 'if_past says what happens to an at that is past, and the rule has none',
    expected: 'if_past beside at',
    fix: 'remove if_past; a deadline of after and after_last is never past',
    formMessage: `${label}: only a rule that waits until a time has it`,
    formFix: 'Leave it out.',
  }),
  deadline_without_wait: (_facts, { label }) => ({
    message: 'deadline is the end of a wait, and the rule does not wait',
    expected: ROOTS,
    fix: 'write time for the time of the event, or add for instance after: 1h',
    formMessage: `${label}: “deadline” is the end of a wait, and the rule does not wait`,
    formFix: 'Use “time”, or let the rule wait.',
  }),
  previous_after_answer: ({ name }, { label, quote }) => ({
    message: `${quote(name)} cannot be used after the lookup at a partner`,
    expected: 'an expression about event and variables',
    fix: `write ${name} in when or user_ids`,
    formMessage: `${label}: ${quote(name)} cannot be used after the lookup at a partner`,
    formFix: 'Ask for it in the condition.',
  }),
  total_unknown: ({ name, known }, { label, quote }) => ({
    message: name === '' ? 'totals is not read as totals.<name>' : `the rule has no total ${quote(name)}`,
    expected: orElse(known, 'a total of the rule'),
    fix: name === '' ? 'write totals.<name>' : `write totals.<name> of an existing total, or add ${name} to totals`,
    formMessage: name === '' ? `${label}: name one total` : `${label}: the rule has no total ${quote(name)}`,
    formFix: 'Add the total, or use one that the rule has.',
  }),
  total_unused: ({ name }, { label, quote }) => ({
    message: `nothing reads the total ${quote(name)}`,
    expected: `totals.${name} in when, unless, recipients or a template`,
    fix: `write for instance when: totals.${name} >= 5, or remove ${name}`,
    formMessage: `${label}: nothing reads the total ${quote(name)}`,
    formFix: 'Use it in the condition, or remove it.',
  }),
  total_kind: (_facts, { label }) => ({
    message: 'a total can have only one of count, sum and distinct',
    expected: 'one of count, sum and distinct',
    fix: 'keep one of the three, for instance count: event.result == "failed"',
    formMessage: `${label}: a total can have only one of count, sum and distinct`,
    formFix: 'Choose a count, a sum, or the number of different values.',
  }),
  total_where: (_facts, { label }) => ({
    message: 'count already has a condition',
    expected: 'where beside sum or distinct',
    fix: 'write both conditions in count, joined by &&',
    formMessage: `${label}: a count already has a condition`,
    formFix: 'Leave it out, and add the condition to the count.',
  }),
  total_beyond_samples: ({ name, most }, { label, quote }) => ({
    message: `the total ${quote(name)} never exceeds ${most}, because only its newest ${most} events or values are kept`,
    expected: `a number up to ${most}`,
    fix: `compare with ${most} or less, or count by the calendar: within: calendar day`,
    formMessage: `${label}: the total ${quote(name)} never exceeds ${most}`,
    formFix: `Compare with ${most} or less, or count by the calendar.`,
  }),
  totals_without_cooldown: (_facts, { label }) => ({
    message: 'the rule fires at every further event while the total lasts',
    expected: '',
    fix: 'add cooldown: until_false, or a duration such as cooldown: 1h; change nothing if every event shall send a message',
    formMessage: `${label}: the rule fires at every further event while the total lasts`,
    formFix: 'Choose a cooldown, unless each event is meant.',
  }),
  key_replaced: ({ by }) => ({
    message: 'this key is no longer supported',
    expected: by,
    fix: `write ${by}`,
    formFix: '',
  }),
  rules_remembering: ({ stream, most }, { quote }) => ({
    message: `${most} other rules on the event stream ${quote(stream)} count, wait or cool down`,
    expected: `at most ${most} such rules on a stream`,
    fix: 'put the rule on another stream, and send its events there too',
    formMessage: `${most} other rules on the event stream ${quote(stream)} count, wait or cool down`,
    formFix: 'Choose another event stream.',
  }),
  forget_after_too_short: ({ stream, kept, rule, setting, bound }, { quote }) => ({
    message: `the event stream ${quote(stream)} forgets its entities after ${kept}, which is shorter than ${setting} of the rule ${quote(rule)} (${bound})`,
    expected: `forget_after of at least ${bound}`,
    fix: `set forget_after of ${stream} to ${bound} or longer, or shorten ${setting}`,
    formMessage: `The event stream ${quote(stream)} forgets its entities after ${kept}, but ${setting} of the rule ${quote(rule)} is ${bound}.`,
    formFix: `Let the event stream remember at least ${bound}, or shorten it.`,
  }),
  forget_after_without_key: () => ({
    message: 'forget_after needs a stream with a key, because rules keep state for each key',
    expected: 'forget_after on a stream with a key',
    fix: 'remove forget_after, or create a stream with a key; the key of an existing stream cannot change',
    formMessage: 'Rules keep state for each key, so forgetting it needs an event stream with a key',
    formFix: 'Remove it, or make another event stream with a key.',
  }),
  cohort_not_listed: ({ integration, cohort, known }, { quote }) => ({
    message: `${quote(integration)} does not follow the cohort ${quote(cohort)}`,
    expected: orElse(known, 'a cohort of the integration'),
    fix: `add it under cohorts in the file of ${integration}`,
    formFix: 'Add it to the cohorts of that integration.',
  }),
  cohort_and_stream: (_facts, { label }) => ({
    message: `a cohort starts this rule, so it has no ${label}`,
    expected: `cohort or ${label}`,
    fix: `remove ${label} or cohort`,
    formMessage: `${label}: a cohort starts this rule, so no event does`,
    formFix: 'Keep the cohort or the event stream.',
  }),
  cohort_without_lookup: () => ({
    message: 'an analytics platform cannot look up addresses of people',
    expected: 'from: lookup',
    fix: 'write from: lookup with the partner as integration',
    formFix: 'Choose a partner that looks up people, under who is notified.',
  }),
  cohort_with_user_ids: (_facts, { label }) => ({
    message: 'a cohort rule looks up the member, so user_ids does not apply',
    expected: 'no user_ids',
    fix: 'remove user_ids',
    formMessage: `${label}: a cohort rule looks up the member of the cohort, so it names no users`,
    formFix: 'Leave it empty.',
  }),
};
