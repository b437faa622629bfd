import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { usersOf, type TemplateUser } from './users.ts';
import { eventText, newestEventsQuery, sampleQuery } from './queries.ts';
import { notificationsQuery } from '../notifications/queries.ts';

export type ChosenEvent = {
  /** The event as JSON text. */
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly options: readonly { readonly id: string; readonly name: string }[];
  readonly chosen: string;
  readonly choose: (id: string) => Promise<void>;
  readonly error: Error | null;
  /** Notifications that send the template. */
  readonly users: readonly TemplateUser[];
  /** Whose fields are offered; null: nothing sends the template. */
  readonly stream: string | null;
};

export const SMALLEST = 'smallest';
const OWN = 'own';

/** The event that a template is tried with: the smallest for which its rule fires, until another one is chosen or pasted. */
export function useEvent(workspace: string, template: string): ChosenEvent {
  const { data: notifications } = useQuery(notificationsQuery(workspace));
  const users = usersOf(notifications?.items ?? [], template);
  const [user] = users;
  const { data: sample } = useQuery(sampleQuery(workspace, user?.rule ?? null));
  const { data: newest } = useQuery(newestEventsQuery(workspace));
  const [own, setOwn] = useState<{ readonly id: string; readonly text: string } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  return {
    text: own?.text ?? sample?.event ?? '{}',
    setText: (text) => setOwn({ id: OWN, text }),
    options: [
      { id: SMALLEST, name: sample ? 'The smallest for which the rule fires' : 'Without any field' },
      ...(newest?.items ?? []).map(({ id, stream, at }) => ({ id, name: `${at.slice(11, 16)} · ${stream} · ${id}` })),
      ...(own?.id === OWN ? [{ id: OWN, name: 'As written below' }] : []),
    ],
    chosen: own?.id ?? SMALLEST,
    async choose(id) {
      setError(null);
      if (id === OWN) return;
      if (id === SMALLEST) return setOwn(null);
      try {
        setOwn({ id, text: await eventText(workspace, id) });
      } catch (failure) {
        setError(failure as Error);
      }
    },
    error,
    users,
    stream: user?.stream ?? null,
  };
}
