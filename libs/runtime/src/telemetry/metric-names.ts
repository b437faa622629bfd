/**
 * Every metric that we publish, in one table: dashboards, alerts and docs/telemetry.md are written against these names, and a test
 * holds the document to the table. A label never holds an address, an entity key or an id: each of its values lives for ever in memory.
 */
export const METRICS = {
  eventsAccepted: {
    name: 'carillon_events_accepted_total',
    type: 'counter',
    help: 'Events appended to the log, by stream.',
    labels: ['stream'],
  },
  eventsRefused: {
    name: 'carillon_events_refused_total',
    type: 'counter',
    help: 'Events answered with a problem, by its code.',
    labels: ['code'],
  },
  envelopes: {
    name: 'carillon_envelopes_total',
    type: 'counter',
    help: 'Debezium envelopes that senders posted, by outcome: appended, without_key, dead_letter or skipped.',
    labels: ['stream', 'result'],
  },
  intakeCutOff: {
    name: 'carillon_intake_cut_off_total',
    type: 'counter',
    help: 'Requests and connections refused or cut off so that others get their share, by reason.',
    labels: ['reason'],
  },
  tokens: {
    name: 'carillon_tokens_total',
    type: 'counter',
    help: 'Tokens verified, by JWT provider and result: valid, unavailable, or what was wrong.',
    labels: ['provider', 'result'],
  },
  tokensByStaleKeys: {
    name: 'carillon_tokens_by_stale_keys_total',
    type: 'counter',
    help: 'Tokens verified with keys that were due for a refresh that failed.',
    labels: ['provider'],
  },
  keySetFetches: {
    name: 'carillon_key_set_fetches_total',
    type: 'counter',
    help: 'Fetches of the key set of a JWT provider, by result: ok or failed.',
    labels: ['provider', 'result'],
  },
  appendSeconds: {
    name: 'carillon_append_seconds',
    type: 'histogram',
    help: 'Time from the append call until the log acknowledged it.',
    labels: [],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  records: {
    name: 'carillon_records_total',
    type: 'counter',
    help: 'Records that a stage finished, by stage and outcome.',
    labels: ['stage', 'result'],
  },
  stageBatchSeconds: {
    name: 'carillon_stage_batch_seconds',
    type: 'histogram',
    help: 'Time from taking up a batch until its position was committed, by stage.',
    labels: ['stage'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  consumerLagRecords: {
    name: 'carillon_consumer_lag_records',
    type: 'gauge',
    help: 'Records between the committed position and the end of the partition.',
    labels: ['group', 'partition'],
  },
  consumerFailures: {
    name: 'carillon_consumer_failures_total',
    type: 'counter',
    help: 'Batches that failed and are tried again, by consumer group.',
    labels: ['group'],
  },
  partitionsStopped: {
    name: 'carillon_partitions_stopped',
    type: 'gauge',
    help: 'Partitions of this process that are blocked until a person acts, by consumer group.',
    labels: ['group'],
  },
  deadLetters: {
    name: 'carillon_dead_letters_total',
    type: 'counter',
    help: 'Records that can never be processed, by the stage that gave up.',
    labels: ['stage'],
  },
  deadLettersLeaving: {
    name: 'carillon_dead_letters_leaving',
    type: 'gauge',
    help: 'Open dead letters that retention removes from the log within seven days, at most 500. Only on a cluster.',
    labels: [],
  },
  ruleErrors: {
    name: 'carillon_rule_errors_total',
    type: 'counter',
    help: 'Evaluations of a rule that ended in an error.',
    labels: [],
  },
  recipientsDropped: {
    name: 'carillon_recipients_dropped_total',
    type: 'counter',
    help: 'Recipients and user ids that a rule dropped before a message was made, by rule (`workspace/notification.rule`) and reason.',
    labels: ['rule', 'reason'],
  },
  ruleDecisions: {
    name: 'carillon_rule_decisions_total',
    type: 'counter',
    help: 'Decisions of rules that wait or have a cooldown, by rule (`workspace/notification.rule`) and decision: wait_started, wait_cancelled, in_cooldown, fired_by_deadline, or late: an event that came more than the grace of its stream after its time.',
    labels: ['rule', 'decision'],
  },
  membersSkipped: {
    name: 'carillon_cohort_members_skipped_total',
    type: 'counter',
    help: 'Members of cohorts without a usable user id, by integration.',
    labels: ['integration'],
  },
  callsPassedOver: {
    name: 'carillon_cohort_calls_passed_over_total',
    type: 'counter',
    help: 'Calls of Segment that are about no audience and were passed over, by integration.',
    labels: ['integration'],
  },
  returnedMails: {
    name: 'carillon_returned_mails_total',
    type: 'counter',
    help: 'Mails that were brought to the bounce listener: a report, none, unreadable, or why it was refused (recipient, too_large, unavailable).',
    labels: ['result'],
  },
  lookupCalls: {
    name: 'carillon_lookup_calls_total',
    type: 'counter',
    help: 'Calls to a partner, by partner and outcome.',
    labels: ['partner', 'outcome'],
  },
  lookupSeconds: {
    name: 'carillon_lookup_seconds',
    type: 'histogram',
    help: 'Time a call to a partner took.',
    labels: ['partner'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  lookupOpenCalls: {
    name: 'carillon_lookup_open_calls',
    type: 'gauge',
    help: 'Calls to partners that are open.',
    labels: [],
  },
  accountState: {
    name: 'carillon_account_state',
    type: 'gauge',
    help: '1 while a provider account refuses us (suspended), or most calls over it fail (failing); 0 when that is over.',
    labels: ['account', 'state'],
  },
  partnerState: {
    name: 'carillon_partner_state',
    type: 'gauge',
    help: '1 while a partner refuses our key (suspended), or most calls to it fail (failing); 0 when that is over.',
    labels: ['partner', 'state'],
  },
  sourceState: {
    name: 'carillon_source_state',
    type: 'gauge',
    help: '1 for the state of a database or Kafka cluster that is read (running, waiting, stopped or leaving), with its reason; 0 for states that are over.',
    labels: ['integration', 'state', 'reason'],
  },
  sourceLagSeconds: {
    name: 'carillon_source_lag_seconds',
    type: 'gauge',
    help: 'Seconds since everything that a database or Kafka cluster had was read.',
    labels: ['integration'],
  },
  sourceLagBytes: {
    name: 'carillon_source_lag_bytes',
    type: 'gauge',
    help: 'Bytes of the WAL of a database that are not read yet.',
    labels: ['integration'],
  },
  sourceLagRecords: {
    name: 'carillon_source_lag_records',
    type: 'gauge',
    help: 'Records of the topics of a Kafka cluster that are not read yet; of a stopped source all that the topics held when it stopped.',
    labels: ['integration'],
  },
  sourceChanges: {
    name: 'carillon_source_changes_total',
    type: 'counter',
    help: 'Changes of a database and records of topics, by outcome: appended, without_key, dead_letter or skipped.',
    labels: ['integration', 'result'],
  },
  lookupQueueBytes: {
    name: 'carillon_lookup_queue_bytes',
    type: 'gauge',
    help: 'Bytes of triggers that wait in memory for a call; all others wait in the store.',
    labels: [],
  },
  deliveries: {
    name: 'carillon_deliveries',
    type: 'gauge',
    help: 'Deliveries that now are in a state.',
    labels: ['state'],
  },
  attempts: {
    name: 'carillon_attempts_total',
    type: 'counter',
    help: 'Calls to a provider, by channel and verdict.',
    labels: ['channel', 'verdict'],
  },
  accountCalls: {
    name: 'carillon_account_calls_total',
    type: 'counter',
    help: 'Calls to a provider, by account, notification (`workspace/notification`) and verdict.',
    labels: ['account', 'notification', 'verdict'],
  },
  attemptSeconds: {
    name: 'carillon_attempt_seconds',
    type: 'histogram',
    help: 'Time a call to a provider took, by channel.',
    labels: ['channel'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  templateMissingVariables: {
    name: 'carillon_template_missing_variables_total',
    type: 'counter',
    help: 'Variables that a template named and the data did not have.',
    labels: [],
  },
  wrongLocality: {
    name: 'carillon_wrong_locality_total',
    type: 'counter',
    help: "Messages whose recipient has a time zone or locale that does not exist, so that the workspace's counted, by variable.",
    labels: ['variable'],
  },
  replayRuns: {
    name: 'carillon_replay_runs_total',
    type: 'counter',
    help: 'Comparisons and verifications over past events that ended while this process worked on them, by result: done, failed or cancelled.',
    labels: ['result'],
  },
  replayRecords: {
    name: 'carillon_replay_records_total',
    type: 'counter',
    help: 'Records that comparisons and verifications over past events read.',
    labels: [],
  },
  replayChildEnds: {
    name: 'carillon_replay_child_ends_total',
    type: 'counter',
    help: 'Child processes of comparisons and verifications that ended without a result and were not stopped.',
    labels: [],
  },
  queueBytes: {
    name: 'carillon_queue_bytes',
    type: 'gauge',
    help: 'Bytes held in queues in memory, which share one bound.',
    labels: [],
  },
  configNumber: {
    name: 'carillon_config_number',
    type: 'gauge',
    help: 'Number of the newest configuration that this process has read.',
    labels: [],
  },
  configAgeSeconds: {
    name: 'carillon_config_age_seconds',
    type: 'gauge',
    help: 'Time since this process last read the configuration to its end.',
    labels: [],
  },
  spanExports: {
    name: 'carillon_span_exports_total',
    type: 'counter',
    help: 'Batches of spans sent to the collector: ok or failed. A failed batch is lost.',
    labels: ['result'],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricDefinition = {
  readonly name: `carillon_${string}`;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in seconds; histograms only. */ readonly buckets?: readonly number[];
};
export type MetricKey = keyof typeof METRICS;

/** Value of a label beyond the bound: it takes up what no longer gets a series of its own. */
export const OTHER = 'other';
/** Distinct values that a label may take in one process. */
export const LABEL_VALUES = 200;
/** Labels with another bound: partitions are counted by the operator, and a gauge that mixes them would be wrong. */
export const LABEL_VALUES_OF: Readonly<Record<string, number>> = { partition: 2000 };
