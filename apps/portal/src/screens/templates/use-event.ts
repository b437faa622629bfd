import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { eventName } from '../../ui/event-name.ts';
import { useZone } from '../../ui/zone.ts';
import { draftsQuery } from '../drafts/queries.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import type { SeenField } from '../rule/completion.ts';
import { sampleQuery, type Sample } from '../rule/queries.ts';
import { eventText, fieldsQuery, newestEventsQuery, realEventQuery } from './queries.ts';
import { usersOf, type TemplateUser } from './users.ts';
import { useWithDrafts } from './with-drafts.ts';

export type ChosenEvent = {
  /** The event as JSON text. */
  readonly text: string;
  /** Whether it is known with what event the template is tried first. */
  readonly isKnown: boolean;
  readonly setText: (text: string) => void;
  readonly options: readonly { readonly id: string; readonly name: string }[];
  readonly chosen: string;
  readonly choose: (id: string) => Promise<void>;
  readonly error: Error | null;
  /** Published notifications that send the template. */
  readonly users: readonly TemplateUser[];
  /** Fields that a template can name: those of the stream's events, before the first event those of the rule's sample. */
  readonly fields: readonly SeenField[];
};

const SAMPLE = 'sample';
const OWN = 'own';

/** Fields of a rule's sample, as if events had had them. */
export const fieldsOfSample = ({ fields }: Pick<Sample, 'fields'>): readonly SeenField[] =>
  fields.map(({ path, type, value, origin }) => ({
    path,
    types: type === null ? [] : [type],
    sample: origin === 'absent' ? null : value,
    count: 0,
  }));

/**
 * The event that a template is tried with, until another one is chosen or written: the newest real event that made its notification send,
 * else the newest event of the rule's stream, else the sample of the rule. Who may not read events gets the sample.
 */
export function useEvent(workspace: string, template: string): ChosenEvent {
  const zone = useZone();
  const { data: notifications, isPending: isLoading } = useQuery(notificationsQuery(workspace));
  const published = notifications?.items ?? [];
  const all = useWithDrafts(workspace, 'notification', published);
  const [user] = usersOf(all, template);
  const { data: drafts } = useQuery(draftsQuery(workspace));
  const draft = drafts?.items.find(({ kind, name }) => kind === 'notification' && name === user?.notification);
  const isFaulty = all.find(({ name }) => name === user?.notification)?.hasFaults ?? false;
  const samples = useQuery({
    ...sampleQuery(workspace, user?.rule ?? '', draft?.revision ?? null),
    enabled: typeof user?.rule === 'string' && !user.isOfCohort && !isFaulty,
  });
  const sample = samples.data;
  const stream = sample?.stream ?? user?.stream ?? null;
  const isPublished = published.some(({ name }) => name === user?.notification);
  const seen = useQuery(fieldsQuery(workspace, isPublished ? stream : null)).data?.items ?? [];
  const { data: newest } = useQuery(newestEventsQuery(workspace));
  const mayRead = useMay('bodies', workspace) === null;
  const isAsked = useIsMeKnown() && mayRead && user !== undefined && isPublished;
  const real = useQuery({
    ...realEventQuery(workspace, user?.notification ?? '', stream),
    enabled: isAsked && !samples.isLoading,
  });
  const [own, setOwn] = useState<{ readonly id: string; readonly text: string } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const shown = own ?? real.data ?? { id: SAMPLE, text: sample?.event ?? '{}' };
  const listed = (newest?.items ?? []).map((event) => ({
    id: event.id,
    name: `${event.stream} · ${eventName(event, new Date(), zone)}`,
  }));
  const isListed = listed.some(({ id }) => id === shown.id) || shown.id === SAMPLE || shown.id === OWN;
  return {
    text: shown.text,
    isKnown: !isLoading && !samples.isLoading && !real.isLoading,
    setText: (text) => setOwn({ id: OWN, text }),
    options: [
      ...(isListed ? [] : [{ id: shown.id, name: shown.id }]),
      ...listed,
      { id: SAMPLE, name: sample ? 'Example made from the rule' : 'Empty event' },
      ...(own?.id === OWN ? [{ id: OWN, name: 'The event that you wrote below' }] : []),
    ],
    chosen: shown.id,
    async choose(id) {
      setError(null);
      if (id === OWN) return;
      if (id === SAMPLE) return setOwn({ id, text: sample?.event ?? '{}' });
      try {
        setOwn({ id, text: await eventText(workspace, id) });
      } catch (failure) {
        setError(failure as Error);
      }
    },
    error,
    users: usersOf(published, template),
    fields: seen.length > 0 || !sample ? seen : fieldsOfSample(sample),
  };
}
