import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import type { Bodies } from '../../api/draft-calls.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { FaultGroup } from '../../ui/held-fault.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { integrationsQuery } from '../integrations/queries.ts';
import { hasTopics, isDatabase } from '../integrations/integration-roles.ts';
import { ProblemFix } from '../sources/problem-fix.tsx';
import { tablesQuery, topicsQuery } from '../sources/queries.ts';
import { FORMATS, keyColumnOf, keyPathOf, TOPIC_KEY } from '../sources/stream-drafts.ts';
import type { StreamDraft } from './stream-draft.ts';
import { originOf } from './use-origin.ts';
import styles from './streams.module.css';

export type From = NonNullable<Bodies['streams']['from']>;
type Keys = NonNullable<From['tables']>;

/** The words for what a stream reads: tables of a database, or topics of a Kafka cluster. */
const WORDS = {
  tables: {
    integration: 'Database',
    legend: 'Tables',
    add: 'Table to add',
    verb: 'Add the table',
    example: 'public.payments',
    note: 'Path of the key in the row, such as event.id. Changes with one key are evaluated in order, across tables. The key of a published table is fixed.',
    column: 'schema.table.column, one on each line.',
    leftOut: 'public.orders.card_number',
  },
  topics: {
    integration: 'Kafka cluster',
    legend: 'Topics',
    add: 'Topic to add',
    verb: 'Add the topic',
    example: 'app.public.payments',
    note: 'Path of the key in the event, such as event.id. Events with one key are evaluated in order, across topics. The key of a published topic is fixed.',
    column: 'topic.column, one on each line.',
    leftOut: 'app.public.orders.card_number',
  },
} as const;
type Read = keyof typeof WORDS;

/** The database or Kafka cluster of a stream, the tables or topics that it reads, and the columns that it leaves out. */
export function FromSettings({
  draft,
  from,
  isOff,
}: {
  readonly draft: StreamDraft;
  readonly from: From;
  /** The user may not change it. */
  readonly isOff: boolean;
}): ReactNode {
  const read: Read = from.topics ? 'topics' : 'tables';
  const { hasChanges } = originOf(draft.body ?? undefined);
  const change = (next: Partial<From>): void =>
    draft.change((before) => ({ ...before, from: { ...(before.from ?? from), ...next } }));
  const props = { draft, from, read, isOff };
  return (
    <FaultGroup>
      <Integration {...props} onChange={(integration) => change({ integration })} />
      {read === 'topics' && <Format draft={draft} isOff={isOff} />}
      <KeyList {...props} onChange={(keys) => change({ [read]: keys })} />
      {hasChanges && <LeftOut {...props} onChange={(without) => change({ without: [...without] })} />}
      <FormFaults faults={[...draft.faultsAt('from'), ...draft.faultsAt('format')]} />
    </FaultGroup>
  );
}

type Props = { readonly draft: StreamDraft; readonly from: From; readonly read: Read; readonly isOff: boolean };

function Integration({
  draft,
  from,
  read,
  isOff,
  onChange,
}: Props & { readonly onChange: (integration: string) => void }): ReactNode {
  const { data } = useQuery(integrationsQuery(draft.workspace));
  const isFitting = read === 'tables' ? isDatabase : hasTopics;
  const sources = (data?.items ?? []).filter(({ body }) => isFitting(body)).map(({ name }) => name);
  return (
    <NativeSelect
      label={WORDS[read].integration}
      options={[...new Set([from.integration, ...sources])].map((id) => ({ id, name: id }))}
      value={from.integration}
      isDisabled={isOff || draft.resource !== null}
      onChange={onChange}
    />
  );
}

/** What a record of a topic is. It is fixed once the stream is published. */
function Format({ draft, isOff }: Pick<Props, 'draft' | 'isOff'>): ReactNode {
  return (
    <NativeSelect
      label="Format"
      options={FORMATS}
      value={draft.body?.format ?? 'json'}
      isDisabled={isOff || draft.resource !== null}
      onChange={(format) =>
        draft.change(({ format: _before, ...before }) => (format === 'json' ? before : { ...before, format }))
      }
    />
  );
}

