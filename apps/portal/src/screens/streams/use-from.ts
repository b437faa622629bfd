import { useQuery } from '@tanstack/react-query';
import { DRAFTS, readDraft, type Bodies } from '../../api/draft-calls.ts';
import { draftsQuery } from '../drafts/queries.ts';
import { streamsQuery } from './queries.ts';

type From = NonNullable<Bodies['streams']['from']>;

/** Returns the tables that a stream reads, as its draft says, else as it is published. Undefined if it reads none, or is not loaded. */
export function useFrom(workspace: string, stream: string | undefined): From | undefined {
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
  const body = (draft.data?.body as Bodies['streams'] | null | undefined) ?? published;
  return body?.from;
}
