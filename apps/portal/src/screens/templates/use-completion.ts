import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CodeVariable, Complete } from '../../ui/code-words.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import type { SeenField } from '../rule/completion.ts';
import { answerFieldsQuery, partialsQuery } from './queries.ts';
import { completeTemplate, variablesOf, type Nameable } from './template-completion.ts';
import { givenTo } from './users.ts';
import { useWithDrafts, type Resourceful } from './with-drafts.ts';

const NONE: readonly Resourceful[] = [];

export type Offered = {
  /** What could stand at the caret of any part of a template. */
  readonly complete: Complete;
  /** What the button of each part inserts. */
  readonly variables: readonly CodeVariable[];
};

/** The names that a template can use: fields of its events, what its rules and their partners give, helpers and partials. */
export function useCompletion(workspace: string, template: string, fields: readonly SeenField[]): Offered {
  const { data: notifications } = useQuery(notificationsQuery(workspace));
  const all = useWithDrafts(workspace, 'notification', notifications?.items ?? NONE);
  const { data: shelf } = useQuery(partialsQuery(workspace));
  const { variables: given, partners } = useMemo(() => givenTo(all, template), [all, template]);
  const answers = useQueries({
    queries: partners.map((partner) => answerFieldsQuery(workspace, partner)),
    combine: allAnswers,
  });
  return useMemo(() => {
    const nameable = { fields, given, answers, partials: (shelf?.items ?? []).map(({ name }) => name) };
    return { complete: completeTemplate(nameable), variables: variablesOf(nameable) };
  }, [fields, given, answers, shelf]);
}

type Answered = {
  readonly integration: string;
  readonly items: readonly Omit<Nameable['answers'][number], 'by'>[];
};

const allAnswers = (results: readonly { readonly data: Answered | undefined }[]): Nameable['answers'] =>
  results.flatMap(({ data }) => (data?.items ?? []).map((one) => ({ ...one, by: data?.integration ?? '' })));
