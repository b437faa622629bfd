/**
 * Codes of what can be wrong or odd in a configuration, each with the names of its facts. `faults/` has the sentences of each code
 * for readers of files and of forms. Codes are public and never renamed. Facts are public: add some, but rename none.
 */
export const FAULT_FACTS = {
  // Shape of a body.
  missing: ['expected'],
  unknown_setting: ['setting', 'meant', 'known'],
  name_invalid: ['name', 'expected'],
  value_invalid: ['found', 'expected', 'meant', 'type'],
  secret_written_out: ['example'],
  planned: ['what'],
  always_kept: ['topic'],
  read_at_start: ['setting', 'known'],
  nested_too_deeply: ['most'],
  half_character: [],
  control_characters: ['why'],
  not_a_body: [],
  given_twice: [],
  workspace_unknown: ['workspace'],
  reference_unknown: ['kind', 'name', 'meant', 'known'],
  still_needed: ['kind', 'name'],
  // Templates, layouts and partials.
  text_empty: ['part'],
  body_missing: [],
  html_and_mjml: [],
  language_invalid: ['language', 'meant'],
  language_incomplete: ['language', 'part'],
  template_text: ['message', 'fix', 'within'],
  partial_unknown: ['partial', 'within'],
  layout_incomplete: ['layout', 'part'],
  layout_without_body: [],
  layout_body_escaped: [],
  layout_body_repeated: ['times'],
  breaks_template: ['template', 'message', 'fix'],
  mjml_invalid: ['message', 'fix', 'template'],
  // Notifications: channels, templates, accounts.
  channel_missing: [],
  template_lacks_channel: ['template', 'channel', 'known'],
  breaks_notification: ['notification', 'channel', 'kind', 'name'],
  account_other_channel: ['account', 'channel', 'known'],
  account_not_in_test: ['account'],
  category_unknown: ['category', 'meant', 'known'],
  category_name_taken: ['category', 'holder'],
  category_removed: ['category'],
  // Rules and their expressions.
  expression_invalid: ['message', 'fix'],
  expression_constant: ['why', 'example'],
  every_event: ['stream'],
  item_without_list: [],
  once_ever: ['from'],
  once_per_event: ['mention'],
  rule_expensive: ['steps', 'most', 'recipients'],
  address_missing: [],
  address_missing_for_channel: ['channel', 'address', 'key'],
  address_other_kind: ['channel', 'address', 'field'],
  path_and_stream: [],
  path_elsewhere: ['workspace'],
  path_taken: ['path', 'holder'],
  path_changed: ['path'],
  identity_taken: ['what', 'holder'],
  integration_without_recipients: ['integration'],
  integration_without_cohorts: ['integration'],
  changes_unused: ['stream'],
  not_a_change: ['name', 'stream'],
  state_without_key: ['name', 'stream'],
  several_deadlines: ['first'],
  unless_without_wait: [],
  if_past_without_at: [],
  deadline_without_wait: [],
  previous_after_answer: ['name'],
  total_unknown: ['name', 'known'],
  total_unused: ['name'],
  total_kind: [],
  total_where: [],
  total_beyond_samples: ['name', 'most'],
  totals_without_cooldown: [],
  key_replaced: ['by'],
  rules_remembering: ['stream', 'most'],
  forget_after_too_short: ['stream', 'kept', 'rule', 'setting', 'bound'],
  forget_after_without_key: [],
  cohort_not_listed: ['integration', 'cohort', 'known'],
  cohort_and_stream: [],
  cohort_without_lookup: [],
  cohort_with_user_ids: [],
  // Who may send.
  security_unused: ['reason', 'streams'],
  security_missing: [],
  security_twice: [],
  security_empty: [],
  webhook_secret_unused: [],
  claims_without_provider: [],
  claims_missing: ['provider'],
  api_key_unknown: ['name'],
  open_recipients: ['provider', 'field', 'notification'],
  open_recipients_meant: ['provider', 'field', 'notification'],
  audience_missing: [],
  // Cadence.
  quiet_hours_ignored: [],
  quiet_hours_ambiguous: ['at'],
  quiet_hours_endless: ['channels', 'notification'],
  quiet_hours_outlast_expiry: ['expires', 'length', 'notification'],
  limit_ignored: [],
  limit_without_digest: [],
  limit_outlasts_expiry: ['limit', 'expires', 'length', 'notification'],
  digest_outlasts_expiry: ['expires', 'length'],
  digest_window_short: ['step'],
  time_repeated: ['time'],
  // Streams and integrations.
  fixed_at_creation: ['what', 'of', 'was'],
  from_and_setting: ['setting'],
  integration_without_changes: ['integration'],
  integration_without_topics: ['integration'],
  tables_and_topics: [],
  debezium_and_tables: [],
  debezium_without_key: [],
  without_unused: [],
  breaks_stream: ['stream', 'reads'],
  column_unknown: ['column', 'known'],
  column_needed: ['column', 'by'],
  insecure_url: [],
  item_match_twice: [],
  base64_without_basic: [],
  // Accounts and secrets.
  account_channel_wrong: ['kind', 'channel', 'known', 'channels'],
  account_name_taken: ['name', 'channel'],
  dkim_other_domain: ['dkim', 'from'],
  sender_missing: [],
  sender_twice: [],
  password_unprotected: [],
  secret_hidden: ['secret', 'variable'],
  // Workspaces and test environments.
  environment_of_itself: [],
  environment_of_test: ['workspace'],
  environment_only: ['setting'],
  environment_live_removed: ['workspace', 'environment'],
  environment_has_tests: ['environment'],
  workspace_not_empty: ['contents'],
  // What is published together.
  retention_too_short: ['topic', 'kept', 'notification', 'rule', 'setting', 'bound'],
  deployment_required: [],
  put_and_removed: [],
  // Sign-in of the deployment.
  sign_in_closed: [],
  sign_in_without_portal_url: [],
  sign_in_name_taken: ['name'],
  sign_in_issuer_taken: ['issuer'],
  sign_in_admits_nobody: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type FaultCode = keyof typeof FAULT_FACTS;

/** The facts that the sentences of a code need. An empty text means that a fact is absent. */
export type FaultFacts<Code extends FaultCode> = {
  readonly [Name in (typeof FAULT_FACTS)[Code][number]]: string;
};

/** A code with its facts. */
export type CodedFault = {
  readonly [Code in FaultCode]: { readonly code: Code; readonly facts: FaultFacts<Code> };
}[FaultCode];

/** Returns code and facts of a fault, and nothing else of it. */
export const codeAndFacts = ({ code, facts }: CodedFault): CodedFault => ({ code, facts }) as CodedFault;
