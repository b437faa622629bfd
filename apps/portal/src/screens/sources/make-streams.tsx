import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { saveDraft } from '../../api/draft-calls.ts';
import { useMay } from '../../api/me.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions } from '../../ui/page.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { savingCall } from '../drafts/draft-call.ts';
import { draftsQuery } from '../drafts/queries.ts';
import { nameFault } from '../setup/parts.ts';
import { streamsQuery } from '../streams/queries.ts';
import { streamNameOf, type Layout, type NewStream, type Reads } from './stream-drafts.ts';
import styles from './sources.module.css';

const LAYOUTS = {
  tables: [
    { id: 'each', name: 'One stream for each table', note: 'Each rule gets the changes of one table.' },
    { id: 'one', name: 'One stream for all tables', note: 'A rule gets the changes of all tables, in order by key.' },
  ],
  topics: [
    { id: 'each', name: 'One stream for each topic', note: 'Each rule gets the records of one topic.' },
    { id: 'one', name: 'One stream for all topics', note: 'A rule gets the records of all topics, in order by key.' },
  ],
} as const;

const savingOf = ({ body }: NewStream) => ({ body, revision: null, basedOn: null });

/** Names the streams of the chosen tables or topics, and begins their drafts. */
export function MakeStreams({
  workspace,
  integration,
  reads,
  chosen,
  streamsOf,
  onMade,
}: {
  readonly workspace: string;
  readonly integration: string;
  readonly reads: Reads;
  /** Names of the chosen tables or topics. */
  readonly chosen: readonly string[];
  readonly streamsOf: (layout: Layout) => readonly NewStream[];
  /** Called with the streams whose drafts were saved, also if a later one was refused. */
  readonly onMade: (streams: readonly NewStream[]) => void;
}): ReactNode {
  const off = useMay('configure', workspace);
  const published = useQuery(streamsQuery(workspace)).data?.items ?? [];
  const drafts = useQuery(draftsQuery(workspace)).data?.items ?? [];
  const [layout, setLayout] = useState<'each' | 'one'>('each');
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const taken = [
    ...published.map(({ name }) => name),
    ...drafts.filter(({ kind }) => kind === 'stream').map(({ name }) => name),
  ];
  const isOne = layout === 'one' && chosen.length > 1;
  const fields = isOne
    ? [{ id: '', label: 'Name of the stream', first: integration }]
    : chosen.map((name) => ({
        id: name,
        label: chosen.length === 1 ? 'Name of the stream' : `Name of the stream of ${name}`,
        first: name,
      }));
  const names: Record<string, string> = {};
  for (const { id, first } of fields) {
    names[id] = typed[id] ?? streamNameOf(first, [...taken, ...Object.values(names)]);
  }
  const faultOf = (id: string): string | null => {
    const others = fields.filter((field) => field.id !== id).map((field) => names[field.id] ?? '');
    return nameFault(names[id] ?? '', [...taken, ...others]);
  };
  const streams = streamsOf(isOne ? { kind: 'one', name: names[''] ?? '' } : { kind: 'each', names });
  const make = useMutation({
    async mutationFn() {
      const saved: NewStream[] = [];
      try {
        for (const stream of streams) {
          await saveDraft({ kind: 'streams', workspace, name: stream.name }, savingOf(stream));
          saved.push(stream);
        }
      } finally {
        if (saved.length > 0) onMade(saved);
      }
    },
    onSettled: () => reloadDrafts(workspace),
  });
  const isReady =
    !make.isPending && streams.every(({ name }) => name !== '') && fields.every(({ id }) => faultOf(id) === null);
  return (
    <form
      className={cls(styles.make)}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && off === null) make.mutate();
      }}
    >
      {chosen.length > 1 && (
        <RadioGroup label="Streams" options={LAYOUTS[reads]} chosen={layout} onChoose={setLayout} />
      )}
      {fields.map(({ id, label }) => (
        <Field
          key={id}
          label={label}
          isMono
          value={names[id] ?? ''}
          fault={faultOf(id)}
          onChange={(name) => setTyped((before) => ({ ...before, [id]: name }))}
        />
      ))}
      <Actions>
        <Button type="submit" kind="main" off={off} isDisabled={!isReady}>
          {streams.length === 1 ? 'Draft the stream' : `Draft ${streams.length} streams`}
        </Button>
      </Actions>
      {make.error && <Problem error={make.error} />}
      {streams[0] !== undefined && (
        <Curl call={savingCall({ kind: 'streams', workspace, name: streams[0].name }, savingOf(streams[0]))} />
      )}
    </form>
  );
}

/** Streams whose drafts were begun. */
export function MadeStreams({
  workspace,
  streams,
}: {
  readonly workspace: string;
  readonly streams: readonly string[];
}): ReactNode {
  return (
    <div role="status" className={cls(styles.made)}>
      <p>
        {streams.length === 1 ? 'The draft of this stream is' : 'The drafts of these streams are'} ready. Carillon
        starts to read after you publish {streams.length === 1 ? 'it' : 'them'}.
      </p>
      <ul aria-label="New streams">
        {streams.map((name) => (
          <li key={name}>
            <Link to="/workspaces/$w/streams/$s" params={{ w: workspace, s: name }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
      <Link to="/workspaces/$w/drafts" params={{ w: workspace }}>
        Review and publish
      </Link>
    </div>
  );
}