function KeyList({
  draft,
  from,
  read,
  isOff,
  onChange,
}: Props & { readonly onChange: (keys: Keys) => void }): ReactNode {
  const words = WORDS[read];
  const keys = from[read] ?? {};
  const published = draft.resource?.body.from?.[read] ?? {};
  const rows = Object.entries(keys);
  return (
    <fieldset className={cls(styles.set)}>
      <legend>{words.legend}</legend>
      <ul aria-label={`${words.legend} of this stream`} className={cls(styles.keyed)}>
        {rows.map(([name, key]) => (
          <li key={name}>
            <Field
              label={`Key of ${name}`}
              isMono
              placeholder="event.id"
              isDisabled={isOff || Object.hasOwn(published, name)}
              value={String(key)}
              onChange={(path) => onChange({ ...keys, [name]: path })}
            />
            {!isOff && rows.length > 1 && (
              <Button
                kind="quiet"
                isIcon
                aria-label={`Remove ${name}`}
                onPress={() => onChange(Object.fromEntries(rows.filter(([other]) => other !== name)))}
              >
                <X size={16} aria-hidden />
              </Button>
            )}
          </li>
        ))}
      </ul>
      <p className={cls(styles.note)}>{words.note}</p>
      {!isOff && (
        <AddListed
          read={read}
          workspace={draft.workspace}
          integration={from.integration}
          isTaken={(name) => Object.hasOwn(keys, name)}
          onAdd={(name, key) => onChange({ ...keys, [name]: published[name] ?? key })}
        />
      )}
    </fieldset>
  );
}

/** Adds a table or topic by its name. Those of the database or cluster are offered; a table gives the path of its key. */
function AddListed({
  read,
  workspace,
  integration,
  isTaken,
  onAdd,
}: {
  readonly read: Read;
  readonly workspace: string;
  readonly integration: string;
  readonly isTaken: (name: string) => boolean;
  /** Called with the path of the key. Empty: the table is not known. */
  readonly onAdd: (name: string, key: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState('');
  // Each read connects to the database or cluster, so it waits for a person who wants to add something.
  const [isWanted, setWanted] = useState(false);
  const tables = useQuery({ ...tablesQuery(workspace, integration), enabled: isWanted && read === 'tables' });
  const topics = useQuery({ ...topicsQuery(workspace, integration), enabled: isWanted && read === 'topics' });
  const listed =
    read === 'tables'
      ? (tables.data?.items ?? []).map((table) => ({
          name: table.table,
          key: keyPathOf(keyColumnOf(table)),
          problem: table.problem,
        }))
      : (topics.data?.items ?? []).map(({ topic, problem }) => ({ name: topic, key: TOPIC_KEY, problem }));
  const find = (name: string) => listed.find((item) => item.name === name);
  const found = find(typed);
  return (
    <div className={cls(styles.keyed)}>
      <AddName
        read={read}
        options={listed.map(({ name }) => name).filter((name) => !isTaken(name))}
        isTaken={isTaken}
        onFocus={() => setWanted(true)}
        onType={setTyped}
        onAdd={(name) => onAdd(name, find(name)?.key ?? (read === 'topics' ? TOPIC_KEY : ''))}
      />
      {found?.problem && <ProblemFix {...found.problem} of={found.name} />}
    </div>
  );
}

/** A field for a name to add, and its button. */
function AddName({
  read,
  options,
  isTaken,
  onFocus,
  onType,
  onAdd,
}: {
  readonly read: Read;
  /** Names to choose from. Any other may be typed. */
  readonly options: readonly string[];
  readonly isTaken: (name: string) => boolean;
  readonly onFocus: () => void;
  readonly onType: (name: string) => void;
  readonly onAdd: (name: string) => void;
}): ReactNode {
  const words = WORDS[read];
  const listId = useId();
  const [typed, setTyped] = useState('');
  const name = typed.trim();
  const canAdd = name !== '' && !isTaken(name);
  const write = (text: string): void => {
    setTyped(text);
    onType(text.trim());
  };
  const add = (): void => {
    onAdd(name);
    write('');
  };
  return (
    <div>
      <datalist id={listId}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
      <Field
        label={words.add}
        isMono
        list={listId}
        autoComplete="off"
        placeholder={words.example}
        value={typed}
        onFocus={onFocus}
        onChange={write}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && canAdd) add();
        }}
      />
      <Button isDisabled={!canAdd} onPress={add}>
        {words.verb}
      </Button>
    </div>
  );
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Keeps an empty last line while the user types the next column. */
function LeftOut({
  from: { without = [] },
  read,
  isOff,
  onChange,
}: Omit<Props, 'draft'> & { readonly onChange: (without: readonly string[]) => void }): ReactNode {
  const saved = without.join('\n');
  const [typed, setTyped] = useState(saved);
  return (
    <Field
      label="Columns to leave out"
      note={`${WORDS[read].column} They never reach Carillon’s log.`}
      isLong
      isDisabled={isOff}
      placeholder={WORDS[read].leftOut}
      value={linesOf(typed).join('\n') === saved ? typed : saved}
      onChange={(text) => {
        setTyped(text);
        onChange(linesOf(text));
      }}
    />
  );
}
