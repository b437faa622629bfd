import { useQueries, useQuery } from '@tanstack/react-query';
import { DRAFTS, readDraft } from '../../api/draft-calls.ts';
import { draftsQuery } from '../drafts/queries.ts';
import type { NewStream } from './stream-drafts.ts';

/** Returns the streams of a workspace as their drafts say. A draft that removes its stream is left out. */
export function useStreamDrafts(workspace: string): readonly NewStream[] {
  const drafts = useQuery(draftsQuery(workspace)).data?.items.filter(({ kind }) => kind === 'stream') ?? [];
  return useQueries({
    queries: drafts.map(({ name, revision }) => ({
      queryKey: [DRAFTS, workspace, 'stream', name, revision],
      queryFn: () => readDraft({ kind: 'streams', workspace, name }),
      staleTime: Infinity,
    })),
  }).flatMap(({ data }) => (data?.body ? [{ name: data.name, body: data.body }] : []));
}
