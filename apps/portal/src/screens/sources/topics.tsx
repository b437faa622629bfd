import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { MadeStreams, MakeStreams } from './make-streams.tsx';
import { topicStreamsOf, type ChosenTopic, type Format, type NewStream } from './stream-drafts.ts';
import styles from './sources.module.css';

const FORMATS = [
  { id: 'json', name: 'JSON', note: 'A record is an event.' },
  { id: 'debezium', name: 'Debezium', note: 'A record is a change of a row, in JSON or Avro.' },
] as const;
const TOPIC = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/;

/** Topics of a Kafka cluster whose records become events. */
export function Topics({ workspace, name }: { readonly workspace: string; readonly name: string }): ReactNode {
  const [format, setFormat] = useState<Format>('json');
  const [chosen, setChosen] = useState<readonly ChosenTopic[]>([]);
  const [typed, setTyped] = useState('');
  const [made, setMade] = useState<readonly string[]>([]);
  const topic = typed.trim();
  const isTaken = chosen.some((item) => item.topic === topic);
  const fault = topic === '' || TOPIC.test(topic) ? null : 'A topic has letters, digits, ., - and _ only.';
  const canAdd = topic !== '' && fault === null && !isTaken;
  const add = (): void => {
    if (!canAdd) return;
    setChosen((before) => [...before, { topic, key: 'event.id' }]);
    setTyped('');
  };
  const finish = (streams: readonly NewStream[]): void => {
    const drafted = streams.flatMap(({ body }) => Object.keys(body.from?.topics ?? {}));
    setChosen((before) => before.filter((item) => !drafted.includes(item.topic)));
    setMade((before) => [...before, ...streams.map((stream) => stream.name)]);
  };
  return (
    <Card title="Topics">
      <p>
        Carillon reads records of the topics that you name. It begins at the end of each topic, so records that are
        there already fire no rule.
      </p>
      <div className={cls(styles.make)}>
        <RadioGroup label="Format" options={FORMATS} chosen={format} onChoose={setFormat} />
        <Field
          label="Topic"
          isMono
          autoComplete="off"
          placeholder="app.public.orders"
          value={typed}
          fault={fault}
          onChange={setTyped}
          onKeyDown={(event) => {
            if (event.key === 'Enter') add();
          }}
        />
        <Actions>
          <Button isDisabled={!canAdd} onPress={add}>
            Add the topic
          </Button>
        </Actions>
        {chosen.length > 0 && (
          <ul aria-label="Topics" className={cls(styles.topics)}>
            {chosen.map((item) => (
              <li key={item.topic}>
                <Field
                  label={`Key of ${item.topic}`}
                  isMono
                  note="Path of the key. Events with one key are evaluated in order. It cannot be changed later."
                  value={item.key}
                  onChange={(key) =>
                    setChosen((before) =>
                      before.map((other) => (other.topic === item.topic ? { ...other, key } : other)),
                    )
                  }
                />
                <Button
                  kind="quiet"
                  isIcon
                  aria-label={`Remove ${item.topic}`}
                  onPress={() => setChosen((before) => before.filter((other) => other.topic !== item.topic))}
                >
                  <X size={16} aria-hidden />
                </Button>
              </li>
            ))}
          </ul>
        )}
      </div>
      {chosen.length > 0 && (
        <MakeStreams
          workspace={workspace}
          integration={name}
          what="topic"
          chosen={chosen.map((item) => item.topic)}
          streamsOf={(layout) => topicStreamsOf(name, format, chosen, layout)}
          onMade={finish}
        />
      )}
      {made.length > 0 && <MadeStreams workspace={workspace} streams={made} />}
    </Card>
  );
}
