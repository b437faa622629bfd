import { useQuery } from '@tanstack/react-query';
import { DRAFTS, readDraft, type Bodies } from '../../api/draft-calls.ts';
import { draftsQuery } from '../drafts/queries.ts';
import { streamsQuery } from './queries.ts';

type From = NonNullable<Bodies['streams']['from']>;
type StreamBody = Partial<Bodies['streams']>;

export type Origin = {
  /** The tables or topics that the stream reads. Undefined if senders post to it. */
  readonly from: From | undefined;
  /** Its events are changes of rows. */
  readonly hasChanges: boolean;
  /** Debezium may send rows that were there already. */
  readonly hasSnapshots: boolean;
  /** The stream as its draft says, else as it is published. Undefined: it is not loaded. */
  readonly body: StreamBody | undefined;
};

/** Returns where the events of a stream come from. Undefined: it is not loaded. */
export function originOf(body: StreamBody | undefined): Origin {
  const hasSnapshots = body?.format === 'debezium';
  return { from: body?.from, hasChanges: hasSnapshots || body?.from?.tables !== undefined, hasSnapshots, body };
}

/** The same of a stream by its name, as its draft says, else as it is published. */
export function useOrigin(workspace: string, stream: string | undefined): Origin {
  const streams = useQuery({ ...streamsQuery(workspace), enabled: stream !== undefined });
  const drafts = useQuery({ ...draftsQuery(workspace), enabled: stream !== undefined });
  const name = stream ?? '';
  const facts = drafts.data?.items.find((draft) => draft.kind === 'stream' && draft.name === name);
  const draft = useQuery({
    queryKey: [DRAFTS, workspace, 'stream', name, facts?.revision],
    queryFn: () => readDraft({ kind: 'streams', workspace, name }),
    enabled: facts !== undefined,
    staleTime: Infinity,
  });
  const published = streams.data?.items.find((item) => item.name === name)?.body;
  return originOf((draft.data?.body as Bodies['streams'] | null | undefined) ?? published);
}
