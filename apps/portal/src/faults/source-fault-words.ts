import { quoted, type Phrase } from './phrase.ts';

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

/** The words of faults about where the events of a stream come from. */
export const SOURCE_WORDS: { readonly [Each in Code]: Phrase<Each> } = {
  fixed_at_creation: ({ what }) => [
    what === 'origin'
      ? 'Where the events of a stream come from is fixed when the stream is made'
      : `The ${['time', 'integration', 'format'].includes(what) ? what : 'key'} of an event stream is fixed when the stream is made`,
    'Enter it as it was, or make another stream.',
  ],
  from_and_setting: (_facts, { label }) => [
    `${label}: nobody sends events to a stream that reads an integration`,
    'Remove it.',
  ],
  integration_without_changes: ({ integration }) => [`${quoted(integration)} has no tables`, 'Choose a database.'],
  integration_without_topics: ({ integration }) => [`${quoted(integration)} has no topics`, 'Choose a Kafka cluster.'],
  tables_and_topics: () => [
    'The event stream reads tables and topics',
    'Remove the tables or the topics; make another event stream for them.',
  ],
  debezium_and_tables: () => [
    'Carillon reads the tables itself, so no Debezium writes their changes',
    'Remove the format.',
  ],
  debezium_without_key: () => [
    'An event stream to which changes are sent needs the path of their key',
    'Enter the key.',
  ],
  without_unused: () => [
    'Events of a topic reach the log as they are, so no column can be left out',
    'Remove the columns, or choose the format Debezium.',
  ],
  breaks_stream: ({ stream }) => [
    `The event stream ${quoted(stream)} reads this integration, which has no tables then`,
    'Change the event stream as well.',
  ],
  column_unknown: ({ column }) => [
    `The column ${quoted(column)} is in no table or topic of this event stream`,
    'Choose its table or topic, or remove the column.',
  ],
  column_needed: ({ column, by }) => [
    `The column ${quoted(column)} is the ${by === 'time' ? 'time' : 'key'} of its rows`,
    'Keep the column.',
  ],
};
