import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ComponentType, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { streamsQuery } from '../streams/queries.ts';
import { MadeStreams, MakeStreams } from './make-streams.tsx';
import { ProblemFix } from './problem-fix.tsx';
import type { Listing } from './queries.ts';
import { streamsReading, type Layout, type NewStream, type Reads } from './stream-drafts.ts';
import { useStreamDrafts } from './use-stream-drafts.ts';
import styles from './sources.module.css';

/** A longer list has a field to find an item. */
const FEW_ITEMS = 12;
/** Items drawn at once. */
const MAX_SHOWN = 100;

const WORDS = {
  tables: {
    title: 'Tables',
    list: 'List the tables',
    listing: 'Listing tables',
    of: 'the database',
    none: 'The database has no table that its role may see.',
    find: 'Find a table',
    unmatched: 'No table has this in its name.',
  },
  topics: {
    title: 'Topics',
    list: 'List the topics',
    listing: 'Listing topics',
    of: 'the Kafka cluster',
    none: 'The Kafka cluster has no topic that its user may see.',
    find: 'Find a topic',
    unmatched: 'No topic has this in its name.',
  },
} as const;

type Chosen = { readonly name: string };
type Listed = { readonly problem: object | null };
/** A row of the list. */
export type ChoiceRowProps<Item, Choice> = {
  readonly item: Item;
  /** Streams that read it already, or will once their drafts are published. */
  readonly streams: readonly string[];
  /** Null if it is not chosen. */
  readonly chosen: Choice | null;
  readonly onChange: (next: Choice | null) => void;
};
/** The integration whose tables or topics are listed. */
export type ListedDraft = Pick<EditedDraft<'integrations'>, 'workspace' | 'name' | 'hasDraft' | 'saveNow'>;
type Props<Item, Choice> = {
  readonly draft: ListedDraft;
  readonly reads: Reads;
  /** What Carillon reads of them, in a sentence or two. */
  readonly note: string;
  readonly readList: (workspace: string, name: string, hasDraft: boolean) => Promise<Listing<Item>>;
  readonly nameOf: (item: Item) => string;
  readonly row: ComponentType<ChoiceRowProps<Item, Choice>>;
  readonly streamsOf: (chosen: readonly Choice[], layout: Layout) => readonly NewStream[];
  /** Choices about all streams, above their names. */
  readonly children?: ReactNode;
};

/** Lists tables of a database or topics of a Kafka cluster, to choose those that become events, and drafts their streams. */
export function ChoiceCard<Item extends Listed, Choice extends Chosen>(props: Props<Item, Choice>): ReactNode {
  const { draft, reads, note, readList } = props;
  const { workspace, name, hasDraft } = draft;
  const words = WORDS[reads];
  const off = useMay('configure', workspace);
  // The newest list stays while the next one is read, so that nothing chosen is lost.
  const [items, setItems] = useState<readonly Item[]>([]);
  const list = useMutation({
    onSuccess: (read) => setItems(read.items),
    mutationFn: async () => {
      await draft.saveNow();
      return readList(workspace, name, hasDraft);
    },
  });
  const path = `/v1/workspaces/${workspace}/integrations/${name}/${reads}${hasDraft ? '?drafts=true' : ''}`;
  return (
    <Card title={words.title}>
      <p>{note}</p>
      <Actions>
        <Button off={off} isDisabled={list.isPending} onPress={() => list.mutate()}>
          {list.isPending ? words.listing : words.list}
        </Button>
      </Actions>
      <Curl call={{ method: 'GET', path }} />
      {list.error && <Problem error={list.error} onRetry={() => list.mutate()} />}
      {list.isPending && items.length === 0 && <Loading what={reads} />}
      {list.data?.problem && <ProblemFix {...list.data.problem} of={words.of} />}
      {list.data && list.data.problem === null && list.data.items.length === 0 && <p role="status">{words.none}</p>}
      {items.length > 0 && <Choices {...props} items={items} />}
    </Card>
  );
}

function Choices<Item extends Listed, Choice extends Chosen>({
  draft: { workspace, name: integration },
  reads,
  items,
  nameOf,
  row: Row,
  streamsOf,
  children,
}: Props<Item, Choice> & { readonly items: readonly Item[] }): ReactNode {
  const words = WORDS[reads];
  const [all, setChosen] = useState<readonly Choice[]>([]);
  // A table or topic may be gone or unreadable since it was chosen.
  const chosen = all.filter(({ name }) => items.some((item) => nameOf(item) === name && item.problem === null));
  const [made, setMade] = useState<readonly string[]>([]);
  const published = useQuery(streamsQuery(workspace)).data?.items ?? [];
  const streams = [...published, ...useStreamDrafts(workspace)];
  const [sought, setSought] = useState('');
  const isChosen = (item: Item): boolean => chosen.some(({ name }) => name === nameOf(item));
  const found = items.filter(
    (item) => isChosen(item) || nameOf(item).toLowerCase().includes(sought.trim().toLowerCase()),
  );
  const shown = [...found.filter(isChosen), ...found.filter((item) => !isChosen(item))].slice(0, MAX_SHOWN);
  const put = (name: string, next: Choice | null): void =>
    setChosen((before) => {
      const others = before.filter((choice) => choice.name !== name);
      return next === null ? others : [...others, next].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    });
  const finish = (drafted: readonly NewStream[]): void => {
    const names = drafted.flatMap(({ body }) => Object.keys(body.from?.[reads] ?? {}));
    setChosen((before) => before.filter(({ name }) => !names.includes(name)));
    setMade((before) => [...before, ...drafted.map(({ name }) => name)]);
  };
  return (
    <>
      {items.length > FEW_ITEMS && (
        <Field label={words.find} type="search" autoComplete="off" value={sought} onChange={setSought} />
      )}
      <ul aria-label={words.title} className={cls(styles.choices)}>
        {shown.map((item) => {
          const name = nameOf(item);
          return (
            <li key={name} className={cls(styles.choice)}>
              <Row
                item={item}
                streams={streamsReading(integration, reads, name, streams)}
                chosen={chosen.find((choice) => choice.name === name) ?? null}
                onChange={(next) => put(name, next)}
              />
            </li>
          );
        })}
      </ul>
      {found.length > shown.length && (
        <p role="status">
          These are {shown.length} of {found.length} {reads}. Find the others by name.
        </p>
      )}
      {found.length === 0 && <p role="status">{words.unmatched}</p>}
      {chosen.length > 0 && children}
      {chosen.length > 0 && (
        <MakeStreams
          workspace={workspace}
          integration={integration}
          reads={reads}
          chosen={chosen.map(({ name }) => name)}
          streamsOf={(layout) => streamsOf(chosen, layout)}
          onMade={finish}
        />
      )}
      {made.length > 0 && <MadeStreams workspace={workspace} streams={made} />}
    </>
  );
}
