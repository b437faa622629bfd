// Written by `node schemas/generate.ts` from schemas/; do not edit.
export const RECORD_SCHEMAS = {
  cohort: {
    subject: 'carillon.cohorts-value',
    current: '{"type":"record","name":"CohortMessage","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"workspace","type":"string"},{"name":"integration","type":"string"},{"name":"cohort","type":"string"},{"name":"name","type":["null","string"],"default":null},{"name":"action","type":"string"},{"name":"session","type":["null","string"],"default":null},{"name":"page","type":["null","long"],"default":null},{"name":"pages","type":["null","long"],"default":null},{"name":"skipped","type":"long"},{"name":"first_sync","type":"long"},{"name":"personal","type":"bytes"}]}',
    released: [
    ],
  },
  trigger: {
    subject: 'carillon.triggers-value',
    current: '{"type":"record","name":"Trigger","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"workspace","type":"string"},{"name":"notification","type":"string"},{"name":"rule","type":"string"},{"name":"rule_id","type":"string"},{"name":"rule_version","type":"long"},{"name":"config_number","type":"long"},{"name":"integration","type":"string"},{"name":"event_id","type":"string"},{"name":"event_position","type":"string"},{"name":"part","type":"int"},{"name":"parts","type":"int"},{"name":"time","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"caused_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"not_after","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"traceparent","type":["null","string"],"default":null},{"name":"personal","type":"bytes"}]}',
    released: [
    ],
  },
  lookup: {
    subject: 'carillon.lookups-value',
    current: '{"type":"record","name":"Lookup","namespace":"carillon","fields":[{"name":"trigger","type":{"type":"record","name":"LookupTrigger","fields":[{"name":"id","type":"string"},{"name":"workspace","type":"string"},{"name":"notification","type":"string"},{"name":"rule","type":"string"},{"name":"rule_id","type":"string"},{"name":"rule_version","type":"long"},{"name":"config_number","type":"long"},{"name":"integration","type":"string"},{"name":"event_id","type":"string"},{"name":"event_position","type":"string"},{"name":"part","type":"int"},{"name":"parts","type":"int"},{"name":"time","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"caused_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"not_after","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"traceparent","type":["null","string"],"default":null}]}},{"name":"call_id","type":"string"},{"name":"asked_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"answered_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"status","type":"int"},{"name":"calls","type":"int"},{"name":"shared_by","type":"int"},{"name":"personal","type":"bytes"}]}',
    released: [
    ],
  },
  intent: {
    subject: 'carillon.intents-value',
    current: '{"type":"record","name":"Intent","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"workspace","type":"string"},{"name":"notification_id","type":"string"},{"name":"channel","type":"string"},{"name":"notification","type":"string"},{"name":"rule","type":"string"},{"name":"rule_id","type":"string"},{"name":"rule_version","type":"long"},{"name":"config_number","type":"long"},{"name":"event_id","type":"string"},{"name":"event_position","type":"string"},{"name":"trigger_id","type":"string"},{"name":"template","type":"string"},{"name":"template_version","type":"long"},{"name":"caused_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"send_at","type":{"type":"long","logicalType":"timestamp-millis"},"default":0},{"name":"not_after","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"traceparent","type":["null","string"],"default":null},{"name":"test_by","type":["null","string"],"default":null},{"name":"personal","type":"bytes"}]}',
    released: [
      { version: '0.1', schema: '{"type":"record","name":"Intent","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"workspace","type":"string"},{"name":"notification_id","type":"string"},{"name":"channel","type":"string"},{"name":"notification","type":"string"},{"name":"rule","type":"string"},{"name":"rule_id","type":"string"},{"name":"rule_version","type":"long"},{"name":"config_number","type":"long"},{"name":"event_id","type":"string"},{"name":"event_position","type":"string"},{"name":"trigger_id","type":"string"},{"name":"template","type":"string"},{"name":"template_version","type":"long"},{"name":"caused_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"not_after","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"traceparent","type":["null","string"],"default":null},{"name":"personal","type":"bytes"}]}' },
    ],
  },
  outcome: {
    subject: 'carillon.outcomes-value',
    current: '{"type":"record","name":"Outcome","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"delivery_id","type":"string"},{"name":"intent_id","type":"string"},{"name":"event_id","type":"string"},{"name":"workspace","type":"string"},{"name":"notification","type":"string"},{"name":"state","type":"string"},{"name":"reason","type":"string"},{"name":"attempt","type":"long"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"traceparent","type":["null","string"],"default":null},{"name":"personal","type":"bytes"}]}',
    released: [
      { version: '0.1', schema: '{"type":"record","name":"Outcome","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"delivery_id","type":"string"},{"name":"intent_id","type":"string"},{"name":"event_id","type":"string"},{"name":"workspace","type":"string"},{"name":"notification","type":"string"},{"name":"state","type":"string"},{"name":"reason","type":"string"},{"name":"attempt","type":"long"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"traceparent","type":["null","string"],"default":null},{"name":"personal","type":"bytes"}]}' },
    ],
  },
  receipt: {
    subject: 'carillon.receipts-value',
    current: '{"type":"record","name":"Receipt","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"source","type":"string"},{"name":"account","type":["null","string"],"default":null},{"name":"delivery_id","type":["null","string"],"default":null},{"name":"attempt","type":"int","default":0},{"name":"attempt_tag","type":["null","string"],"default":null},{"name":"verdict","type":"string"},{"name":"suppress","type":["null","string"],"default":null},{"name":"alert","type":"boolean","default":false},{"name":"code","type":"string"},{"name":"at","type":["null",{"type":"long","logicalType":"timestamp-millis"}],"default":null},{"name":"received_at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"wish","type":["null","string"],"default":null},{"name":"personal","type":"bytes"}]}',
    released: [
    ],
  },
  consent: {
    subject: 'carillon.consents-value',
    current: '{"type":"record","name":"Consent","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"workspace","type":"string"},{"name":"target","type":"string"},{"name":"name","type":"string","default":""},{"name":"channel","type":["null","string"],"default":null},{"name":"opted_out","type":"boolean"},{"name":"way","type":"string"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"personal","type":"bytes"}]}',
    released: [
    ],
  },
  evaluation: {
    subject: 'carillon.evaluations-value',
    current: '{"type":"record","name":"Evaluation","namespace":"carillon","fields":[{"name":"partition","type":"int"},{"name":"from","type":"long"},{"name":"to","type":"long"},{"name":"config_number","type":"long"},{"name":"events","type":"long"},{"name":"intents","type":"long"},{"name":"triggers","type":"long"},{"name":"late","type":"long"},{"name":"duplicates","type":"long"},{"name":"dead_letters","type":"long"},{"name":"rules","type":{"type":"array","items":{"type":"record","name":"RuleTally","fields":[{"name":"workspace","type":"string"},{"name":"rule","type":"string"},{"name":"rule_version","type":"long"},{"name":"fired","type":"long"},{"name":"failed","type":"long"},{"name":"dropped","type":"long"},{"name":"sample_event_id","type":["null","string"],"default":null}]}}},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"personal","type":"bytes"}]}',
    released: [
      { version: '0.1', schema: '{"type":"record","name":"Evaluation","namespace":"carillon","fields":[{"name":"partition","type":"int"},{"name":"from","type":"long"},{"name":"to","type":"long"},{"name":"config_number","type":"long"},{"name":"events","type":"long"},{"name":"intents","type":"long"},{"name":"triggers","type":"long"},{"name":"late","type":"long"},{"name":"duplicates","type":"long"},{"name":"dead_letters","type":"long"},{"name":"rules","type":{"type":"array","items":{"type":"record","name":"RuleTally","fields":[{"name":"workspace","type":"string"},{"name":"rule","type":"string"},{"name":"rule_version","type":"long"},{"name":"fired","type":"long"},{"name":"failed","type":"long"},{"name":"dropped","type":"long"},{"name":"sample_event_id","type":["null","string"],"default":null}]}}},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"personal","type":"bytes"}]}' },
    ],
  },
  deadLetter: {
    subject: 'carillon.dead-letters-value',
    current: '{"type":"record","name":"DeadLetter","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"stage","type":"string"},{"name":"workspace","type":["null","string"],"default":null},{"name":"topic","type":"string"},{"name":"partition","type":"int"},{"name":"offset","type":"long"},{"name":"key","type":"string"},{"name":"reason","type":"string"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"personal","type":"bytes"}]}',
    released: [
      { version: '0.1', schema: '{"type":"record","name":"DeadLetter","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"stage","type":"string"},{"name":"workspace","type":["null","string"],"default":null},{"name":"topic","type":"string"},{"name":"partition","type":"int"},{"name":"offset","type":"long"},{"name":"key","type":"string"},{"name":"reason","type":"string"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"personal","type":"bytes"}]}' },
    ],
  },
  audit: {
    subject: 'carillon.audit-value',
    current: '{"type":"record","name":"AuditRecord","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"actor_kind","type":"string"},{"name":"actor_id","type":"string"},{"name":"what","type":"string"},{"name":"target","type":["null","string"],"default":null},{"name":"workspace","type":["null","string"],"default":null},{"name":"request_id","type":["null","string"],"default":null},{"name":"number","type":["null","long"],"default":null},{"name":"before","type":["null","string"],"default":null},{"name":"after","type":["null","string"],"default":null},{"name":"outcome","type":"string"},{"name":"code","type":["null","string"],"default":null},{"name":"personal","type":"bytes"},{"name":"seal","type":["null",{"type":"record","name":"AuditSeal","fields":[{"name":"since","type":"long"},{"name":"through","type":"long"},{"name":"hash","type":"string"},{"name":"mac","type":"string"},{"name":"configuration","type":"long"},{"name":"leaves","type":"bytes"}]}],"default":null}]}',
    released: [
    ],
  },
  configuration: {
    subject: 'carillon.config-value',
    current: '{"type":"record","name":"ConfigurationRecord","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"at","type":"string"},{"name":"changes","type":{"type":"array","items":{"type":"record","name":"ResourceChange","fields":[{"name":"kind","type":"string"},{"name":"workspace","type":"string"},{"name":"name","type":"string"},{"name":"based_on","type":["null","long"],"default":null},{"name":"body","type":["null","string"],"default":null}]}}},{"name":"actor_kind","type":["null","string"],"default":null},{"name":"actor_id","type":["null","string"],"default":null},{"name":"origin","type":["null","string"],"default":null},{"name":"request_id","type":["null","string"],"default":null},{"name":"personal","type":"bytes"}]}',
    released: [
      { version: '0.1', schema: '{"type":"record","name":"ConfigurationRecord","namespace":"carillon","fields":[{"name":"id","type":"string"},{"name":"at","type":"string"},{"name":"changes","type":{"type":"array","items":{"type":"record","name":"ResourceChange","fields":[{"name":"kind","type":"string"},{"name":"workspace","type":"string"},{"name":"name","type":"string"},{"name":"based_on","type":["null","long"],"default":null},{"name":"body","type":["null","string"],"default":null}]}}},{"name":"personal","type":"bytes"}]}' },
    ],
  },
} as const;
