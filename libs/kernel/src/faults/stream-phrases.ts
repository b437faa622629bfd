import type { FaultPhrases } from './fault-text.ts';

type Code =
  | 'fixed_at_creation'
  | 'from_and_setting'
  | 'integration_without_changes'
  | 'integration_without_topics'
  | 'tables_and_topics'
  | 'debezium_and_tables'
  | 'debezium_without_key'
  | 'without_unused'
  | 'breaks_stream'
  | 'column_unknown'
  | 'column_needed';

/** Sentences about event streams and what they read. */
export const STREAM_PHRASES: FaultPhrases<Code> = {
  fixed_at_creation: ({ what, of, was }) => ({
    message: `the ${what} of ${of === '' ? 'an event stream' : of} cannot change after its creation`,
    expected: was,
    fix: 'restore the previous value, or create another stream',
    formMessage:
      what === 'origin'
        ? 'where the events of a stream come from is fixed when the stream is made'
        : `the ${['time', 'integration', 'format'].includes(what) ? what : 'key'} of an event stream is fixed when the stream is made`,
    formFix: 'Enter it as it was, or make another stream.',
  }),
  from_and_setting: ({ setting }, { label }) => ({
    message: `a stream that reads an integration has no ${setting}: nobody sends events to it`,
    expected: `from or ${setting}`,
    fix: setting === 'key' ? 'remove it: each table or topic names the path of its key' : 'remove it',
    formMessage: `${label}: nobody sends events to a stream that reads an integration`,
    formFix: 'Remove it.',
  }),
  integration_without_changes: ({ integration }, { quote }) => ({
    message: `${quote(integration)} has no tables`,
    expected: 'an integration of kind postgres',
    fix: 'name a database, or write topics in place of tables',
    formFix: 'Choose a database.',
  }),
  integration_without_topics: ({ integration }, { quote }) => ({
    message: `${quote(integration)} has no topics`,
    expected: 'an integration of kind kafka',
    fix: 'name a Kafka cluster, or write tables in place of topics',
    formFix: 'Choose a Kafka cluster.',
  }),
  tables_and_topics: () => ({
    message: 'the event stream reads tables and topics',
    expected: 'tables or topics',
    fix: 'remove one of the two; make another stream for it',
    formFix: 'Remove the tables or the topics; make another event stream for them.',
  }),
  debezium_and_tables: () => ({
    message: 'format: debezium does not apply, because Carillon reads the tables itself',
    expected: 'tables, or format: debezium with topics',
    fix: 'remove format',
    formFix: 'Remove the format.',
  }),
  debezium_without_key: () => ({
    message: 'an event stream to which changes are sent needs the path of their key',
    expected: 'key: event.id',
    fix: 'add key: event.id',
    formFix: 'Enter the key.',
  }),
  without_unused: () => ({
    message: 'events of a topic reach the log as they are, so no column can be left out',
    expected: 'without beside tables, or with format: debezium',
    fix: 'remove without, or write format: debezium if Debezium writes the topics',
    formFix: 'Remove the columns, or choose the format Debezium.',
  }),
  breaks_stream: ({ stream, reads }, { quote }) => ({
    message: `the event stream ${quote(stream)} reads this integration, which has no ${reads} then`,
    expected: `an integration with ${reads}`,
    fix: `leave the kind as it was, or change the stream ${stream} in the same folder`,
    formFix: 'Change the event stream as well.',
  }),
  column_unknown: ({ column, known }, { quote }) => ({
    message: `the column ${quote(column)} is in no table or topic of this event stream`,
    expected: known,
    fix: 'add its table or topic, or remove the column',
    formFix: 'Choose its table or topic, or remove the column.',
  }),
  column_needed: ({ column, by }, { quote }) => ({
    message: `the column ${quote(column)} is the ${by === 'time' ? 'time' : 'key'} of its rows`,
    expected: 'columns that neither key nor time reads',
    fix: 'remove it from without',
    formFix: 'Keep the column.',
  }),
};
