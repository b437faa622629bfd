import { useState, type ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { counted } from '../drafts/change-words.ts';
import { ChoiceCard, type ChoiceRowProps, type ListedDraft } from './choice-card.tsx';
import { ChoiceRow } from './choice-row.tsx';
import { readTopics, type KafkaTopic } from './queries.ts';
import { TOPIC_KEY, topicStreamsOf, type ChosenTopic, type Format } from './stream-drafts.ts';

const FORMATS = [
  { id: 'json', name: 'JSON', note: 'A record is an event.' },
  { id: 'debezium', name: 'Debezium', note: 'A record is a change of a row, in JSON or Avro.' },
] as const;

/** Topics of the Kafka cluster, to choose those whose records become events. */
export function Topics({ draft }: { readonly draft: ListedDraft }): ReactNode {
  const [format, setFormat] = useState<Format>('json');
  return (
    <ChoiceCard<KafkaTopic, ChosenTopic>
      draft={draft}
      reads="topics"
      note="Carillon reads records of the topics that you choose. It begins at the end of each topic, so records that are there already fire no rule."
      readList={readTopics}
      nameOf={({ topic }) => topic}
      row={TopicRow}
      streamsOf={(chosen, layout) => topicStreamsOf(draft.name, format, chosen, layout)}
    >
      <RadioGroup label="Format" options={FORMATS} chosen={format} onChoose={setFormat} />
    </ChoiceCard>
  );
}

function TopicRow({
  item: { topic, partitions, problem },
  streams,
  chosen,
  onChange,
}: ChoiceRowProps<KafkaTopic, ChosenTopic>): ReactNode {
  return (
    <ChoiceRow
      name={topic}
      size={counted(partitions, 'partition')}
      streams={streams}
      problem={problem}
      isChosen={chosen !== null}
      onChoose={(isOn) => onChange(isOn ? { name: topic, key: TOPIC_KEY } : null)}
    >
      {chosen !== null && (
        <Field
          label={`Key of ${topic}`}
          isMono
          note="Path of the key. Events with one key are evaluated in order. It cannot be changed later."
          value={chosen.key}
          onChange={(key) => onChange({ ...chosen, key })}
        />
      )}
    </ChoiceRow>
  );
}
